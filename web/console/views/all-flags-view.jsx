/** The flags of all projects, as the filter in the address says, which a bookmark keeps. */
import { flagPath } from '../changes.jsx';
import { number } from '../format.js';
import { asOptions, QueryFilter } from '../forms/choice.jsx';
import { QuerySearch } from '../forms/inputs.jsx';
import { FlagLink, Lists } from '../parts/links.jsx';
import { FoundListing, ListingHead, useFound } from '../parts/listing.jsx';
import { Requested } from '../parts/request-state.jsx';
import { Star } from '../parts/star.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { useQuery } from '../place.js';
import { anyEvent, useRead, useResource, whenLoaded } from '../resource.jsx';
import { Name } from '../said.jsx';
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

/** The search for what a filter of the address asks for. @param {string} query */
function searchOf(query) {
  const given = new URLSearchParams(query);
  const parameters = Object.entries(FILTERS).flatMap(([name, sent]) =>
    given.get(name) ? [[name, sent(given.get(name) ?? '')]] : [],
  );
  return `/search/features?${new URLSearchParams([...parameters, ['sortOrder', 'desc'], ['favoritesFirst', 'true']])}`;
}

export function AllFlagsView() {
  const { query } = useQuery();
  /** @type {ReturnType<typeof useFound<FoundFlag>>} */
  const found = useFound(searchOf(query), 'features', anyEvent);
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
      <span key="on" class="cut">
        <Name text={placesText(environments)} />
      </span>,
      <LastTime key="seen" iso={lastSeenAt} />,
    ],
  };
}

/** Such as: production and 4 more. @param {FoundFlag['environments']} environments */
function placesText(environments) {
  const on = environments
    .filter(({ enabled }) => enabled)
    .sort((one, other) => Number(other.type === 'production') - Number(one.type === 'production'));
  const [first, ...others] = on.map(({ name }) => name);
  if (first === undefined) return 'nowhere';
  return others.length > 1 ? `${first} and ${others.length} more` : [first, ...others].join(', ');
}

function Tools() {
  const { client, projects } = useSession();
  const { query } = useQuery();
  const totals = useResource(
    () =>
      Promise.all(SAVED.map(async ([, filter]) => (await client.get(`${searchOf(filter)}&limit=1`)).total)),
    [client],
    ({ type }) => type.startsWith('feature-'),
  ).loaded.value?.value;
  /** @type {StageCounts | undefined} */
  const counts = useRead('/lifecycle/count').loaded.value?.value;
  /** With how many are in each. @type {readonly (readonly [string, string])[]} */
  const stages = Object.entries(STAGES).map(([stage, word]) => {
    const count = counts?.[/** @type {keyof StageCounts} */ (stage === 'pre-live' ? 'preLive' : stage)];
    return [stage, count === undefined ? word : `${word} (${number(count)})`];
  });
  return (
    <>
      <Lists
        label="Filters"
        view="all-flags"
        current={query}
        lists={SAVED.map(([name, filter], index) => [
          totals === undefined ? name : `${name} (${number(totals[index])})`,
          filter,
        ])}
      />
      <div class="row tools">
        <QuerySearch label="Search all flags" placeholder="Name, description or tag" />
        <QueryFilter name="project" any="Any project" options={asOptions(projects.value)} />
        <QueryFilter name="type" any="Any type" options={FLAG_TYPES} />
        <QueryFilter name="lifecycle" any="Any stage" options={stages} />
      </div>
    </>
  );
}
