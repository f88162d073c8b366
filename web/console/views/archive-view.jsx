/** A project's archived flags, and the way back for each. */
import { path } from '../client.js';
import { deleteFlags } from '../edit/archive.jsx';
import { reviveFlag } from '../edit/flag-edits.jsx';
import { Button } from '../parts/button.jsx';
import { FlagLink, ProjectCrumb } from '../parts/links.jsx';
import { Listing, ListingHead, Noted, RowActions } from '../parts/listing.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { ArchivedFlag, Session } from '../types.d.ts' */

/** @param {{ project: string }} props */
export function ArchiveView({ project }) {
  const session = useSession();
  const archived = useResource(
    () => allArchived(session, project),
    [session, project],
    (event) => event.project === project,
  );
  const may = session.may('flags', project);
  const names = (archived.loaded.value?.value ?? []).map(({ name }) => name);
  return (
    <>
      <ListingHead
        crumb={<ProjectCrumb project={project} />}
        title="Archive"
        action={
          may && names.length > 0 ? (
            <Button looks="button button-danger-quiet" act={() => deleteFlags(session, project, names)}>
              Delete all…
            </Button>
          ) : null
        }
      />
      {whenLoaded(archived, (flags) => (
        <Listing
          label="Archived flags"
          columns={['Flag', 'Type', 'Archived']}
          rows={flags.map(({ name, description, type, archivedAt }) => ({
            key: name,
            cells: [
              <Noted key="flag" note={description}>
                <FlagLink project={project} name={name} />
              </Noted>,
              type,
              <TimeAgo key="archived" iso={archivedAt} />,
            ],
            actions: may ? (
              <RowActions
                of={name}
                items={[
                  ['Revive', 'up', () => reviveFlag(session, { project, name })],
                  ['Delete', 'remove', () => deleteFlags(session, project, [name]), true],
                ]}
              />
            ) : null,
          }))}
          none="Nothing is archived"
          next="Archived flags keep their history, and can be revived."
        />
      ))}
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
