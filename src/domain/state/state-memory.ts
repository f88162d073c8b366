/** The memory that records of the state would take after a restart, when nothing is shared. */
import { memoryGrowth, memorySize } from '../json/memory-size.ts';

/** Bytes of the record itself, its key and its places in the maps that lead to it. */
const RECORD_BYTES = 250;

export const recordSize = (record: unknown): number => RECORD_BYTES + memorySize(record);

/** By how many bytes a record grows. `before` is null for a new one, `after` for a removed one. */
export function growthOf(before: unknown, after: unknown): number {
  if (before === null) return recordSize(after);
  return after === null ? -recordSize(before) : memoryGrowth(before, after);
}
