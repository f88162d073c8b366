/** The flags of all projects, as the filter in the address says, which a bookmark keeps. */
import { useMemo } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { number } from '../format.js';
import { asOptions, QueryFilter } from '../forms/choice.jsx';
import { QuerySearch } from '../forms/inputs.jsx';
import { FlagLink } from '../parts/links.jsx';
import { FoundListing, ListingHead, useFound } from '../parts/listing.jsx';
import { Requested } from '../parts/request-state.jsx';
import { Star } from '../parts/star.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { hrefOf, useQuery } from '../place.js';
import { anyEvent, useRead, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES, STAGES } from '../words.js';

/** @import { FoundFlag, StageCounts } from '../types.d.ts' */

/** The parameters that the address may have, as the interface calls it, and what is sent for it. @type {Readonly<Record<string, (value: string) => string>>} */
const FILTERS = {
  query: (value) => value,
  project: (value) => `IS:${value}`,
  type: (value) => `IS:${value}`,
  state: (value) => `IS:${value}`,
  lifecycle: (value) => `IS:${value}`,
  favorite: (value) => `IS:${value}`,
  archived: (value) => `IS:${value}`,
};

/** Filters that many want, by what they are called. @type {readonly (readonly [string, string])[]} */
const SAVED = [
  ['All', ''],
  ['Favorites', 'favorite=true'],
  ['Stale', 'state=stale'],
  ['Overdue', 'state=potentially-stale'],
  ['Completed', 'lifecycle=completed'],
  ['Archived', 'archived=true'],
];

export function AllFlagsView() {
  const { query } = useQuery();
  const asked = useMemo(() => {
    const given = new URLSearchParams(query);
    const parameters = Object.entries(FILTERS).flatMap(([name, sent]) =>
      given.get(name) ? [[name, sent(given.get(name) ?? '')]] : [],
    );
    return new URLSearchParams([...parameters, ['sortOrder', 'desc'], ['favoritesFirst', 'true']]);
  }, [query]);
  /** @type {ReturnType<typeof useFound<FoundFlag>>} */
  const found = useFound(`/search/features?${asked}`, 'features', anyEvent);
  return (
    <>
      <ListingHead
        title="All flags"
        lead="Across all projects. The filter is part of the address, so that you can bookmark it."
      />
      <Tools />
      {whenLoaded(found, ({ rows, total }) => (
        <FoundListing
          label="All flags"
          one="flag"
          total={total}
          more={found.more}
          columns={COLUMNS}
          rows={rows.map(rowOf)}
          none="No flag matches"
          next="Fewer filters find more."
        />
      ))}
    </>
  );
}

const COLUMNS = ['Flag', 'Project', 'Type', 'Stage', 'On in', 'Last used'];

/** @param {FoundFlag} flag */
function rowOf({ name, project, type, lifecycle, environments, lastSeenAt, favorite, stale }) {
  return {
    key: name,
    cells: [
      <span key="name" class="line flag-line">
        <Star at={flagPath(project, name)} name={name} isFavorite={favorite} />
        <FlagLink project={project} name={name} />
        {stale ? <span class="badge badge-warn">stale</span> : null}
        <Requested is={environments.some(({ changeRequestIds }) => changeRequestIds.length > 0)} />
      </span>,
      project,
      type,
      STAGES[lifecycle.stage],
      environments
        .filter(({ enabled }) => enabled)
        .map((one) => one.name)
        .join(', ') || 'nowhere',
      <LastTime key="seen" iso={lastSeenAt} />,
    ],
  };
}

function Tools() {
  const { projects } = useSession();
  const { query } = useQuery();
  /** @type {StageCounts | undefined} */
  const counts = useRead('/lifecycle/count').loaded.value?.value;
  /** With how many are in each. @type {readonly (readonly [string, string])[]} */
  const stages = Object.entries(STAGES).map(([stage, word]) => {
    const count = counts?.[/** @type {keyof StageCounts} */ (stage === 'pre-live' ? 'preLive' : stage)];
    return [stage, count === undefined ? word : `${word} (${number(count)})`];
  });
  return (
    <>
      <nav class="row facts saved" aria-label="Filters">
        {SAVED.map(([name, filter]) => (
          <a
            key={name}
            href={hrefOf({ view: 'all-flags', query: filter })}
            aria-current={query === filter ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <div class="row tools">
        <QuerySearch label="Search all flags" placeholder="Name, description or tag" />
        <QueryFilter name="project" any="Any project" options={asOptions(projects.value)} />
        <QueryFilter name="type" any="Any type" options={FLAG_TYPES} />
        <QueryFilter name="lifecycle" any="Any stage" options={stages} />
      </div>
    </>
  );
}
