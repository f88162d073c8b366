/** The stream of recorded events (docs/specification/events.md#stream). */
import { callerName } from '../../../actors/loop-accounts.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { World } from '../../../domain/state/world.ts';
import type { Caller } from '../../serving/access.ts';
import type { RequestContext, Route, StreamRoute } from '../../serving/route.ts';
import { worldSeenBy } from '../../serving/visible-world.ts';
import { isForAllReaders, projectOfSegment, seesCredentials } from './events.ts';
import type { IsHeard, Told } from './recorded-news.ts';
import { recordedStreams } from './recorded-streams.ts';

const ID_PATTERN = /^[0-9]{1,15}$/;

/** The last event that the client says it has seen. A browser that reconnects says so in the header. */
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
  open: (context, whoCalls) => {
    const knownId = knownIdIn(context);
    if (isRefusal(knownId)) return knownId;
    const { engine, caller } = context;
    const rights = (): IsHeard | 'nothing' => {
      const now = whoCalls();
      return now === null ? 'nothing' : heardBy(engine.world, now);
    };
    return recordedStreams(engine).open({ callerName: callerName(caller.actor), rights, knownId, told });
  },
});

/** The events that the caller would find by a search. */
function heardBy(world: World, caller: Caller): IsHeard {
  const seen = worldSeenBy(world, caller);
  const mayHear = seesCredentials(world, caller) ? () => true : isForAllReaders;
  const sees = (project: string | null): boolean =>
    project === null || seen.projects.has(project) || !world.projects.has(project);
  return seen === world && seesCredentials(world, caller)
    ? null
    : (event) => mayHear(event.type) && sees(event.project ?? projectOfSegment(event));
}

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
