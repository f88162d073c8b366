/** The event log, live: what happens shows up on top, and older events come on demand. What is looked for stands in the address. */
import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { messageOf } from '../client.js';
import { useEvents } from '../feed.js';
import { counted } from '../format.js';
import { asOption, asOptions, QueryFilter } from '../forms/choice.jsx';
import { QuerySearch } from '../forms/inputs.jsx';
import { Button } from '../parts/button.jsx';
import { EventItem } from '../parts/event-item.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { ListingHead } from '../parts/listing.jsx';
import { Popover } from '../parts/popover.jsx';
import { ProjectTimeMachine } from '../parts/project-time-machine.jsx';
import { RollBackButton } from '../parts/rollback-button.jsx';
import { Empty, Failed, Loading } from '../parts/states.jsx';
import { useQuery } from '../place.js';
import { useResource } from '../resource.jsx';
import { useSession } from '../session.js';
import { deedOfType } from '../words.js';

/** @import { Client } from '../client.js' */
/** @import { FoundEvents, LoggedEvent } from '../types.d.ts' */

const PAGE = 50;
/** Events listed while new ones arrive: a page that stays open for days must not grow all the while. */
const LISTED_MAX = 500;

/** The parameters that the address may have besides the text, as the interface calls it. */
const FILTERS = /** @type {const} */ (['project', 'type', 'createdBy', 'environment', 'from', 'to']);

/**
 * The events that match a search, newest first.
 * @param {Client} client
 * @param {string} of the project whose events are listed; empty for all
 * @param {string} query of the address
 */
function createEventList(client, of, query) {
  /** Null until the first page is there. @type {import('@preact/signals').Signal<readonly LoggedEvent[] | null>} */
  const events = signal(null);
  const total = signal(0);
  const error = signal(/** @type {unknown} */ (null));
  /** Events above it came while the list was looked at. */
  const newest = signal(Number.POSITIVE_INFINITY);
  /** For those who hear the page. */
  const said = signal('');

  const given = new URLSearchParams(query);
  if (of !== '') given.set('project', of);
  const asked = new URLSearchParams({ limit: String(PAGE) });
  const text = given.get('query')?.trim() ?? '';
  if (text !== '') asked.set('query', text);
  for (const name of FILTERS) if (given.get(name)) asked.set(name, `IS:${given.get(name)}`);

  /** @param {number} offset @returns {Promise<FoundEvents>} */
  const page = (offset) => client.get(`/search/events?${asked}&offset=${offset}`);

  async function restart() {
    try {
      const found = await page(0);
      error.value = null;
      newest.value = Number.POSITIVE_INFINITY;
      events.value = found.events;
      total.value = found.total;
    } catch (reason) {
      error.value = reason;
    }
  }

  async function loadOlder() {
    const listed = events.value ?? [];
    try {
      const found = await page(listed.length);
      const last = listed.at(-1)?.id ?? Number.POSITIVE_INFINITY;
      // Events that came meanwhile have pushed some of those that are listed into the page.
      events.value = [...(events.value ?? []), ...found.events.filter(({ id }) => id < last)];
    } catch (reason) {
      said.value = messageOf(reason);
    }
  }

  /** Asks the server which of the new events match a search: only it can tell. */
  async function loadNew() {
    isNewAwaited = false;
    const before = events.value;
    const found = await page(0).catch(() => null);
    if (found === null || before === null) return;
    const last = before[0]?.id ?? 0;
    const arrived = found.events.filter((event) => event.id > last);
    total.value = found.total;
    if (arrived.length === 0) return;
    // A whole page of new ones may leave others out between them and the list, which then begins anew.
    const known = arrived.length < PAGE ? before : [];
    newest.value = last;
    // Older ones that were asked for stay.
    events.value = [...arrived, ...known].slice(0, Math.max(LISTED_MAX, before.length));
    const flag = arrived[0]?.featureName ?? null;
    said.value = counted(arrived.length, 'new event') + (flag === null ? '' : `, the last about ${flag}`);
  }

  // One after the other: older events that are asked for while the list begins anew would leave a gap in it.
  let work = Promise.resolve();
  let isNewAwaited = false;
  /** @param {() => Promise<void>} next */
  const inTurn = (next) => {
    work = work.then(next);
    return work;
  };
  return {
    ...{ events, total, error, newest, said },
    restart: () => inTurn(restart),
    loadOlder: () => inTurn(loadOlder),
    async loadNew() {
      if (isNewAwaited) return;
      isNewAwaited = true;
      await inTurn(loadNew);
    },
  };
}

/** @typedef {ReturnType<typeof createEventList>} EventList */

/** The events of everything, or of one project, which can be brought back to each moment. @param {{ project?: string }} props */
export function EventsView({ project: of = '' }) {
  const session = useSession();
  const { query } = useQuery();
  const list = useMemo(() => createEventList(session.client, of, query), [session, of, query]);
  useEvents(session, () => void list.loadNew());
  const { recoveries } = session.feed;
  useEffect(() => void list.restart(), [list, recoveries.value]);
  return (
    <>
      {of === '' ? <h1>Events</h1> : <HistoryHead project={of} />}
      <Tools list={list} isOfProject={of !== ''} />
      <p class="unseen" role="status">
        {list.said}
      </p>
      <Body list={list} of={of} />
    </>
  );
}

/** @param {{ project: string }} props */
function HistoryHead({ project }) {
  return (
    <ListingHead
      title="History"
      lead="Changes to the project and its flags. All of its flags can be restored to any of these points in time, as one change."
      crumb={<ProjectCrumb project={project} />}
    />
  );
}

/** @param {{ list: EventList, isOfProject: boolean }} props */
function Tools({ isOfProject, list: { total, events } }) {
  const { projects } = useSession();
  return (
    <div class="row tools">
      <QuerySearch label="Search events" placeholder="Search all recorded changes" />
      {isOfProject ? null : (
        <QueryFilter name="project" label="Project" any="All projects" options={asOptions(projects.value)} />
      )}
      <More />
      <span class="line live">live</span>
      {events.value === null ? null : <span class="muted">{counted(total.value, 'event')}</span>}
    </div>
  );
}

/** The filters that are seldom needed. The word that opens them says how many are set. */
function More() {
  const { get } = useQuery();
  const [isOpen, setOpen] = useState(false);
  const count = ['type', 'createdBy', 'environment', 'from', 'to'].filter((name) => get(name) !== '').length;
  return (
    <Popover title={count === 0 ? 'More filters' : `More filters: ${count}`} onOpen={() => setOpen(true)}>
      {isOpen ? <Filters /> : null}
    </Popover>
  );
}

function Filters() {
  const { client, environmentTypes } = useSession();
  const { get, set } = useQuery();
  /** @type {import('../resource.jsx').Resource<[{ types: readonly string[] }, readonly { id: number, name: string }[]]>} */
  const known = useResource(
    () => Promise.all([client.get('/event-types'), client.get('/event-creators').catch(() => [])]),
    [client],
  );
  const [{ types }, creators] = known.loaded.value?.value ?? [{ types: [] }, []];
  /** @param {string} name @param {string} label */
  const day = (name, label) => (
    <label class="stack hint">
      {label}
      <input
        type="date"
        class="filter"
        value={get(name)}
        onChange={({ currentTarget: { value } }) => set({ [name]: value })}
      />
    </label>
  );
  return (
    <>
      <QueryFilter name="type" any="Any type" options={types.map((type) => [type, deedOfType(type)])} />
      <QueryFilter name="createdBy" any="By anyone" options={asOptions(creators)} />
      <QueryFilter
        name="environment"
        any="Any environment"
        options={[...environmentTypes.value.keys()].map(asOption)}
      />
      {day('from', 'From')}
      {day('to', 'To')}
      <Button looks="quiet" act={() => set(Object.fromEntries(FILTERS.map((name) => [name, ''])))}>
        Clear
      </Button>
    </>
  );
}

/** @param {{ list: EventList, of: string }} props */
function Body({ of, list: { events, total, error, newest, restart, loadOlder } }) {
  const session = useSession();
  if (error.value !== null) return <Failed error={error.value} retry={() => void restart()} />;
  if (events.value === null) return <Loading shape="events" />;
  if (events.value.length === 0) return <Empty title="Nothing found">No event matches.</Empty>;
  const isMore = events.value.length < total.value;
  const may = of !== '' && session.may('flags', of);
  return (
    <>
      {of === '' ? null : <ProjectTimeMachine project={of} events={events.value} />}
      <ol class="plain events" aria-label="Events, newest first">
        {events.value.map((event, index) => (
          <EventItem
            key={event.id}
            event={event}
            isFresh={event.id > newest.value}
            // What the newest event led to is what the project is already.
            action={may && index > 0 ? restoreButton(of, event) : null}
          />
        ))}
      </ol>
      {isMore ? (
        <p class="more">
          <Button act={() => loadOlder()}>Older events</Button>
        </p>
      ) : null}
    </>
  );
}

/** @param {string} project @param {LoggedEvent} event */
const restoreButton = (project, event) => (
  <RollBackButton
    of={{ project }}
    event={event}
    text="Restore the project to here"
    label={`Restore the project to here, event ${event.id}`}
  />
);
