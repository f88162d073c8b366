/** A project's archived flags, and the way back for each. */
import { tryChangeFlag } from '../changes.jsx';
import { path } from '../client.js';
import { deleteFlag, deleteFlags } from '../edit/flag-edits.jsx';
import { useEvents } from '../feed.js';
import { ProjectCrumb } from '../parts/crumb.jsx';
import { ListingHead } from '../parts/listing.jsx';
import { Empty } from '../parts/states.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { hrefOf } from '../place.js';
import { useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';

/** @import { ArchivedFlag, Session } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function ArchiveView({ project }) {
  const session = useSession();
  const archived = useResource(() => allArchived(session, project), [session, project]);
  useEvents(session, (events) => {
    if (events.some((event) => event.project === project)) void archived.refresh();
  });
  const names = (archived.loaded.value?.value ?? []).map(({ name }) => name);
  return (
    <>
      <ListingHead
        crumb={<ProjectCrumb project={project} />}
        title="Archive"
        action={
          session.may('flags', project) && names.length > 0 ? (
            <button
              type="button"
              class="button button-danger-quiet"
              onClick={() => void deleteFlags(session, project, names)}
            >
              Delete all…
            </button>
          ) : null
        }
      />
      {whenLoaded(
        archived,
        (flags) =>
          flags.length === 0 ? (
            <Empty title="Nothing is archived">Archived flags keep their history, and can be revived.</Empty>
          ) : (
            <ul class="plain cards">
              {flags.map((flag) => (
                <ArchivedItem key={flag.name} project={project} flag={flag} />
              ))}
            </ul>
          ),
        'cards',
      )}
    </>
  );
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
      done: `${name} is revived.`,
    });
  return (
    <li class="card card-row" data-flag={name}>
      <div>
        <a href={hrefOf({ view: 'flag', project, flag: name })}>
          <code>{name}</code>
        </a>
        {description ? (
          <p>
            <Name text={description} max={300} />
          </p>
        ) : null}
        <p class="row-meta">
          <span>{type}</span>
          <TimeAgo iso={archivedAt} prefix="archived " />
        </p>
      </div>
      <div class="actions">
        <button type="button" class="button" disabled={!may} aria-label={`Revive ${name}`} onClick={revive}>
          Revive
        </button>
        <button
          type="button"
          class="button"
          disabled={!may}
          aria-label={`Delete ${name}…`}
          onClick={() => void deleteFlag(session, name)}
        >
          Delete…
        </button>
      </div>
    </li>
  );
}
