/** Routes that list all events, the events of one flag, and the types of events. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { etagOf } from '../../dispatch/etag.ts';
import { taggedReply } from '../../dispatch/json-reply.ts';
import { type ReadAnswer, type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import { EventTypesSchema, FlagEventsSchema } from '../schemas/directory-schemas.ts';
import { EventsSchema } from '../schemas/schemas.ts';
import { settledAnswer } from '../views/answers.ts';
import { EVENTS_LIMIT_MAX, EVENTS_VERSION } from './events.ts';

interface Page {
  readonly limit: number;
  readonly offset: number;
}

const PAGE_PARAMETERS = {
  limit: {
    description: 'The maximum number of events.',
    schema: { type: 'integer', minimum: 1, maximum: EVENTS_LIMIT_MAX },
  },
  offset: {
    description: 'Id of the event to start from, going to older events; 0 starts at the newest.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

/** `limit` and `offset` of the query string, with the meaning they have in the search. */
function pageOf(context: RequestContext<unknown>): Page | Refusal {
  const limit = integerOf(context.query('limit'), EVENTS_LIMIT_MAX);
  if (limit === null || limit < 1 || limit > EVENTS_LIMIT_MAX) {
    return invalid(
      `The query parameter limit must be an integer from 1 to ${EVENTS_LIMIT_MAX}.`,
      '/query/limit',
    );
  }
  const offset = integerOf(context.query('offset'), 0);
  if (offset !== null) return { limit, offset };
  return invalid('The query parameter offset must be an event id, or 0 for the newest.', '/query/offset');
}

/** Null unless the text is an integer that a double holds exactly. */
function integerOf(text: string, absent: number): number | null {
  if (text === '') return absent;
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

interface Scope {
  readonly project?: string;
  readonly feature?: string;
}

async function eventsAnswer(
  context: RequestContext<unknown>,
  scope: Scope,
  extra: object,
): Promise<ReadAnswer | Refusal> {
  const page = pageOf(context);
  if (isRefusal(page)) return page;
  const revision = context.engine.durableId;
  const found = await context.engine.eventLog.search({ ...scope, ...page }, revision);
  if (isRefusal(found)) return found;
  const etag = etagOf(context.world, revision);
  return {
    revision,
    reply: taggedReply(etag, JSON.stringify({ version: EVENTS_VERSION, ...extra, ...found })),
  };
}

export const eventListRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/events',
    operationId: 'getEvents',
    tag: 'Events',
    summary: 'List the events, newest first.',
    permission: 'read',
    query: { project: { description: 'Id of the project whose events are listed.' }, ...PAGE_PARAMETERS },
    success: { status: 200, schema: EventsSchema },
    refusals: ['ValidationError'],
    read: (context) => {
      const project = context.query('project');
      return eventsAnswer(context, project === '' ? {} : { project }, {});
    },
  }),
  readRoute({
    method: 'GET',
    path: '/events/:featureName',
    operationId: 'getEventsForToggle',
    tag: 'Events',
    summary: 'List the events of a flag, newest first, even of a deleted flag.',
    permission: 'read',
    query: PAGE_PARAMETERS,
    success: { status: 200, schema: FlagEventsSchema },
    refusals: ['ValidationError'],
    read: (context) => {
      const { featureName } = context.params;
      return eventsAnswer(context, { feature: featureName }, { toggleName: featureName });
    },
  }),
  readRoute({
    method: 'GET',
    path: '/event-types',
    operationId: 'getEventTypes',
    tag: 'Events',
    summary: 'List the types that events can have.',
    permission: 'read',
    success: { status: 200, schema: EventTypesSchema },
    read: (context) => settledAnswer(context, { version: 1, types: EVENT_TYPES }),
  }),
];
