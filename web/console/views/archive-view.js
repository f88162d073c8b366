/** A project's archived flags, and the way back for each. */
import { messageOf, path } from '../client.js';
import { h } from '../dom.js';
import { empty, loader } from '../loading.js';
import { notice } from '../notices.js';
import { hrefOf } from '../place.js';
import { timeAgo } from '../time-ago.js';

/** @import { ArchivedFlag, Session, View } from '../types.d.ts' */

/** @param {Session} session @param {string} project @returns {View} */
export function archiveView(session, project) {
  const element = h('div', null);
  const refresh = loader(
    element,
    () => allArchived(),
    (flags) => element.replaceChildren(...content(flags)),
  );

  /** The archive comes in pages. */
  async function allArchived() {
    /** @type {ArchivedFlag[]} */
    const flags = [];
    for (let offset = 0; ; ) {
      const url = path`/archive/features/${project}?offset=${String(offset)}`;
      const { features, nextOffset } = await session.client.get(url);
      flags.push(...features);
      if (nextOffset === undefined) return flags;
      offset = nextOffset;
    }
  }

  /** @param {readonly ArchivedFlag[]} flags */
  function content(flags) {
    return [
      h('p', { class: 'crumb' }, h('a', { href: hrefOf({ view: 'flags', project }) }, project)),
      h('h1', null, 'Archive'),
      flags.length === 0
        ? empty('Nothing is archived', 'Archived flags keep their history, and can be revived.')
        : h('ul', { class: 'plain cards' }, ...flags.map(archivedItem)),
    ];
  }

  /** @param {ArchivedFlag} flag */
  function archivedItem({ name, type, description, archivedAt }) {
    const button = h(
      'button',
      {
        type: 'button',
        class: 'button',
        disabled: !session.mayWrite(project),
        onclick: () => void revive(name),
      },
      'Revive',
    );
    return h(
      'li',
      { class: 'card card-row', 'data-flag': name },
      h(
        'div',
        null,
        h('a', { href: hrefOf({ view: 'flag', project, flag: name }) }, h('code', null, name)),
        description ? h('p', null, description) : null,
        h('p', { class: 'row-meta' }, h('span', null, type), timeAgo(archivedAt, 'archived ')),
      ),
      button,
    );
  }

  /** @param {string} name */
  async function revive(name) {
    try {
      await session.client.post(path`/archive/revive/${name}`);
      notice('done', `${name} is back.`);
      void session.feed.look();
      await refresh();
    } catch (error) {
      notice('refused', messageOf(error));
    }
  }

  void refresh();
  return {
    title: `Archive of ${project}`,
    element,
    onEvents(events) {
      if (events.some((event) => event.project === project)) void refresh();
    },
  };
}
