/** Equal parts of what is read from disk become one: by all states that this process loads, of which a server has one. */
import type { Flag } from '../../domain/flags/flag.ts';
import type { RecordedEvent } from '../../domain/state/recorded-event.ts';
import { SharedParts } from './shared-parts.ts';
import { SharedStrings } from './shared-strings.ts';

const strings = new SharedStrings();
const parts = new SharedParts();

/** To be called with a flag that was just decoded, and that nobody else refers to. */
export function shareInFlag({ environments }: Flag): void {
  strings.shareIn(environments);
  parts.shareIn(environments);
}

/** To be called with the events of a frame before they are applied. */
export function shareInEvents(events: readonly RecordedEvent[]): void {
  for (const { data, hidden } of events) {
    parts.shareIn(data);
    parts.shareIn(hidden);
  }
}
