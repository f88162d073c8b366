/**
 * Sends flags to all workers before they are asked for: the neighbors of one that some worker has asked for. After a start, and after a
 * change that concerns all flags, workers keep nothing that they may give; to ask for each flag of many takes a message there
 * and back, which costs as much processor time as a dozen reads.
 *
 * Only bytes that the main thread keeps anyway are sent, so that no flag takes memory which nobody has read. They stand in memory that
 * all threads share. Those of one group are sent when one is asked for after a change of all flags, and again when as many of them have
 * been asked for since as were sent. So each change of all flags costs a block of a group at most, if the flags then stay as they are for
 * a while, and beyond that no more are sent than are asked for; all of it takes half of the time at most.
 *
 * A block has the marks as they are when it is made, of state that is durable by then: what changes later raises them
 * (change-marks.ts).
 */
import type { Neighbor, Neighbors } from '../transport/transport.ts';
import { type ChangeMarks, SUBJECTS, subjectOfFlag } from './change-marks.ts';
import { FLAG_FIELDS, type FlagBlock } from './parcel.ts';

/** Fewer are not worth a message of their own. */
const FLAGS_MIN = 4;

/** What one block may take; more is left out. */
export const BLOCK_BYTES_MAX = 4 * 1024 * 1024;

/** All flags may change a thousand times a second. What is sent then is worth nothing, so nothing is, until they have stayed for so long. */
const SETTLED_MS = 50;

export interface FlagPublisherOptions {
  readonly marks: ChangeMarks;
  publish(block: FlagBlock): void;
  monotonicMs(): number;
}

/** What is known of a group. */
interface Published {
  readonly flagsMark: number;
  readonly count: number;
  /** Asked for one by one since. */
  asked: number;
}

export class FlagPublisher {
  readonly #options: FlagPublisherOptions;
  readonly #groups = new WeakMap<object, Published>();
  /** Of all flags, as it was last, and since when. */
  #flagsMark = -1;
  #sameSinceMs = 0;
  #restsUntilMs = 0;

  constructor(options: FlagPublisherOptions) {
    this.#options = options;
  }

  /** One of the group was asked for, and is on its way to who asked. */
  asked(path: string, { group, now }: Neighbors): void {
    const { marks, monotonicMs, publish } = this.#options;
    const flagsMark = marks.read(SUBJECTS.flags);
    const startedAt = monotonicMs();
    if (flagsMark !== this.#flagsMark) {
      this.#flagsMark = flagsMark;
      this.#sameSinceMs = startedAt;
    }
    const last = this.#groups.get(group);
    if (last?.flagsMark === flagsMark) {
      last.asked += 1;
      if (last.asked < Math.max(last.count, FLAGS_MIN)) return;
    }
    if (startedAt < Math.max(this.#restsUntilMs, this.#sameSinceMs + SETTLED_MS)) return;
    const block = blockOf(path, now(), marks);
    const count = block.flags.length / FLAG_FIELDS;
    this.#groups.set(group, { flagsMark, count, asked: 0 });
    if (count >= FLAGS_MIN) publish(block);
    const endedAt = monotonicMs();
    // Half of the time is for requests.
    this.#restsUntilMs = endedAt + (endedAt - startedAt);
  }
}

function blockOf(path: string, neighbors: readonly Neighbor[], marks: ChangeMarks): FlagBlock {
  const flags: (string | number)[] = [];
  const bodies: Uint8Array[] = [];
  let length = 0;
  for (const { name, etag, untilMs, body } of neighbors) {
    const end = length + body.byteLength;
    if (end > BLOCK_BYTES_MAX) continue;
    flags.push(name, etag, marks.read(subjectOfFlag(name)), untilMs, length, end);
    bodies.push(body);
    length = end;
  }
  const bytes = new SharedArrayBuffer(length);
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const body of bodies) {
    all.set(body, at);
    at += body.byteLength;
  }
  return { path, flagsMark: marks.read(SUBJECTS.flags), flags, bytes };
}
