/**
 * All that a query shows at one moment, as one event for clients that have nothing yet, or too little. It refers to the state as it
 * was then, and its bytes are made in parts, each when a client has room for it.
 */
import type { ShelvedFlags } from '../../../domain/state/flag-record.ts';
import { passes } from '../../serving/flag-filter.ts';
import type { ClientQuery } from '../documents/client-query.ts';
import type { FlagBlocks } from '../documents/flag-blocks.ts';
import type { FlagSurroundings } from '../documents/flag-view.ts';

/** Small beside what the kernel takes for one client, and large enough to be worth a call. */
const PART_CHARACTERS = 64 * 1024;

/** Flags that are looked at for one part, which is empty where the query shows none of them. */
const LOOKS_A_PART = 2_000;

/** The flag with which a part begins. */
export interface HydrationPosition {
  readonly shelf: number;
  readonly at: number;
  /** Whether a flag stands before it. */
  readonly isFirst: boolean;
}

export const HYDRATION_START: HydrationPosition = { shelf: 0, at: 0, isFirst: true };

export interface HydrationPart {
  readonly bytes: Uint8Array;
  /** Null: this is the last part. */
  readonly next: HydrationPosition | null;
}

export interface HydrationOptions {
  /** The id of the newest event that it shows. */
  readonly id: number;
  readonly query: ClientQuery;
  readonly shelves: readonly ShelvedFlags[];
  /** The segments as JSON. */
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
    const { shelves, segments } = this.#options;
    const { texts, shelf, at } = this.#textsFrom(position);
    const isFirst = position.isFirst && texts.length === 0;
    const isBeginning = position.shelf === 0 && position.at === 0;
    const head = isBeginning ? `{"type":"hydration","eventId":${this.id},"features":[` : '';
    const separator = position.isFirst || texts.length === 0 ? '' : ',';
    const isLast = shelf >= shelves.length;
    const tail = isLast ? `],"segments":[${segments.join(',')}]}` : '';
    const bytes = Buffer.from(head + separator + texts.join(',') + tail);
    return { bytes, next: isLast ? null : { shelf, at, isFirst } };
  }

  /** The flags of one part, and where the next one begins. */
  #textsFrom({ shelf: firstShelf, at: firstAt }: HydrationPosition) {
    const { shelves, query, blocks, around } = this.#options;
    const texts: string[] = [];
    let [shelf, at, characters] = [firstShelf, firstAt, 0];
    for (let looks = 0; looks < LOOKS_A_PART && characters < PART_CHARACTERS; looks += 1) {
      const shelved = shelves[shelf];
      if (shelved === undefined) break;
      const flag = shelved.flagAt(at);
      if (flag.archivedAt === null && passes(query, flag)) {
        const { json } = blocks.at(shelved.records[at]!, flag, around);
        texts.push(json);
        characters += json.length;
      }
      at += 1;
      if (at === shelved.records.length) [shelf, at] = [shelf + 1, 0];
    }
    return { texts, shelf, at };
  }
}
