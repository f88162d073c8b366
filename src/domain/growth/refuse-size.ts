/** Bounds what is one record of the state, in bytes. */
import { jsonSize } from '../json/json.ts';
import { type Refusal, refuse } from '../state/refusal.ts';

/** Refuses what takes more than `bytesMax` as JSON. `what` opens the sentence: `The segment "x"`. */
export function refuseLargerThan(bytesMax: number, what: string, value: unknown): Refusal | null {
  const size = jsonSize(value);
  if (size <= bytesMax) return null;
  return refuse(
    'PayloadTooLargeError',
    `${what} would take about ${Math.ceil(size / 1024)} KiB; it may take ${bytesMax / 1024} KiB.`,
  );
}
