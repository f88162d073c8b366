/** Pages of events come as JSON; tests look at the events. */
import type { EventPage } from '../../src/persistence/event-log/event-page.ts';
import type { LoggedEvent } from '../../src/persistence/event-log/logged-event.ts';

export function eventsOf({ json }: EventPage): readonly LoggedEvent[] {
  return JSON.parse(Buffer.from(json).toString()) as LoggedEvent[];
}
