/**
 * The events behind a cursor that an integration wants, one after the other: from the ring of the change feed where it has them, and
 * otherwise from the journal, a page at a time.
 */
import type { Change } from '../../actors/change-feed.ts';
import type { Engine } from '../../actors/engine.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { type LoggedEvent, toLoggedEvent } from '../../persistence/event-log/logged-event.ts';
import type { Integration } from './integration.ts';

/** An event, or how far the cursor may go without one. */
export type Next =
  | { readonly kind: 'event'; readonly event: LoggedEvent }
  | { readonly kind: 'passed'; readonly eventId: number }
  /** Events up to this one have left the journal. */
  | { readonly kind: 'removed'; readonly eventId: number }
  /** The start still reads the journal. */
  | { readonly kind: 'unread' };

/** Events looked at in a turn: some tenths of a millisecond. */
const EVENTS_PER_TURN = 2_000;

/** Events of a page from the journal, and the characters of their JSON after which it ends. */
const PAGE_EVENTS_MAX = 100;
const PAGE_LENGTH_MAX = 256 * 1024;

export type SourceEngine = Pick<Engine, 'durableId' | 'feed' | 'eventLog'>;

/** Whether the integration asks for the event. */
export function wants(
  { enabled, events, projects, environments }: Integration,
  event: RecordedEvent,
): boolean {
  return (
    enabled &&
    events.includes(event.type) &&
    isAmong(projects, event.project) &&
    isAmong(environments, event.environment)
  );
}

const isAmong = (names: readonly string[], name: string | null): boolean =>
  name === null || names.length === 0 || names[0] === '*' || names.includes(name);

/** A page read from the journal: events behind `after`, and all that are wanted up to `to`. */
interface Page {
  readonly integration: Integration;
  readonly after: number;
  readonly events: readonly LoggedEvent[];
  readonly to: number;
}

interface ReadOptions {
  /** Whether one event is enough: those behind it would be dropped when the attempt fails. */
  readonly isOne: boolean;
  readonly signal: AbortSignal;
}

/** Reads of all integrations; one page is read at a time, because frames are large. */
export class EventReads {
  readonly #engine: SourceEngine;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(engine: SourceEngine) {
    this.#engine = engine;
  }

  get durableId(): number {
    return this.#engine.durableId;
  }

  /** Looks at events of the ring; null where it has not all of them. */
  fromRing(after: number, integration: Integration): Next | null {
    const changes = this.#engine.feed.since(after);
    if (typeof changes === 'string') return null;
    let left = EVENTS_PER_TURN;
    for (const [id, change] of eventsOf(changes, after)) {
      if (wants(integration, change.events[id - change.id]!))
        return { kind: 'event', event: toLoggedEvent(change, id) };
      left -= 1;
      if (left === 0) return { kind: 'passed', eventId: id };
    }
    return { kind: 'passed', eventId: this.durableId };
  }

  page(after: number, integration: Integration, options: ReadOptions): Promise<Page> {
    const read = this.#reading.then(() => this.#page(after, integration, options));
    this.#reading = read.catch(() => undefined);
    return read;
  }

  async #page(after: number, integration: Integration, { isOne, signal }: ReadOptions): Promise<Page> {
    const to = this.durableId;
    const events: LoggedEvent[] = [];
    let length = 0;
    const walk = { from: after + 1, to, anyOf: [{ type: integration.events }], signal };
    for await (const { id, frame, event } of this.#engine.eventLog.iterate(walk)) {
      if (!wants(integration, event)) continue;
      const logged = toLoggedEvent(frame, id);
      events.push(logged);
      length += JSON.stringify(logged).length;
      if (isOne || events.length === PAGE_EVENTS_MAX || length >= PAGE_LENGTH_MAX)
        return { integration, after, events, to: id };
    }
    return { integration, after, events, to };
  }

  /** The last event before the oldest that is kept; null where the journal is still being read. */
  get removedId(): number | null {
    const { eventLog } = this.#engine;
    return eventLog.isWhole ? eventLog.oldestId(this.durableId) - 1 : null;
  }

  /**
   * Gives `look` the events behind `after` that are in the ring, some `max` of them. Returns the last that was looked at; null where
   * the ring does not have all of them.
   */
  scan(after: number, max: number, look: (id: number, event: RecordedEvent) => void): number | null {
    const changes = this.#engine.feed.since(after);
    if (typeof changes === 'string') return null;
    let left = max;
    for (const [id, change] of eventsOf(changes, after)) {
      look(id, change.events[id - change.id]!);
      left -= 1;
      if (left === 0) return id;
    }
    return this.durableId;
  }
}

/** The events behind `after`, by id, with the change that each is of. */
function* eventsOf(
  changes: readonly Change[],
  after: number,
): Generator<readonly [id: number, change: Change]> {
  for (const change of changes) {
    const end = change.id + change.events.length;
    for (let id = Math.max(change.id, after + 1); id < end; id += 1) yield [id, change];
  }
}

/** The events of one integration. */
export class EventSource {
  readonly #reads: EventReads;
  #page: Page | null = null;

  constructor(reads: EventReads) {
    this.#reads = reads;
  }

  /** The first wanted event after `after`. */
  async next(after: number, integration: Integration, options: ReadOptions): Promise<Next> {
    const fromRing = this.#reads.fromRing(after, integration);
    if (fromRing !== null) {
      this.#page = null;
      return fromRing;
    }
    const { removedId } = this.#reads;
    if (removedId === null) return { kind: 'unread' };
    if (after < removedId) return { kind: 'removed', eventId: removedId };
    let page = this.#page;
    if (page === null || page.integration !== integration || after < page.after || after >= page.to)
      page = await this.#reads.page(after, integration, options);
    this.#page = page;
    const event = page.events.find(({ id }) => id > after);
    return event === undefined ? { kind: 'passed', eventId: page.to } : { kind: 'event', event };
  }

  /** Gives up what was read: a receiver that is away holds no memory. */
  drop(): void {
    this.#page = null;
  }
}
