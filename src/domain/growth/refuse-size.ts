/** Bounds what is one record of the state, and what one change says of others, in bytes. */
import { jsonSize } from '../json/json.ts';
import type { DomainEvent } from '../state/events.ts';
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

/** More would hold the event loop for too long: a user may be in 1,000 groups, whose events take 16 KiB each. */
const RELATED_BYTES_MAX = 256 * 1024;

/**
 * The events of what follows a deletion, such as the tokens of a project: those of the first 256 KiB. What the others would
 * say happens all the same (NAMES_GO_WITH_DELETED), so that no deletion is ever too large.
 */
export function relatedEvents<T>(
  subjects: Iterable<T>,
  eventsOf: (subject: T) => readonly DomainEvent[],
): DomainEvent[] {
  const events: DomainEvent[] = [];
  let bytes = 0;
  for (const subject of subjects) {
    const related = eventsOf(subject);
    bytes += jsonSize(related);
    if (bytes > RELATED_BYTES_MAX) break;
    events.push(...related);
  }
  return events;
}
