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

const CACHE_SHARE = 1 / 4;

/** A process with less serves its few flags, and makes most responses anew. */
export const CACHE_BYTES_MIN = 16 * 2 ** 20;

/** What values that are derived from the state may take, as text in the heap or as bytes beside it (src/http/serving/cache.ts). */
export function cacheBytesMax(heapBytesMax: number, stateBudgetBytes: number): number {
  const stateBytes = Math.min(stateBudgetBytes, defaultMemoryBudget(heapBytesMax));
  return Math.floor(Math.max((heapBytesMax - stateBytes) * CACHE_SHARE, CACHE_BYTES_MIN));
}

/** From this share of the budget on, `/health` tells of it. */
const WARNING_SHARE = 0.9;

/** A sentence for operators when the budget is nearly used up; null while there is room. */
export function memoryWarning(stateBytes: number, budgetBytes: number): string | null {
  if (stateBytes < WARNING_SHARE * budgetBytes) return null;
  const percent = Math.round((100 * stateBytes) / budgetBytes);
  return `The state takes ${percent} % of its memory budget. Changes that make it larger are refused once it is used up.`;
}
