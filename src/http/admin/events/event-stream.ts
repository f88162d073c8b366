/** The stream of recorded events (docs/specification/events.md#stream). */
import { callerName } from '../../../actors/loop-accounts.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { RequestContext, Route, StreamRoute } from '../../serving/route.ts';
import { recordedStreams } from './recorded-streams.ts';

const ID_PATTERN = /^[0-9]{1,15}$/;

/** What the client names as the last event that it knows of: a browser that comes back does so in the header. */
function knownIdIn(context: RequestContext<unknown>): number | null | Refusal {
  const header = context.header('last-event-id');
  if (ID_PATTERN.test(header)) return Number(header);
  const after = context.query('after');
  if (after === '') return null;
  if (ID_PATTERN.test(after)) return Number(after);
  return invalid(`The parameter after must be the id of an event, or 0, not "${after}".`, '/query/after');
}

const eventStreamRoute: StreamRoute = {
  kind: 'stream',
  method: 'GET',
  path: '/event-stream',
  operationId: 'streamEvents',
  tag: 'Events',
  summary: 'Hear of each event once it is recorded, as server-sent events.',
  permission: 'read',
  query: {
    after: {
      description:
        'The id of the last event that the client knows of; the header Last-Event-ID goes before it.',
      schema: { type: 'integer', minimum: 0 },
    },
  },
  success: { status: 200, schema: null },
  refusals: ['ValidationError', 'ServiceUnavailableError'],
  open: (context, isEntitled) => {
    const knownId = knownIdIn(context);
    if (isRefusal(knownId)) return knownId;
    const { engine, caller } = context;
    return recordedStreams(engine).open({ callerName: callerName(caller.actor), isEntitled, knownId });
  },
};

export const eventStreamRoutes: readonly Route[] = [eventStreamRoute];
