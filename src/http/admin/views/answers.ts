/** Answers that several routes make alike. */
import type { DomainEvent } from '../../../domain/state/events.ts';
import { jsonReply } from '../../dispatch/json-reply.ts';
import type { ReadAnswer, RequestContext } from '../../dispatch/route.ts';

/** A read that shows several parts of the state: it waits for all of it (invariant 4). */
export function settledAnswer({ engine }: RequestContext<unknown>, value: unknown): ReadAnswer {
  return { revision: engine.lastId, reply: jsonReply(200, value) };
}

/** The event of a command that always records one of this type; what was created is known only by it. */
export function recorded<T extends DomainEvent['type']>(
  events: readonly DomainEvent[],
  type: T,
): Extract<DomainEvent, { type: T }> {
  const found = events.find((event) => event.type === type);
  if (found === undefined) throw new Error(`a command that records ${type} did not record it`);
  return found as Extract<DomainEvent, { type: T }>;
}
