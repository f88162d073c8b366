/** The event log, live: what happens shows up on top, and older events come on demand. What is looked for stands in the address. */
import { useState } from 'preact/hooks';
import { counted } from '../format.js';
import { asOption, asOptions, QueryFilter } from '../forms/choice.jsx';
import { QuerySearch } from '../forms/inputs.jsx';
import { Button } from '../parts/button.jsx';
import { EventItem } from '../parts/event-item.jsx';
import { ProjectCrumb } from '../parts/links.jsx';
import { ListingHead, useFound } from '../parts/listing.jsx';
import { Popover } from '../parts/popover.jsx';
import { ProjectTimeMachine } from '../parts/project-time-machine.jsx';
import { RollBackButton } from '../parts/rollback-button.jsx';
import { Empty } from '../parts/states.jsx';
import { useQuery } from '../place.js';
import { anyEvent, useResource, whenLoaded } from '../resource.jsx';
import { useSession } from '../session.js';
import { deedOfType } from '../words.js';

/** @import { LoggedEvent } from '../types.d.ts' */

/** The parameters that the address may have besides the text, as the interface calls it. */
const FILTERS = /** @type {const} */ (['project', 'type', 'createdBy', 'environment', 'from', 'to']);

/** @param {string} of the project whose events are listed; empty for all @param {string} query of the address */
function searchFor(of, query) {
  const given = new URLSearchParams(query);
  if (of !== '') given.set('project', of);
  const asked = new URLSearchParams();
  const text = given.get('query')?.trim() ?? '';
  if (text !== '') asked.set('query', text);
  for (const name of FILTERS) if (given.get(name)) asked.set(name, `IS:${given.get(name)}`);
  return `/search/events?${asked}`;
}

/** The events of everything, or of one project, which can be brought back to each moment. @param {{ project?: string }} props */
export function EventsView({ project: of = '' }) {
  const search = searchFor(of, useQuery().query);
  /** @type {ReturnType<typeof useFound<LoggedEvent>>} */
  const found = useFound(search, 'events', anyEvent);
  return (
    <>
      {of === '' ? (
        <h1>Events</h1>
      ) : (
        <ListingHead
          title="History"
          lead="Changes to the project and its flags. All of its flags can be restored to any of these points in time, as one change."
          crumb={<ProjectCrumb project={of} />}
        />
      )}
      <Tools isOfProject={of !== ''} total={found.loaded.value?.value.total} />
      {whenLoaded(
        found,
        ({ rows, total }) => (
          <Events key={search} of={of} events={rows} more={rows.length < total ? found.more : null} />
        ),
        'events',
      )}
    </>
  );
}

/** @param {{ isOfProject: boolean, total: number | undefined }} props */
function Tools({ isOfProject, total }) {
  const { projects } = useSession();
  return (
    <div class="row tools">
      <QuerySearch label="Search events" placeholder="Search all recorded changes" />
      {isOfProject ? null : (
        <QueryFilter name="project" label="Project" any="All projects" options={asOptions(projects.value)} />
      )}
      <More />
      <span class="line live">live</span>
      {total === undefined ? null : <span class="muted">{counted(total, 'event')}</span>}
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

/** @param {{ of: string, events: readonly LoggedEvent[], more: (() => void) | null }} props `more`: null where all are listed */
function Events({ of, events, more }) {
  const session = useSession();
  // Events above it came while the list was looked at.
  const [newest] = useState(events[0]?.id ?? 0);
  const fresh = events.filter(({ id }) => id > newest);
  const flag = fresh[0]?.featureName ?? null;
  const may = of !== '' && session.may('flags', of);
  return (
    <>
      <p class="unseen" role="status">
        {fresh.length === 0
          ? ''
          : counted(fresh.length, 'new event') + (flag === null ? '' : `, the last about ${flag}`)}
      </p>
      {events.length === 0 ? <Empty title="Nothing found">No event matches.</Empty> : null}
      {of === '' ? null : <ProjectTimeMachine project={of} events={events} />}
      <ol class="plain events" aria-label="Events, newest first">
        {events.map((event, index) => (
          <EventItem
            key={event.id}
            event={event}
            isFresh={event.id > newest}
            // What the newest event led to is what the project is already.
            action={may && index > 0 ? restoreButton(of, event) : null}
          />
        ))}
      </ol>
      {more === null ? null : (
        <p class="more">
          <Button act={more}>Older events</Button>
        </p>
      )}
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
