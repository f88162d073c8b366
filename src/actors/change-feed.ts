/**
 * The feed of durable changes for its subscribers: streams to applications, caches, pages.
 *
 * Guarantees
 * - A listener gets a change when its frame is on disk, never before (invariant 4), and all changes in order.
 * - It gets a change before the response to it is sent: a cache that is read after the response to a write has
 *   the write.
 * - A listener that throws is reported and stays subscribed; the others are called as well.
 *
 * The newest changes are kept in a ring, so that a client that was away for a moment can go on from the last event it
 * saw. Listeners are called between two batches of the journal: they take notes and return. Sending the changes to
 * many clients, a turn at a time, is their own business.
 *
 * A change holds what no client may see (`hidden` in its events); subscribers remove it.
 */
import assert from 'node:assert/strict';
import { type Frame, lastEventId } from '../persistence/journal/frame.ts';

/** One command's events, with the id of the first; the others follow without a gap. */
export type Change = Omit<Frame, 'answer'>;

/** Called with the changes of one batch of the journal, oldest first; at least one. */
export type ChangeListener = (changes: readonly Change[]) => void;

/** `too-old`: events after the given one have left the ring. `not-yet`: the given event is not durable. */
export type FeedGap = 'too-old' | 'not-yet';

/**
 * Protects memory from many small changes: an object per event costs more than its bytes on disk. Ten times as many would outlive
 * two scavenges under full load, and the garbage collector would move each change twice; but at that load they are the last
 * second, and a subscriber that is that far behind reads nearly every flag in any case.
 */
export const RING_CHANGES_MAX = 1_000;

/** Protects memory from few large changes. Bytes as in the journal; most of the objects are the state's own. */
export const RING_BYTES_MAX = 16 * 1024 * 1024;

export interface ChangeFeedOptions {
  /** The last durable event when the feed begins. */
  readonly durableId: number;
  /** Told what a listener threw. Must not throw. */
  onFault(error: unknown): void;
  readonly changesMax?: number;
  readonly bytesMax?: number;
}

interface Entry {
  readonly change: Change;
  readonly bytes: number;
}

export class ChangeFeed {
  readonly #onFault: (error: unknown) => void;
  readonly #changesMax: number;
  readonly #bytesMax: number;
  readonly #listeners = new Set<ChangeListener>();
  /** Appended to the journal and not yet durable. What the journal may hold unsynced bounds it. */
  #pending: Entry[] = [];
  /** The ring. */
  readonly #entries: Entry[] = [];
  #bytes = 0;
  /** The last event before the ring. */
  #droppedId: number;
  #durableId: number;

  constructor({ durableId, onFault, changesMax, bytesMax }: ChangeFeedOptions) {
    this.#onFault = onFault;
    this.#changesMax = changesMax ?? RING_CHANGES_MAX;
    this.#bytesMax = bytesMax ?? RING_BYTES_MAX;
    assert(this.#changesMax > 0 && this.#bytesMax > 0, 'the ring has room for a change');
    this.#droppedId = durableId;
    this.#durableId = durableId;
  }

  get durableId(): number {
    return this.#durableId;
  }

  /** Changes in the ring, and their bytes in the journal. */
  get kept(): { readonly changes: number; readonly bytes: number } {
    return { changes: this.#entries.length, bytes: this.#bytes };
  }

  /** Calls `listener` with every change that becomes durable from now on. Returns what ends that. */
  subscribe(listener: ChangeListener): () => void {
    // A new function: the same listener given twice is two subscriptions.
    const own: ChangeListener = (changes) => listener(changes);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /**
   * The durable changes after event `id`, oldest first. A change that `id` lies in the middle of is among them, whole.
   * With a call of `subscribe` in the same step no change is missed or delivered twice.
   */
  since(id: number): readonly Change[] | FeedGap {
    if (id > this.#durableId) return 'not-yet';
    if (id < this.#droppedId) return 'too-old';
    const first = this.#firstAfter(id);
    assert(
      (first === this.#entries.length) === (id === this.#durableId),
      'the ring ends with the last durable event',
    );
    return this.#entries.slice(first).map(({ change }) => change);
  }

  /**
   * The changes after event `id` up to `lastId`, the newest event that the state holds, durable or not, oldest first: for whoever
   * follows the state itself and shows nothing of it before that is durable.
   */
  appliedSince(id: number, lastId: number): readonly Change[] | 'too-old' {
    const pending = this.#pending
      .map(({ change }) => change)
      .filter((change) => change.id <= lastId && lastEventId(change) > id);
    if (id >= this.#durableId) return pending;
    const durable = this.since(id);
    assert(durable !== 'not-yet', 'an event before the last durable one is durable');
    return durable === 'too-old' ? durable : [...durable, ...pending];
  }

  /** Reports a fault of a subscriber outside of a call of its listener. */
  report(error: unknown): void {
    this.#onFault(error);
  }

  /** Takes a change that was appended to the journal, `bytes` long there. Listeners do not get it yet. */
  add(change: Change, bytes: number): void {
    const last = this.#pending.at(-1)?.change;
    const lastId = last === undefined ? this.#durableId : lastEventId(last);
    assert(change.id === lastId + 1, 'the change feed takes every change, in order');
    assert(bytes > 0, 'a change takes room in the journal');
    this.#pending.push({ change, bytes });
  }

  /** Events up to `id` are on disk: their changes enter the ring and go to the listeners. */
  advance(id: number): void {
    assert(id >= this.#durableId, 'what is durable stays durable');
    const rest = this.#pending.findIndex(({ change }) => change.id > id);
    const fresh = rest === -1 ? this.#pending : this.#pending.slice(0, rest);
    const newest = fresh.at(-1);
    if (newest === undefined) return;
    const newestId = lastEventId(newest.change);
    assert(
      newestId === id,
      `the journal made event ${id} durable, a part of the change that ends at ${newestId}`,
    );
    this.#pending = rest === -1 ? [] : this.#pending.slice(rest);
    this.#durableId = id;
    for (const { bytes } of fresh) this.#bytes += bytes;
    this.#entries.push(...fresh);
    this.#dropOldest();
    if (this.#listeners.size > 0)
      tellListeners(
        this.#listeners,
        fresh.map(({ change }) => change),
        this.#onFault,
      );
  }

  #dropOldest(): void {
    const entries = this.#entries;
    let count = 0;
    for (; this.#bytes > this.#bytesMax || entries.length - count > this.#changesMax; count += 1) {
      const { change, bytes } = entries[count]!;
      assert(change.id === this.#droppedId + 1, 'changes leave the ring in the order in which they came');
      this.#bytes -= bytes;
      this.#droppedId = lastEventId(change);
    }
    assert(this.#bytes >= 0 && this.#droppedId <= this.#durableId, 'the ring gives up what it has');
    entries.splice(0, count);
  }

  /** Goes through all changes, to see that none is missing and none is counted twice; for the simulation. */
  audit(): void {
    let lastId = this.#droppedId;
    let bytes = 0;
    for (const entry of this.#entries) {
      assert(entry.change.id === lastId + 1, `the ring has event ${entry.change.id} behind event ${lastId}`);
      lastId = lastEventId(entry.change);
      bytes += entry.bytes;
    }
    assert.equal(lastId, this.#durableId, 'the ring ends with the last durable event');
    assert.equal(bytes, this.#bytes, 'the bytes of the ring');
    for (const { change } of this.#pending) {
      assert(change.id === lastId + 1, `event ${change.id} waits behind event ${lastId}`);
      lastId = lastEventId(change);
    }
  }

  /** Place of the first change with an event after `id`. */
  #firstAfter(id: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (lastEventId(this.#entries[middle]!.change) > id) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Tells all of them, though one throws. One that subscribes meanwhile has these changes already. */
export function tellListeners(
  listeners: ReadonlySet<ChangeListener>,
  changes: readonly Change[],
  onFault: (error: unknown) => void,
): void {
  for (const listener of [...listeners]) {
    try {
      listener(changes);
    } catch (error) {
      onFault(error);
    }
  }
}
