/** Flags that may go, of one project or of all, with what speaks for removing each. */
import { path } from '../client.js';
import { counted, date } from '../format.js';
import { later } from '../later.jsx';
import { FlagLink, ProjectCrumb, ProjectLink } from '../parts/links.jsx';
import { FoundListing, ListingHead, RowAction, useFound } from '../parts/listing.jsx';
import { TimeAgo } from '../parts/time-ago.jsx';
import { whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES } from '../words.js';

/** @import { Session, StaleFlag, StaleFlagEnvironment, StaleFlags } from '../types.d.ts' */

const { archiveFlags } = later;

const STATES = { stale: 'Stale', 'potentially-stale': 'Overdue', completed: 'Completed' };

/** @param {{ project?: string }} props */
export function StaleFlagsView({ project }) {
  const session = useSession();
  const at = project === undefined ? '' : path`/projects/${project}`;
  /** @type {ReturnType<typeof useFound<StaleFlag>>} */
  const loaded = useFound(`${at}/stale-flags?`, 'features', (event) =>
    project === undefined ? event.featureName !== null : event.project === project,
  );
  return (
    <>
      <ListingHead
        crumb={project === undefined ? null : <ProjectCrumb project={project} />}
        title="Stale flags"
        lead="Flags marked as stale or completed, or overdue: past the lifetime of their type."
      />
      {whenLoaded(loaded, ({ rows, total, page: { reports } }) => (
        <>
          <Reports of={reports} />
          <FoundListing
            label="Stale flags"
            one="flag"
            total={total}
            more={loaded.more}
            columns={['Flag', 'State', 'Outcome', 'Last use', 'Needed by']}
            rows={rows.map((flag) => rowOf(session, flag, { reports, isOfAll: project === undefined }))}
            none="No flag is stale, overdue or completed"
            next="Flags appear here when they are to be removed from the code."
          />
        </>
      ))}
    </>
  );
}

/** @param {{ of: StaleFlags['reports'] }} props */
function Reports({ of: { since, lastAt } }) {
  if (since === null || lastAt === null)
    return <p class="muted">No application has reported yet, so no flag is known to be unused.</p>;
  return (
    <p class="muted">
      {`Applications have reported since ${date(since)}, the last `}
      <TimeAgo iso={lastAt} />
      {'. One that sends no reports may still use a flag.'}
    </p>
  );
}

/**
 * @param {Session} session
 * @param {StaleFlag} flag
 * @param {{ reports: StaleFlags['reports'], isOfAll: boolean }} around
 */
function rowOf(session, flag, { reports, isOfAll }) {
  const { name, project, state, stateSince, environments, dependents } = flag;
  const may = session.may('flags', project) && dependents.length === 0;
  return {
    key: name,
    cells: [
      <About key="flag" of={flag} isOfAll={isOfAll} />,
      stateSince === null ? STATES[state] : `${STATES[state]} since ${date(stateSince)}`,
      <ul key="outcome" class="plain">
        {environments.map((one) => (
          <li key={one.name}>
            <Name text={one.name} />
            {`: ${outcomeOf(one)}`}
          </li>
        ))}
      </ul>,
      <LastUse key="use" of={flag} since={reports.since} />,
      dependents.length === 0 ? (
        ''
      ) : (
        <ul key="dependents" class="plain">
          {dependents.map((child) => (
            <li key={child}>
              <FlagLink project={project} name={child} />
            </li>
          ))}
        </ul>
      ),
    ],
    actions: may ? (
      <RowAction text="Archive…" of={name} act={() => archiveFlags(session, project, [name])} />
    ) : null,
  };
}

/** @param {{ of: StaleFlag, isOfAll: boolean }} props */
function About({ of: { name, project, type, createdAt, owner }, isOfAll }) {
  const typeName = FLAG_TYPES.find(([key]) => key === type)?.[1] ?? type;
  return (
    <>
      <FlagLink project={project} name={name} />
      <p class="hint">
        {`${typeName}, created ${date(createdAt)}`}
        {owner === null ? null : (
          <>
            {' by '}
            <Name text={owner} />
          </>
        )}
      </p>
      {isOfAll ? <ProjectLink id={project} /> : null}
    </>
  );
}

/** @param {StaleFlagEnvironment} of */
export function outcomeOf({ outcome, since }) {
  if (outcome === null) return 'depends on the context';
  const what = !outcome.enabled ? 'off' : outcome.variant === null ? 'on' : `on with ${outcome.variant}`;
  return `${what} for everyone${since === null ? '' : ` since ${date(since.at)}`}`;
}

/** @param {{ of: StaleFlag, since: string | null }} props */
export function LastUse({ of: { environments, applications }, since }) {
  const used = environments.flatMap(({ lastSeenAt }) => (lastSeenAt === null ? [] : [lastSeenAt])).sort();
  const last = used.at(-1);
  if (last === undefined) return <>{since === null ? 'not known' : `not reported since ${date(since)}`}</>;
  return (
    <>
      <TimeAgo iso={last} />
      <p class="hint">
        {applications.length === 0 ? (
          'by no application in the last 90 days'
        ) : (
          <>
            {`by ${counted(applications.length, 'application')}: `}
            <Name text={applications.join(', ')} max={200} />
          </>
        )}
      </p>
    </>
  );
}
