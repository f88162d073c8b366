/** The formats of streams: the same updates, worded for each kind of client. */
import { ResponseHeaders } from '../../transport/response-headers.ts';
import type { WatchUpdate } from './watch-log.ts';

export interface StreamFormat {
  /** Whether pages open such streams, of which there can be any number. */
  readonly isForPages: boolean;
  /**
   * The messages for a client that has seen nothing yet, or too little: all that the query shows, and the updates
   * that it `missed` since that moment. `id`: the newest event that the two show. Each piece is made when it is asked
   * for.
   */
  start(id: number, hydration: Iterable<Uint8Array>, missed: readonly WatchUpdate[]): Iterable<Uint8Array>;
  /** The messages for a client that reconnects and has missed these updates. */
  resume(missed: readonly WatchUpdate[]): readonly Uint8Array[];
  /** The same bytes for every stream. */
  update(update: WatchUpdate): Uint8Array;
}

/** Made once for each update. */
class UpdateMessages {
  readonly #made = new WeakMap<WatchUpdate, Uint8Array>();
  readonly #make: (update: WatchUpdate) => string;

  constructor(make: (update: WatchUpdate) => string) {
    this.#make = make;
  }

  of(update: WatchUpdate): Uint8Array {
    let message = this.#made.get(update);
    if (message === undefined) {
      message = Buffer.from(this.#make(update));
      this.#made.set(update, message);
    }
    return message;
  }
}

const updates = new UpdateMessages(
  ({ id, changes }) => `${eventHead('unleash-updated', id)}{"events":[${changes}]}${EVENT_END}`,
);

/** For server-side SDKs and Unleash Edge: first all flags, then what changes. */
export const DELTA_FORMAT: StreamFormat = {
  isForPages: false,
  *start(id, hydration, missed) {
    yield Buffer.from(`${eventHead('unleash-connected', id)}{"events":[`);
    yield* hydration;
    for (const { changes } of missed) yield Buffer.from(`,${changes}`);
    yield Buffer.from(`]}${EVENT_END}`);
  },
  resume(missed) {
    const last = missed.at(-1);
    if (last === undefined) return [KEEP_ALIVE];
    const changes = missed.map(({ changes }) => changes).join(',');
    return [Buffer.from(`${eventHead('unleash-connected', last.id)}{"events":[${changes}]}${EVENT_END}`)];
  },
  update: (update) => updates.of(update),
};

const refetch = (id: number): string => `${eventHead(null, id)}{"type":"refetchEvaluation"}${EVENT_END}`;

const refetches = new UpdateMessages(({ id }) => refetch(id));

/**
 * For OpenFeature clients, which evaluate again when they are told that something has changed: at once too, since it may have
 * changed before the stream was open.
 */
export const REFETCH_FORMAT: StreamFormat = {
  isForPages: true,
  start: (id) => [Buffer.from(refetch(id))],
  resume: (missed) => [missed.length === 0 ? KEEP_ALIVE : refetches.of(missed.at(-1)!)],
  update: (update) => refetches.of(update),
};

// The format of server-sent events (WHATWG HTML, section 9.2). Data is JSON in one line, which has no line ends.

/** Nobody on the way may keep it, or collect it before passing it on; nginx reads the last one. */
export const EVENT_STREAM_HEADERS = ResponseHeaders.of(
  ...['content-type', 'text/event-stream'],
  ...['cache-control', 'no-cache'],
  ...['x-content-type-options', 'nosniff'],
  ...['x-accel-buffering', 'no'],
);

/** A comment, which clients ignore: it shows that the connection is alive. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

/** Everything of an event that comes before its data. `name` is null for an event without one. */
export function eventHead(name: string | null, id: number): string {
  return `${name === null ? '' : `event: ${name}\n`}id: ${id}\ndata: `;
}

export const EVENT_END = '\n\n';
