/**
 * How much of the process's memory the state may take. The rest is for requests and responses, for what surfaces keep of the
 * flags, and for the collector of garbage, which needs room to move things.
 */

/** What V8 sets aside for young objects as `npm start` runs it, three spaces of 64 MiB; it holds nothing that stays. */
const YOUNG_BYTES = 3 * 64 * 2 ** 20;

const STATE_SHARE = 1 / 2;

/** Of a process with hardly any memory, which serves few flags rather than none. */
const STATE_SHARE_MIN = 1 / 8;

/** `heapBytesMax` is the limit on V8's heap, `heap_size_limit` of `v8.getHeapStatistics()`. */
export function defaultMemoryBudget(heapBytesMax: number): number {
  return Math.floor(Math.max((heapBytesMax - YOUNG_BYTES) * STATE_SHARE, heapBytesMax * STATE_SHARE_MIN));
}

/** From this share of the budget on, `/health` tells of it. */
const WARNING_SHARE = 0.9;

/** A sentence for operators when the budget is nearly used up; null while there is room. */
export function memoryWarning(stateBytes: number, budgetBytes: number): string | null {
  if (stateBytes < WARNING_SHARE * budgetBytes) return null;
  const percent = Math.round((100 * stateBytes) / budgetBytes);
  return `The state takes ${percent} % of its memory budget. Changes that make it larger are refused once it is used up.`;
}
