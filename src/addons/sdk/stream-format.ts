/** The formats of streams: the same updates, worded for each kind of client. */

import type { FlagChunk } from '../../domain/state/project-flags.ts';
import { passes } from '../../http/serving/flag-filter.ts';
import { EVENT_END, eventHead, KEEP_ALIVE } from '../../http/serving/server-sent-events.ts';
import type { ClientQuery } from './client-query.ts';
import { onceEach } from './evaluation/once-each.ts';
import type { FlagSurroundings } from './flag-view.ts';
import type { FlagBlocks } from './json-blocks.ts';
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
  /** The bytes of an update, equal for every stream. */
  update(update: WatchUpdate): Uint8Array;
}

/** Each message is made once, for all streams. */
const messagesOf = (make: (update: WatchUpdate) => string): StreamFormat['update'] =>
  onceEach((update) => Buffer.from(make(update)));

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
  update: messagesOf(
    ({ id, changes }) => `${eventHead('unleash-updated', id)}{"events":[${changes}]}${EVENT_END}`,
  ),
};

const refetch = (id: number): string => `${eventHead(null, id)}{"type":"refetchEvaluation"}${EVENT_END}`;

const refetches = messagesOf(({ id }) => refetch(id));

/**
 * For OpenFeature clients, which evaluate again when notified of a change: at once too, since it may have
 * changed before the stream was open.
 */
export const REFETCH_FORMAT: StreamFormat = {
  isForPages: true,
  start: (id) => [Buffer.from(refetch(id))],
  resume: (missed) => [missed.length === 0 ? KEEP_ALIVE : refetches(missed.at(-1)!)],
  update: refetches,
};

// All that a query shows at one moment, as one event for clients that have nothing yet, or too little. It refers to the state as it
// was then, and its bytes are made in parts, each when a client has room for it.

/** Small beside what the kernel takes for one client, and large enough to be worth a call. */
const PART_CHARACTERS = 64 * 1024;

/** Flags that are looked at for one part, which is empty where the query shows none of them. */
const LOOKS_A_PART = 2_000;

export interface HydrationPosition {
  readonly chunk: number;
  readonly at: number;
  /** Whether a flag stands before it. */
  readonly isFirst: boolean;
}

export const HYDRATION_START: HydrationPosition = { chunk: 0, at: 0, isFirst: true };

export interface HydrationPart {
  readonly bytes: Uint8Array;
  /** Null: this is the last part. */
  readonly next: HydrationPosition | null;
}

export interface HydrationOptions {
  readonly id: number;
  readonly query: ClientQuery;
  readonly chunks: readonly FlagChunk[];
  readonly segments: readonly string[];
  readonly blocks: FlagBlocks;
  readonly around: FlagSurroundings;
}

let serials = 0;

export class Hydration {
  readonly id: number;
  /** Tells it from all others of the process. */
  readonly serial = ++serials;
  readonly #options: HydrationOptions;

  constructor(options: HydrationOptions) {
    this.id = options.id;
    this.#options = options;
  }

  /** All parts together are one JSON object. */
  part(position: HydrationPosition): HydrationPart {
    const { chunks, segments } = this.#options;
    const { texts, chunk, at } = this.#textsFrom(position);
    const isFirst = position.isFirst && texts.length === 0;
    const isBeginning = position.chunk === 0 && position.at === 0;
    const head = isBeginning ? `{"type":"hydration","eventId":${this.id},"features":[` : '';
    const separator = position.isFirst || texts.length === 0 ? '' : ',';
    const isLast = chunk >= chunks.length;
    const tail = isLast ? `],"segments":[${segments.join(',')}]}` : '';
    const bytes = Buffer.from(head + separator + texts.join(',') + tail);
    return { bytes, next: isLast ? null : { chunk, at, isFirst } };
  }

  #textsFrom({ chunk: firstChunk, at: firstAt }: HydrationPosition) {
    const { chunks, query, blocks, around } = this.#options;
    const texts: string[] = [];
    let [chunk, at, characters] = [firstChunk, firstAt, 0];
    for (let looks = 0; looks < LOOKS_A_PART && characters < PART_CHARACTERS; looks += 1) {
      const records = chunks[chunk]?.values;
      if (records === undefined) break;
      const record = records[at]!;
      if (record.flag.archivedAt === null && passes(query, record.flag)) {
        const { json } = blocks.of(record, around);
        texts.push(json);
        characters += json.length;
      }
      at += 1;
      if (at === records.length) [chunk, at] = [chunk + 1, 0];
    }
    return { texts, chunk, at };
  }
}
