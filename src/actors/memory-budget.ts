/**
 * How V8's heap is shared out. What is kept beside the state and the cache has its own limits, which are taken off first.
 * Of the rest, half is for the state, up to a quarter for the cache, and a quarter at least for requests under way and for the
 * collector of garbage, which needs room to move things. docs/limits.md has the parts, and a test adds them.
 */

import assert from 'node:assert/strict';

/** Bytes that V8 sets aside for young objects under `npm start`: three spaces of 16 MiB, which hold nothing for long. */
export const YOUNG_BYTES = 3 * 16 * 2 ** 20;

/** Heap beside the state and the cache: responses for retries, reports, changes for streams, and others. */
export const OTHERS_BYTES = 224 * 2 ** 20;

/** Left for requests under way where an operator gives the state as much as can be. */
export const WORK_BYTES_MIN = 48 * 2 ** 20;

const STATE_SHARE = 1 / 2;

/** Bytes that the state, the cache and requests share; below zero in a process with hardly any memory. */
const sharedBytes = (heapBytesMax: number): number => heapBytesMax - YOUNG_BYTES - OTHERS_BYTES;

/** The least share for the state: a process with hardly any memory serves few flags rather than none. */
const STATE_SHARE_MIN = 1 / 8;

/** `heapBytesMax` is the limit on V8's heap, `heap_size_limit` of `v8.getHeapStatistics()`. */
export function defaultMemoryBudget(heapBytesMax: number): number {
  const bytes = Math.floor(Math.max(sharedBytes(heapBytesMax) * STATE_SHARE, heapBytesMax * STATE_SHARE_MIN));
  assert(bytes <= heapBytesMax / 2, 'the state leaves half of the heap where nobody has set a budget');
  return bytes;
}

/** The most that an operator may set: more would not fit beside everything else. */
export function memoryBudgetMax(heapBytesMax: number): number {
  const fitting = sharedBytes(heapBytesMax) - CACHE_BYTES_MIN - WORK_BYTES_MIN;
  return Math.max(fitting, defaultMemoryBudget(heapBytesMax));
}

const CACHE_SHARE = 1 / 4;

/** The size of the cache where the heap is too small for everything, but never more than CACHE_SHARE of what the state leaves. */
export const CACHE_BYTES_MIN = 48 * 2 ** 20;

/** The most bytes that values derived from the state may take, in the heap or beside it (src/actors/cache.ts). */
export function cacheBytesMax(heapBytesMax: number, stateBudgetBytes: number): number {
  const shared = sharedBytes(heapBytesMax);
  const stateBytes = Math.min(stateBudgetBytes, memoryBudgetMax(heapBytesMax));
  assert(stateBytes < heapBytesMax, 'the state leaves some of the heap');
  const fitting = Math.min(shared * CACHE_SHARE, shared - stateBytes - WORK_BYTES_MIN);
  const bytes = Math.max(fitting, Math.min(CACHE_BYTES_MIN, (heapBytesMax - stateBytes) * CACHE_SHARE));
  assert(stateBytes + bytes < heapBytesMax, 'the state and the cache leave some of the heap');
  return Math.floor(bytes);
}

/** From this share of the budget on, `/health` has a warning. */
const WARNING_SHARE = 0.9;

/** A sentence for operators when the budget is nearly used up; null while there is room. */
export function memoryWarning(stateBytes: number, budgetBytes: number): string | null {
  if (stateBytes < WARNING_SHARE * budgetBytes) return null;
  const percent = Math.round((100 * stateBytes) / budgetBytes);
  return `The state takes ${percent} % of its memory budget. Changes that make it larger are refused once it is used up.`;
}
