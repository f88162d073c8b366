/** The changes of a flag, newest first: a day of several as one entry, narrowed by kind, environment and person, with the way back. */
import { useState } from 'preact/hooks';
import { commentOn } from '../edit/flag-edits.jsx';
import { counted, date } from '../format.js';
import { asOption, Filter } from '../forms/choice.jsx';
import { useResource } from '../resource.jsx';
import { Name } from '../said.jsx';
import { useSession } from '../session.js';
import { Button } from './button.jsx';
import { EventItem } from './event-item.jsx';
import { Popover } from './popover.jsx';
import { RollBackButton } from './rollback-button.jsx';

/** @import { Flag, FoundEvents, LoggedEvent } from '../types.d.ts' */

/** Events that are read at once. */
export const HISTORY_PAGE = 30;

/** Entries that are listed before somebody asks for older ones. */
const ENTRIES_MAX = 6;

/** Changes of the newest day that each are an entry. */
const NEWEST_MAX = 3;

/** Kinds of changes, by the types of events that are of them. @type {readonly (readonly [string, string])[]} */
const KINDS = [
  ['', 'Any change'],
  ['feature-environment-enabled,feature-environment-disabled', 'Switched on or off'],
  [
    'feature-strategy-add,feature-strategy-update,feature-strategy-remove,strategy-order-changed',
    'Strategies',
  ],
  ['feature-variants-updated,feature-environment-variants-updated', 'Variants'],
  ['feature-commented', 'Comments'],
  ['feature-created,feature-metadata-updated,feature-archived,feature-revived,feature-stale-on', 'The flag'],
];

const NO_FILTERS = { type: '', environment: '', createdBy: '' };

/** @param {{ flag: Flag, events: readonly LoggedEvent[] }} props `events`: the newest of all */
export function History({ flag, events: newest }) {
  const session = useSession();
  const [filters, setFilters] = useState(NO_FILTERS);
  const [olderPages, setOlderPages] = useState(0);
  const may = session.may('flags', flag.project);
  const current = newest.find(isChange)?.id;
  const set = Object.entries(filters).filter(([, value]) => value !== '');
  const limit = HISTORY_PAGE * (olderPages + 1);
  const isGiven = set.length === 0 && olderPages === 0;
  const search = new URLSearchParams({
    ...Object.fromEntries(set.map(([name, value]) => [name, `IS_ANY_OF:${value}`])),
    ...{ feature: `IS:${flag.name}`, project: `IS:${flag.project}`, limit: `${limit}` },
  });
  const found = useResource(async () => {
    if (isGiven) return newest;
    /** @type {FoundEvents} */
    const { events } = await session.client.get(`/search/events?${search}`);
    return events;
  }, [session, isGiven, String(search), newest]);
  const events = isGiven ? newest : (found.loaded.value?.value ?? newest.slice(0, 0));
  const entries = entriesOf(events);
  const shown = olderPages === 0 ? entries.slice(0, ENTRIES_MAX) : entries;
  const isMore = shown.length < entries.length || events.length === limit;
  /** @param {LoggedEvent} event */
  const item = (event) => (
    <EventItem
      key={event.id}
      event={event}
      isAboutFlag
      // What the newest change led to is what the flag is already.
      action={
        may && !flag.archived && isChange(event) && event.id !== current ? (
          <RollBackButton
            of={flag}
            event={event}
            text="Roll back"
            label={`Roll back to here, event ${event.id}`}
          />
        ) : null
      }
    />
  );
  return (
    <section class="history" aria-labelledby="history">
      <div class="line card-head">
        <h2 id="history">History</h2>
        {may ? (
          <Button looks="button button-small" act={() => commentOn(session, flag)}>
            Comment…
          </Button>
        ) : null}
        <Popover title={set.length === 0 ? 'Filter' : `Filter: ${set.length}`} looks="popover-small">
          <Filter
            label="Kind of change"
            options={KINDS}
            value={filters.type}
            change={(type) => setFilters({ ...filters, type })}
          />
          <Filter
            label="Environment"
            options={[['', 'Any environment'], ...flag.environments.map(({ name }) => asOption(name))]}
            value={filters.environment}
            change={(environment) => setFilters({ ...filters, environment })}
          />
          <Filter
            label="Person"
            options={[['', 'By anyone'], ...peopleOf([...newest, ...events])]}
            value={filters.createdBy}
            change={(createdBy) => setFilters({ ...filters, createdBy })}
          />
        </Popover>
      </div>
      <ol class="plain events">
        {shown.map(([first, ...others]) =>
          first === undefined ? null : others.length === 0 ? (
            item(first)
          ) : (
            <Day key={first.createdAt} events={[first, ...others]} item={item} />
          ),
        )}
      </ol>
      {events.length === 0 && (isGiven || found.loaded.value !== null) ? (
        <p class="muted">No change matches.</p>
      ) : null}
      {isMore ? (
        <p class="more">
          <Button act={() => setOlderPages(olderPages + 1)}>Older changes</Button>
        </p>
      ) : null}
    </section>
  );
}

/** @param {LoggedEvent} event */
const isChange = ({ type }) => type !== 'feature-commented';

/** @param {{ events: readonly LoggedEvent[], item: (event: LoggedEvent) => import('preact').VNode }} props */
const Day = ({ events, item }) => (
  <li class="event-day">
    <details>
      <summary>
        {`${counted(events.length, 'change')} on ${date(events[0]?.createdAt ?? '')} `}
        <span class="muted">
          by{' '}
          <Name
            text={peopleOf(events)
              .map(([, name]) => name)
              .join(', ')}
          />
        </span>
      </summary>
      <ol class="plain">{events.map(item)}</ol>
    </details>
  </li>
);

/** Changes of a day are one entry, apart from the newest. @param {readonly LoggedEvent[]} events @returns {readonly (readonly LoggedEvent[])[]} */
function entriesOf(events) {
  const [newest = [], ...others] = Map.groupBy(events, ({ createdAt }) => date(createdAt)).values();
  const rest = newest.slice(NEWEST_MAX);
  return [
    ...newest.slice(0, NEWEST_MAX).map((one) => [one]),
    ...(rest.length === 0 ? [] : [rest]),
    ...others,
  ];
}

/** The ids of those who made the events, with their names. @param {readonly LoggedEvent[]} events */
const peopleOf = (events) => [
  ...new Map(events.map(({ createdByUserId, createdBy }) => [String(createdByUserId), createdBy])),
];
