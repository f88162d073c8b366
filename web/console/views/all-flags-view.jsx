/** The flags of all projects, as the filter in the address says, which a bookmark keeps. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { flagPath } from '../changes.jsx';
import { useEvents } from '../feed.js';
import { counted, number } from '../format.js';
import { asOptions, QueryFilter } from '../forms/choice.jsx';
import { QuerySearch } from '../forms/inputs.jsx';
import { Button } from '../parts/button.jsx';
import { FlagLink } from '../parts/links.jsx';
import { Listing, ListingHead } from '../parts/listing.jsx';
import { Star } from '../parts/star.jsx';
import { LastTime } from '../parts/time-ago.jsx';
import { hrefOf, useQuery } from '../place.js';
import { useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';
import { FLAG_TYPES, STAGES } from '../words.js';

/** @import { FoundFlag, FoundFlags, StageCounts } from '../types.d.ts' */

const PAGE = 50;

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
  const session = useSession();
  const { client } = session;
  const { query } = useQuery();
  const [pages, setPages] = useState(1);
  useEffect(() => setPages(1), [query]);
  const asked = useMemo(() => {
    const given = new URLSearchParams(query);
    const parameters = Object.entries(FILTERS).flatMap(([name, sent]) =>
      given.get(name) ? [[name, sent(given.get(name) ?? '')]] : [],
    );
    return new URLSearchParams([...parameters, ['sortOrder', 'desc'], ['favoritesFirst', 'true']]);
  }, [query]);
  const found = useResource(
    /** @returns {Promise<FoundFlags>} */
    () => client.get(`/search/features?${asked}&limit=${PAGE * pages}`),
    [client, asked, pages],
  );
  useEvents(session, () => void found.refresh());
  return (
    <>
      <ListingHead
        title="All flags"
        lead="Across all projects. The filter is part of the address, so that you can bookmark it."
      />
      <Tools />
      {whenLoaded(found, (/** @type {FoundFlags} */ { features, total }) => (
        <>
          <p class="muted" role="status">
            {counted(total, 'flag')}
          </p>
          <Listing
            label="All flags"
            columns={COLUMNS}
            rows={features.map(rowOf)}
            none="No flag matches"
            next="Fewer filters find more."
          />
          {features.length < total ? (
            <p class="more">
              <Button act={() => setPages(pages + 1)}>More flags</Button>
            </p>
          ) : null}
        </>
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
      <span key="name" class="flag-line">
        <Star at={flagPath(project, name)} name={name} isFavorite={favorite} />
        <FlagLink project={project} name={name} />
        {stale ? <span class="badge badge-warn">stale</span> : null}
        {environments.some(({ changeRequestIds }) => changeRequestIds.length > 0) ? (
          <span class="badge badge-warn">change requested</span>
        ) : null}
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
  const { client, projects } = useSession();
  const { query } = useQuery();
  const counts = useResource(
    /** @returns {Promise<StageCounts>} */
    () => client.get('/lifecycle/count'),
    [client],
  ).loaded.value?.value;
  /** With how many are in each. @type {readonly (readonly [string, string])[]} */
  const stages = Object.entries(STAGES).map(([stage, word]) => {
    const count = counts?.[/** @type {keyof StageCounts} */ (stage === 'pre-live' ? 'preLive' : stage)];
    return [stage, count === undefined ? word : `${word} (${number(count)})`];
  });
  return (
    <>
      <nav class="facts saved" aria-label="Filters">
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
      <div class="tools">
        <QuerySearch label="Search all flags" placeholder="Name, description or tag" />
        <QueryFilter name="project" any="Any project" options={asOptions(projects.value)} />
        <QueryFilter name="type" any="Any type" options={FLAG_TYPES} />
        <QueryFilter name="lifecycle" any="Any stage" options={stages} />
      </div>
    </>
  );
}
