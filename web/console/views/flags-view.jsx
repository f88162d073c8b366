/** A project's flags: how it stands, and a table that can be filtered, sorted and changed row by row or many at once. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { path } from '../client.js';
import { useEvents } from '../feed.js';
import { filtered, filterOf, listOf, NO_FILTER, queryOf } from '../flag-filter.js';
import { ordered } from '../flag-order.js';
import { createFlagUpdates } from '../flag-updates.js';
import { counted } from '../format.js';
import { Later, later } from '../later.jsx';
import { Button } from '../parts/button.jsx';
import { FlagTable } from '../parts/flag-table.jsx';
import { FlagTools } from '../parts/flag-tools.jsx';
import { AddButton, ListingHead } from '../parts/listing.jsx';
import { MoreMenu } from '../parts/more-menu.jsx';
import { useRequests } from '../parts/request-state.jsx';
import { Star } from '../parts/star.jsx';
import { Empty } from '../parts/states.jsx';
import { hrefOf, place, replacePlace } from '../place.js';
import { protectedIn } from '../proposals.jsx';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';

/** @import { FlagFilter } from '../flag-filter.js' */
/** @import { Creator } from '../parts/flag-tools.jsx' */
/** @import { FlagSummary, FoundChangeRequests, ProjectOverview, Session } from '../types.d.ts' */

const { archiveFlags, favoriteMany, markMany, moveMany, switchMany, tagMany, createFlag, promote } = later;

/** @param {{ project: string }} props */
export function FlagsView({ project }) {
  const session = useSession();
  const overview = useResource(() => session.client.get(path`/projects/${project}`), [session, project]);
  const updates = useMemo(() => createFlagUpdates(session, project, overview), [session, project, overview]);
  const [filter] = useFilter(project);
  const [isAsked, setAsked] = useState(false);
  const areNamed =
    isAsked || filter.owner !== '' || filter.sort === 'owner' || listOf(filter.show).has('owner');
  // Who created flags; without their names they are shown by their ids.
  const creators = useResource(
    /** @returns {Promise<readonly Creator[]>} */
    async () => (areNamed ? session.client.get(path`/projects/${project}/flag-creators`) : NOBODY),
    [session, project, areNamed],
  );
  useEvents(session, (events) => {
    updates(events);
    const made = events.filter((event) => event.type === 'feature-created' && event.project === project);
    const known = creators.loaded.value?.value ?? NOBODY;
    if (areNamed && made.some(({ createdByUserId }) => !known.some(({ id }) => id === createdByUserId))) {
      void creators.refresh();
    }
  });
  const owners = creators.loaded.value?.value ?? NOBODY;
  return whenLoaded(overview, (loaded) => (
    <Flags project={project} overview={loaded} owners={owners} askOwners={() => setAsked(true)} />
  ));
}

/** @type {readonly Creator[]} */
const NOBODY = [];

/** @param {{ project: string, overview: ProjectOverview, owners: readonly Creator[], askOwners: () => void }} props */
function Flags({ project, overview, owners, askOwners }) {
  const session = useSession();
  const [filter, setFilter] = useFilter(project);
  const [chosen, setChosen] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const names = useMemo(() => new Map(owners.map(({ id, name }) => [id, name])), [owners]);
  /** @param {number} id */
  const ownerName = (id) => names.get(id) ?? (id === 0 ? 'unknown' : `user ${id}`);
  const shown = useDeferred(filter);
  const { sort, first, show, hide, rows } = shown;
  const inOrder = useMemo(
    () => ordered(overview.features, sort, { isFavoriteFirst: first === '', ownerName }),
    [overview, names, sort, first],
  );
  const matching = useMemo(() => filtered(inOrder, shown), [inOrder, shown]);
  const environments = overview.environments.map(({ environment }) => environment);
  const requested = useRequests((by) => requestedIn(by, project), [project]) ?? NONE;
  const may = session.may('flags', project);
  /** @param {readonly string[]} names @param {boolean} isChosen */
  function choose(names, isChosen) {
    const next = new Set(chosen);
    for (const name of names) isChosen ? next.add(name) : next.delete(name);
    setChosen(next);
  }
  // A flag that is gone, or filtered out, is not changed with the others.
  const acted = useMemo(
    () => (chosen.size === 0 ? [] : matching.filter(({ name }) => chosen.has(name))),
    [matching, chosen],
  );
  const table = useMemo(
    () => (
      <FlagTable
        project={project}
        environments={environments.filter((name) => !listOf(hide).has(name))}
        columns={listOf(show)}
        isChosen={show !== NO_FILTER.show}
        ownerName={ownerName}
        sort={sort}
        setSort={(next) => setFilter({ sort: next })}
        isDense={rows === 'dense'}
        flags={matching}
        requested={requested}
        chosen={chosen}
        choose={may ? choose : null}
      />
    ),
    [project, overview, names, sort, show, hide, rows, matching, requested, chosen, may],
  );
  return (
    <>
      <Head project={project} overview={overview} may={may} />
      {overview.features.length === 0 ? null : (
        <FlagTools
          project={project}
          filter={filter}
          setFilter={setFilter}
          environments={environments}
          owners={owners}
          askOwners={askOwners}
          flags={overview.features}
          shown={matching.length}
          isBusy={shown !== filter}
        />
      )}
      {acted.length === 0 ? null : (
        <ManyBar
          project={project}
          environments={environments}
          flags={acted}
          clear={() => setChosen(new Set())}
        />
      )}
      {overview.features.length === 0 ? (
        <Later of="FirstSteps" project={project} environments={environments} />
      ) : matching.length === 0 ? (
        <Empty title="Nothing matches">No flag matches all of these filters.</Empty>
      ) : (
        table
      )}
    </>
  );
}

/** @type {ReadonlySet<string>} */
const NONE = new Set();

/** The most open requests that are looked through. */
const REQUESTS_MAX = 1_000;

/** Names of the flags that requests would change which are no drafts. @param {Session} session @param {string} project @returns {Promise<ReadonlySet<string>>} */
async function requestedIn(session, project) {
  if ((await protectedIn(session, project)).length === 0) return NONE;
  /** @type {FoundChangeRequests} */
  const { changeRequests } = await session.client.get(
    `/search/change-requests?state=IS:open&limit=${REQUESTS_MAX}`,
  );
  const here = changeRequests.filter((one) => one.project === project && one.state !== 'Draft');
  return new Set(here.flatMap(({ features }) => features));
}

/**
 * A value as it was until it has been painted what goes with it at once: a key is seen in its field before 20,000 flags are filtered.
 * @template T
 * @param {T} value
 */
function useDeferred(value) {
  const [shown, setShown] = useState(value);
  useEffect(() => setShown(value), [value]);
  return shown;
}

/** The filter in the address, which “Back” brings back. @param {string} project @returns {[FlagFilter, (changed: Partial<FlagFilter>) => void]} */
function useFilter(project) {
  const queryHere = () =>
    place.value?.view === 'flags' && place.value.project === project ? place.value.query : '';
  const query = queryHere();
  const filter = useMemo(() => filterOf(query), [query]);
  return [
    filter,
    (changed) => {
      // It may have changed since the control was drawn.
      const next = { ...filterOf(queryHere()), ...changed };
      replacePlace({ view: 'flags', project, query: queryOf(next) });
    },
  ];
}

/** @param {{ project: string, overview: ProjectOverview, may: boolean }} props */
function Head({ project, overview, may }) {
  const session = useSession();
  const { name, description, health, members, features } = overview;
  const isFavorite = session.projects.value.find(({ id }) => id === project)?.favorite === true;
  const meaning = 'Flags that are neither stale nor past the expected lifetime of their type';
  return (
    <ListingHead
      title={name || project}
      beside={<Star at={path`/projects/${project}`} name={name || project} isFavorite={isFavorite} />}
      lead={description}
      action={may ? <AddButton isMain text="New flag" act={() => createFlag(session, project)} /> : null}
    >
      <p class="row facts">
        <span>{counted(members, 'member')}</span>
        <span title={meaning}>{`${health} % healthy`}</span>
        <a href={hrefOf({ view: 'insights', project })}>Insights</a>
        <a href={hrefOf({ view: 'stale-flags', project })}>Stale flags</a>
        {features.length === 0 ? <a href={hrefOf({ view: 'archive', project })}>Archive</a> : null}
        <a href={hrefOf({ view: 'history', project })}>History</a>
        <a href={hrefOf({ view: 'settings', project })}>Settings</a>
      </p>
    </ListingHead>
  );
}

/** Lies above the page, which stays where it is. @param {{ project: string, environments: readonly string[], flags: readonly FlagSummary[], clear: () => void }} props */
function ManyBar({ project, environments, flags, clear }) {
  const session = useSession();
  const names = flags.map(({ name }) => name);
  /** @param {string} text @param {() => Promise<boolean>} act */
  const button = (text, act) => <Button act={() => act().then((isDone) => isDone && clear())}>{text}</Button>;
  return (
    <div class="row many" role="region" aria-label="Selected flags">
      <span role="status">{`${counted(names.length, 'flag')} selected`}</span>
      <Button act={() => switchMany(session, project, flags, environments)}>Switch…</Button>
      {button('Mark stale', () => markMany(session, project, flags, true))}
      {button('Not stale', () => markMany(session, project, flags, false))}
      <MoreMenu
        label="More for the selected flags"
        items={[
          environments.length < 2
            ? null
            : ['Promote…', 'up', () => promote(session, project, names, environments)],
          ['Add tag…', 'tag', () => tagMany(session, project, flags)],
          session.isUser ? ['Mark as favorites', 'flag', () => favoriteMany(session, project, flags)] : null,
          session.projects.value.length < 2
            ? null
            : ['Move…', 'project', () => moveMany(session, project, names)],
        ]}
      />
      {button('Archive…', () => archiveFlags(session, project, names))}
      <Button looks="quiet" act={clear}>
        Clear selection
      </Button>
    </div>
  );
}
