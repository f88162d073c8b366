/**
 * Finds events by time: times never decrease with ids, so a few frames between tell. A frame has one time and may be megabytes long, and
 * who counts the events of each day of a year asks for the same frames again and again, so the times of the last ones are cached.
 */
import assert from 'node:assert/strict';
import type { Frame } from '../journal/frame.ts';
import type { FramePlace } from '../journal/frame-reader.ts';

/** Frames whose times are cached, at some 150 bytes each: twice as many as the searches for each day of a year read. */
const TIMES_MAX = 4_096;

/** The time of a frame, in milliseconds since 1970, and its events: the first one, and the one behind the last. */
interface FrameTime {
  readonly at: number;
  readonly id: number;
  readonly endId: number;
}

interface EventTimesOptions {
  /** Throws where the event is in no segment that is kept. */
  placeOf(id: number): FramePlace;
  readFrame(id: number): Promise<Frame | null>;
}

export class EventTimes {
  readonly #options: EventTimesOptions;
  /** By place: no other frame comes to stand where one stands. */
  readonly #times = new Map<string, FrameTime>();

  constructor(options: EventTimesOptions) {
    this.#options = options;
  }

  /** The last event from `oldest` to `newest`, both included, that was made at this time or before; null where there is none. */
  async idAtOrBefore(timeMs: number, oldest: number, newest: number): Promise<number | null> {
    let low = oldest;
    let high = newest + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const { at, id, endId } = await this.#timeOf(middle);
      // All events of a frame were made at one time.
      if (at <= timeMs) low = Math.min(high, endId);
      else high = Math.max(low, id);
    }
    return low > oldest ? low - 1 : null;
  }

  async #timeOf(id: number): Promise<FrameTime> {
    const { placeOf, readFrame } = this.#options;
    const { segment, offset } = placeOf(id);
    const key = `${segment} ${offset}`;
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    const frame = await readFrame(id);
    assert(frame !== null, `event ${id} stays in the log during a search by time`);
    const time = { at: frame.at, id: frame.id, endId: frame.id + frame.events.length };
    const [oldest] = this.#times.keys();
    if (this.#times.size >= TIMES_MAX && oldest !== undefined) this.#times.delete(oldest);
    this.#times.set(key, time);
    return time;
  }
}
