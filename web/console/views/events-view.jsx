/** The event log, live: what happens shows up on top, and older events come on demand. */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { messageOf, path } from '../client.js';
import { useEvents } from '../feed.js';
import { counted } from '../format.js';
import { Choice } from '../forms/choice.jsx';
import { SearchBox } from '../forms/search-box.jsx';
import { ProjectCrumb } from '../parts/crumb.jsx';
import { EventItem } from '../parts/event-item.jsx';
import { ListingHead } from '../parts/listing.jsx';
import { ProjectTimeMachine } from '../parts/project-time-machine.jsx';
import { RollBackButton } from '../parts/rollback-button.jsx';
import { Empty, Failed, Loading } from '../parts/states.jsx';
import { useSession } from '../session.js';

/** @import { Client } from '../client.js' */
/** @import { EventPage, LoggedEvent, ProjectSummary } from '../types.d.ts' */

const PAGE = 50;
/** Events listed while new ones arrive: a page that stays open for days must not grow all the while. */
const LISTED_MAX = 500;
/** After the last key, in milliseconds: a search reads the whole log. */
const TYPING_MS = 300;

/**
 * The events that match a search, newest first.
 * @param {Client} client
 * @param {string} of the project whose events are listed at first; empty for all
 */
function createEventList(client, of) {
  const text = signal('');
  const project = signal(of);
  /** Null until the first page is there. @type {import('@preact/signals').Signal<readonly LoggedEvent[] | null>} */
  const events = signal(null);
  const total = signal(0);
  const error = signal(/** @type {unknown} */ (null));
  /** Events above it came while the list was looked at. */
  const newest = signal(Number.POSITIVE_INFINITY);
  /** For those who hear the page. */
  const said = signal('');
  /** Counts the searches: a response that comes after a newer search began is of no use. */
  let search = 0;

  /** @param {number} offset @returns {Promise<EventPage>} */
  const page = (offset) =>
    client.post('/events/search', {
      limit: PAGE,
      offset,
      ...(text.value.trim() === '' ? {} : { query: text.value.trim() }),
      ...(project.value === '' ? {} : { project: project.value }),
    });

  async function restart() {
    search += 1;
    const mine = search;
    try {
      const found = await page(0);
      if (mine !== search) return;
      error.value = null;
      newest.value = Number.POSITIVE_INFINITY;
      events.value = found.events;
      total.value = found.totalEvents;
    } catch (reason) {
      if (mine === search) error.value = reason;
    }
  }

  async function loadOlder() {
    const mine = search;
    try {
      const found = await page((events.value?.at(-1)?.id ?? 1) - 1);
      if (mine === search) events.value = [...(events.value ?? []), ...found.events];
    } catch (reason) {
      said.value = messageOf(reason);
    }
  }

  /** Which of the new events match a search, only the server can tell. */
  async function loadNew() {
    const before = events.value;
    const mine = search;
    const found = await page(0).catch(() => null);
    if (found === null || before === null || mine !== search) return;
    const last = before[0]?.id ?? 0;
    const arrived = found.events.filter((event) => event.id > last);
    total.value = found.totalEvents;
    if (arrived.length === 0) return;
    // A whole page of new ones may leave others out between them and the list, which then begins anew.
    const known = arrived.length < PAGE ? before : [];
    newest.value = last;
    // Older ones that were asked for stay.
    events.value = [...arrived, ...known].slice(0, Math.max(LISTED_MAX, before.length));
    const flag = arrived[0]?.featureName ?? null;
    said.value = counted(arrived.length, 'new event') + (flag === null ? '' : `, the last about ${flag}`);
  }

  return { text, project, events, total, error, newest, said, restart, loadOlder, loadNew };
}

/** @typedef {ReturnType<typeof createEventList>} EventList */

/** Of everything, or of one project, which can be brought back to each moment. @param {{ of?: string }} props */
export function EventsView({ of = '' }) {
  const session = useSession();
  const list = useMemo(() => createEventList(session.client, of), [session, of]);
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

/** @param {ProjectSummary} project @returns {[string, string]} */
const named = ({ id, name }) => [id, name];

/** @param {{ project: string }} props */
function HistoryHead({ project }) {
  return (
    <ListingHead
      title="History"
      lead="What happened to the project and its flags. All of its flags can be brought back to any of these moments, as one change."
      crumb={<ProjectCrumb project={project} />}
    />
  );
}

/** @param {{ list: EventList, isOfProject: boolean }} props */
function Tools({ isOfProject, list: { text, project, total, events, restart } }) {
  const { projects } = useSession();
  const timer = useMemo(() => ({ id: 0 }), []);
  useEffect(() => () => clearTimeout(timer.id), [timer]);
  return (
    <div class="tools">
      <SearchBox
        label="Search events"
        placeholder="Search in everything recorded"
        value={text.value}
        change={(value) => {
          text.value = value;
          clearTimeout(timer.id);
          timer.id = setTimeout(() => void restart(), TYPING_MS);
        }}
      />
      {isOfProject ? null : (
        <Choice
          options={[['', 'All projects'], ...projects.value.map(named)]}
          value={project.value}
          change={(id) => {
            project.value = id;
            void restart();
          }}
          attributes={{ class: 'filter', 'aria-label': 'Project' }}
        />
      )}
      <span class="live">live</span>
      {events.value === null ? null : <span class="muted">{counted(total.value, 'event')}</span>}
    </div>
  );
}

/** @param {{ list: EventList, of: string }} props */
function Body({ of, list: { events, total, error, newest, restart, loadOlder } }) {
  const session = useSession();
  if (error.value !== null) return <Failed error={error.value} retry={() => void restart()} />;
  if (events.value === null) return <Loading />;
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
          <button type="button" class="button" onClick={() => void loadOlder()}>
            Older events
          </button>
        </p>
      ) : null}
    </>
  );
}

/** @param {string} project @param {LoggedEvent} event */
const restoreButton = (project, event) => (
  <RollBackButton
    at={path`/projects/${project}`}
    what="project"
    event={event}
    text="Restore the project to here"
    label={`Restore the project to here, event ${event.id}`}
  />
);
