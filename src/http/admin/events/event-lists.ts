/** Routes that list all events, the events of one flag, and the types of events. */
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';
import type { EventQuery } from '../../../persistence/event-log/event-log.ts';
import { type RequestContext, type Route, readRoute } from '../../serving/route.ts';
import { pageParameters } from '../requests/page-parameters.ts';
import { EventTypesSchema, FlagEventsSchema } from '../schemas/directory-schemas.ts';
import { EventsSchema } from '../schemas/schemas.ts';
import { settledResponse } from '../views/responses.ts';
import { EVENTS_LIMIT_MAX, readEvents } from './events.ts';

const PAGE = pageParameters({
  limitMax: EVENTS_LIMIT_MAX,
  limit: 'The maximum number of events.',
  offset: 'Id of the event to start from, going to older events; 0 starts at the newest.',
  offsetPhrase: 'an event id, or 0 for the newest',
});

type ListRoute = Omit<
  Parameters<typeof readRoute>[0],
  'method' | 'tag' | 'permission' | 'refusals' | 'read'
> & {
  scope(context: RequestContext<unknown>): Pick<EventQuery, 'project' | 'feature'>;
  /** What the response names besides the events. */
  more?(context: RequestContext<unknown>): Readonly<Record<string, string>>;
};

function listRoute({ scope, more, query, ...route }: ListRoute): Route {
  return readRoute({
    ...route,
    method: 'GET',
    tag: 'Events',
    permission: 'read',
    query: { ...query, ...PAGE.parameters },
    refusals: ['ValidationError'],
    read: (context) => {
      const page = PAGE.of(context);
      return isRefusal(page) ? page : readEvents(context, { ...scope(context), ...page }, more?.(context));
    },
  });
}

export const eventListRoutes: readonly Route[] = [
  listRoute({
    path: '/events',
    operationId: 'getEvents',
    summary: 'List the events, newest first.',
    query: { project: { description: 'Id of the project whose events are listed.' } },
    success: { status: 200, schema: EventsSchema },
    scope: (context) => {
      const project = context.query('project');
      return project === '' ? {} : { project };
    },
  }),
  listRoute({
    path: '/events/:featureName',
    operationId: 'getEventsForToggle',
    summary: 'List the events of a flag, newest first, even of a deleted flag.',
    success: { status: 200, schema: FlagEventsSchema },
    scope: ({ params }) => ({ feature: params.featureName }),
    more: ({ params }) => ({ toggleName: params.featureName }),
  }),
  readRoute({
    method: 'GET',
    path: '/event-types',
    operationId: 'getEventTypes',
    tag: 'Events',
    summary: 'List the types that events can have.',
    permission: 'read',
    success: { status: 200, schema: EventTypesSchema },
    read: (context) => settledResponse(context, { version: 1, types: EVENT_TYPES }),
  }),
];
