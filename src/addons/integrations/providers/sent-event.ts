/** The event as receivers get it: as in the event search, unless it is too large. */
import type { LoggedEvent } from '../../../persistence/event-log/logged-event.ts';
import { BODY_BYTES_MAX } from './template.ts';

export interface SentEvent {
  readonly event: LoggedEvent & { readonly truncated?: true };
  readonly json: string;
}

/** Leaves `data` and `preData` out, and says so, where the event would be larger than a body may be. */
export function sentEvent(event: LoggedEvent): SentEvent {
  const json = JSON.stringify(event);
  if (Buffer.byteLength(json) <= BODY_BYTES_MAX) return { event, json };
  const cut = { ...event, data: null, preData: null, truncated: true } as const;
  return { event: cut, json: JSON.stringify(cut) };
}
