/** Responses that several routes share. */
import type { DomainEvent } from '../../../domain/state/events.ts';
import { recordEtag } from '../../serving/etag.ts';
import { jsonResponse, taggedResponse } from '../../serving/json-response.ts';
import type { ReadResponse, RequestContext } from '../../serving/route.ts';

/** The response to a read of several parts of the state, which waits for all of the state (invariant 4). */
export function settledResponse({ engine }: RequestContext<unknown>, value: unknown): ReadResponse {
  return { revision: engine.lastId, response: jsonResponse(200, value) };
}

/** The same about one record, with an ETag by which a write may pin it. */
export function pinnedResponse(
  { engine }: RequestContext<unknown>,
  record: object,
  value: unknown,
): ReadResponse {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return { revision: engine.lastId, response: taggedResponse(recordEtag(record, body), body) };
}

/** The event of this type, which the command always records. Only the event says what was created. */
export function recorded<T extends DomainEvent['type']>(
  events: readonly DomainEvent[],
  type: T,
): Extract<DomainEvent, { type: T }> {
  const found = events.find((event) => event.type === type);
  if (found === undefined) throw new Error(`a command that records ${type} did not record it`);
  return found as Extract<DomainEvent, { type: T }>;
}
