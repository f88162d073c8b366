/** The stream of recorded events (docs/specification/events.md#stream). */
import { callerName } from '../../../actors/loop-accounts.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { RequestContext, Route, StreamRoute } from '../../serving/route.ts';
import type { Told } from './recorded-news.ts';
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

type Own = Pick<StreamRoute, 'path' | 'operationId' | 'summary' | 'permission'>;

const streamRoute = (told: Told, own: Own): StreamRoute => ({
  ...own,
  kind: 'stream',
  method: 'GET',
  tag: 'Events',
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
    return recordedStreams(engine).open({ callerName: callerName(caller.actor), isEntitled, knownId, told });
  },
});

export const eventStreamRoutes: readonly Route[] = [
  streamRoute('head', {
    path: '/event-stream',
    operationId: 'streamEvents',
    summary: 'Hear of each event once it is recorded, as server-sent events.',
    permission: 'read',
  }),
  streamRoute('whole', {
    path: '/event-stream/full',
    operationId: 'streamWholeEvents',
    summary: 'Get each event once it is recorded, with its data, as server-sent events.',
    permission: 'admin',
  }),
];
