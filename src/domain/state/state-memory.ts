/**
 * The memory that the state would take after a restart, kept up to date by whoever puts a record into the state, replaces it or
 * takes it out. Derived, so it is in no snapshot.
 */
import { memoryGrowth, memorySize } from '../json/memory-size.ts';
import { addPair, isRecording } from './reversible.ts';

/** Bytes of the record itself, its key and its places in the maps that lead to it. */
const RECORD_BYTES = 250;

export class StateMemory {
  #bytes = 0;

  /** Bytes of all records. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `before` is null for a record that is new, `after` for one that is gone. Returns by how much the state has grown. */
  replace(before: unknown, after: unknown): number {
    const growth = growthOf(before, after);
    this.add(growth);
    return growth;
  }

  /** A record of that size, as `recordSize` counts, comes, or goes where it is negative: what is large need not be looked at for that. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes === 0 || !isRecording()) return;
    addPair(
      () => this.add(-bytes),
      () => this.add(bytes),
    );
  }

  clear(): void {
    this.#bytes = 0;
  }
}

function growthOf(before: unknown, after: unknown): number {
  if (before === null) return recordSize(after);
  return after === null ? -recordSize(before) : memoryGrowth(before, after);
}

export const recordSize = (record: unknown): number => RECORD_BYTES + memorySize(record);
