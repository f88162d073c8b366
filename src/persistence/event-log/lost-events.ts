/** The events of the log that a repair has declared lost (journal/declared-gap.ts). Nobody knows which filters they match. */
import { EVENT_LOST } from '../../domain/state/events.ts';
import type { EventIndex } from './event-index.ts';
import { NO_NAME } from './name-table.ts';

/** Both included. */
interface EventRange {
  readonly from: number;
  readonly to: number;
}

/** Steps along the list between two turns of the event loop: a millisecond or two. */
const STEPS_PER_SLICE = 50_000;

export class LostEvents {
  readonly #index: EventIndex;
  /** Newest first, for as long as so many events are lost: retention lowers the number. */
  #ranges: readonly EventRange[] = [];
  #rangesCount = 0;

  constructor(index: EventIndex) {
    this.#index = index;
  }

  /** 0 until the index is whole. */
  get count(): number {
    return this.#index.isWhole ? this.#index.lists.count('type', this.#code) : 0;
  }

  /** The newest of them; 0 for none. */
  get newestId(): number {
    return this.count === 0 ? 0 : this.#index.lists.walk('type', this.#code).id;
  }

  /** How many of the events from `from` to `to`, both included, are lost. */
  async countWithin({ from, to }: EventRange, pause: () => Promise<void>): Promise<number> {
    if (this.count !== this.#rangesCount) await this.#readRanges(pause);
    const lengths = this.#ranges.map((range) => Math.min(range.to, to) - Math.max(range.from, from) + 1);
    return lengths.reduce((sum, length) => sum + Math.max(0, length), 0);
  }

  get #code(): number {
    return this.#index.names.types.find(EVENT_LOST) ?? NO_NAME;
  }

  async #readRanges(pause: () => Promise<void>): Promise<void> {
    const { count } = this;
    const ranges: { from: number; readonly to: number }[] = [];
    const walk = this.#index.lists.walk('type', this.#code);
    for (let steps = 1; walk.id > 0; steps += 1, walk.toOlder()) {
      const newer = ranges.at(-1);
      if (newer?.from === walk.id + 1) newer.from = walk.id;
      else ranges.push({ from: walk.id, to: walk.id });
      if (steps % STEPS_PER_SLICE === 0) await pause();
    }
    this.#ranges = ranges;
    this.#rangesCount = count;
  }
}
