/** A project's archived flags, and the way back for each. */
import { h } from 'preact';
import { tryChangeFlag } from '../changes.js';
import { path } from '../client.js';
import { deleteFlag } from '../edit/flag-edits.js';
import { useEvents } from '../feed.js';
import { ProjectCrumb } from '../parts/crumb.js';
import { Empty } from '../parts/states.js';
import { TimeAgo } from '../parts/time-ago.js';
import { hrefOf } from '../place.js';
import { useResource, whenLoaded } from '../resource.js';
import { useSession } from '../session.js';

/** @import { ArchivedFlag, Session } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function ArchiveView({ project }) {
  const session = useSession();
  const archived = useResource(() => allArchived(session, project), [session, project]);
  useEvents(session, (events) => {
    if (events.some((event) => event.project === project)) void archived.refresh();
  });
  return [
    h('div', { key: 'head', class: 'view-head' }, h(ProjectCrumb, { project }), h('h1', null, 'Archive')),
    whenLoaded(archived, (flags) =>
      flags.length === 0
        ? h(Empty, { title: 'Nothing is archived' }, 'Archived flags keep their history, and can be revived.')
        : h(
            'ul',
            { class: 'plain cards' },
            flags.map((flag) => h(ArchivedItem, { key: flag.name, project, flag })),
          ),
    ),
  ];
}

/** The archive comes in pages. @param {Session} session @param {string} project */
async function allArchived({ client }, project) {
  /** @type {ArchivedFlag[]} */
  const flags = [];
  for (let offset = 0; ; ) {
    const url = path`/archive/features/${project}?offset=${String(offset)}`;
    const { features, nextOffset } = await client.get(url);
    flags.push(...features);
    if (nextOffset === undefined) return flags;
    offset = nextOffset;
  }
}

/** @param {{ project: string, flag: ArchivedFlag }} props */
function ArchivedItem({ project, flag: { name, type, description, archivedAt } }) {
  const session = useSession();
  const may = session.may('flags', project);
  const revive = () =>
    void tryChangeFlag(session, {
      project,
      flag: name,
      change: { method: 'POST', path: path`/archive/revive/${name}` },
      undo: { method: 'DELETE', path: path`/projects/${project}/features/${name}` },
      done: `${name} is back.`,
    });
  return h(
    'li',
    { class: 'card card-row', 'data-flag': name },
    h(
      'div',
      null,
      h('a', { href: hrefOf({ view: 'flag', project, flag: name }) }, h('code', null, name)),
      description ? h('p', null, description) : null,
      h(
        'p',
        { class: 'row-meta' },
        h('span', null, type),
        h(TimeAgo, { iso: archivedAt, prefix: 'archived ' }),
      ),
    ),
    h(
      'div',
      { class: 'actions' },
      h(
        'button',
        { type: 'button', class: 'button', disabled: !may, 'aria-label': `Revive ${name}`, onClick: revive },
        'Revive',
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'button',
          disabled: !may,
          'aria-label': `Delete ${name}…`,
          onClick: () => void deleteFlag(session, name),
        },
        'Delete…',
      ),
    ),
  );
}
