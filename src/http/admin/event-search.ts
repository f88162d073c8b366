/** The search of the event log by query parameters (docs/specification/events.md#search-by-parameters). */

import * as v from 'valibot';
import { shown } from '../../domain/json/issues.ts';
import { Integer, titled, Version } from '../../domain/json/schema.ts';
import { withFields } from '../../domain/kinds/kind.ts';
import { SYSTEM } from '../../domain/state/decision.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { EventQuery } from '../../persistence/event-log/event-filter.ts';
import { API_TOKEN_USER_ID, authorNames, authorOf } from '../serving/access.ts';
import { type RequestContext, type RouteDraft, readRoute, underTag } from '../serving/route.ts';
import { EVENTS_LIMIT_MAX, eventPage, readEvents } from './events.ts';
import {
  type Condition,
  conditionParameter,
  conditionsOf,
  dayOf,
  pageParameters,
} from './query-parameters.ts';
import { EventSchema, EventsSchema, NextOffset } from './schemas.ts';

const EventCreatorsSchema = v.array(titled('EventCreator', { id: Integer, name: v.string() }));

const EventTypesSchema = titled('EventTypes', {
  version: Version,
  types: v.array(v.picklist(EVENT_TYPES)),
});

const FlagEventsSchema = titled('FlagEvents', { ...EventsSchema.entries, toggleName: v.string() });

const FoundEventsSchema = titled('FoundEvents', {
  events: v.array(EventSchema),
  total: v.pipe(v.number(), v.integer(), v.description('All that match, whatever the page.')),
  nextOffset: NextOffset,
});

const PAGE = pageParameters({
  limitMax: 1000,
  limitInitial: 50,
  limit: 'The maximum number of events; 50 unless it is sent.',
  offset: 'How many of the newest events to pass over.',
});

const ONE_OR_ANY = ['IS', 'IS_ANY_OF'] as const;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The conditions of all ways to read events by query parameters. */
export const EVENT_OPERATORS = {
  type: ONE_OR_ANY,
  project: ONE_OR_ANY,
  feature: ONE_OR_ANY,
  environment: ONE_OR_ANY,
} as const;

export const EVENT_PARAMETERS = {
  type: conditionParameter('Type of the event', ONE_OR_ANY),
  project: conditionParameter('Id of the project', ONE_OR_ANY),
  feature: conditionParameter('Name of the flag', ONE_OR_ANY),
  environment: conditionParameter('Name of the environment', ONE_OR_ANY),
};

const OPERATORS = {
  ...EVENT_OPERATORS,
  createdBy: ONE_OR_ANY,
  id: ONE_OR_ANY,
  groupId: ONE_OR_ANY,
  from: ['IS'],
  to: ['IS'],
} as const;

type OneOrAny = Condition<(typeof ONE_OR_ANY)[number]>;

function eventQuery(context: RequestContext<unknown>): EventQuery | Refusal {
  const page = PAGE.of(context);
  if (isRefusal(page)) return page;
  const conditions = conditionsOf(context, OPERATORS);
  if (isRefusal(conditions)) return conditions;
  const { type, project, feature, environment, createdBy, id, groupId, from, to } = conditions;
  const authors = createdBy && authorsOf(context.world, createdBy);
  // Events have no groups.
  const ids = groupId === null ? id && idsOf(id) : [];
  const [first, last] = [from && dayOf('from', from), to && dayOf('to', to)];
  for (const one of [authors, ids, first, last]) if (isRefusal(one)) return one;
  const all: EventQuery = { limit: page.limit, skip: page.offset, offset: 0 };
  return withFields(all, {
    type: type?.values,
    project: project?.values,
    feature: feature?.values,
    environment: environment?.values,
    authors: (authors as readonly string[] | null) ?? undefined,
    ids: (ids as readonly number[] | null) ?? undefined,
    fromMs: (first as number | null) ?? undefined,
    untilMs: last === null ? undefined : (last as number) + DAY_MS - 1,
    query: context.query('query') || undefined,
  });
}

/** Events hold the name under which somebody acted; the condition holds ids. */
function authorsOf(world: World, { values }: OneOrAny): readonly string[] | Refusal {
  const wrong = values.find((value) => !/^-?\d{1,9}$/.test(value));
  if (wrong === undefined) return values.flatMap((id) => authorNames(world, Number(id)));
  return invalid(
    `The query parameter createdBy must hold ids of users, not ${shown(wrong)}.`,
    '/query/createdBy',
  );
}

function idsOf({ values }: OneOrAny): readonly number[] | Refusal {
  const wrong = values.find((value) => !/^[1-9]\d{0,14}$/.test(value));
  if (wrong === undefined) return values.map(Number);
  return invalid(`The query parameter id must hold ids of events, not ${shown(wrong)}.`, '/query/id');
}

export const eventSearchRoutes = underTag('Events', [
  readRoute('GET /search/events', {
    operationId: 'searchEventsByParameters',
    summary: 'Search the events by query parameters, newest first.',
    query: {
      query: { description: 'Text to look for, case-insensitive, in type, createdBy and data.' },
      ...EVENT_PARAMETERS,
      createdBy: conditionParameter('Id of the user who made the change', ONE_OR_ANY),
      id: conditionParameter('Id of the event', ONE_OR_ANY),
      from: conditionParameter('The first day, in UTC', OPERATORS.from),
      to: conditionParameter('The last day, in UTC', OPERATORS.to),
      ...PAGE.parameters,
    },
    success: { status: 200, schema: FoundEventsSchema },
    refusals: ['ValidationError'],
    read: (context) => {
      const query = eventQuery(context);
      if (isRefusal(query)) return query;
      return eventPage(context, query, ({ totalEvents, covered, nextOffset }) => ({
        head: {},
        tail: {
          total: totalEvents,
          ...(nextOffset === null ? {} : { nextOffset: (query.skip ?? 0) + covered }),
        },
      }));
    },
  }),
]);

// Routes that list all events, the events of one flag, and the types of events.

const LIST_PAGE = pageParameters({
  limitMax: EVENTS_LIMIT_MAX,
  limit: 'The maximum number of events.',
  offset: 'Id of the event to start from, going to older events; 0 starts at the newest.',
  offsetPhrase: 'an event id, or 0 for the newest',
});

type ListRoute = Omit<Parameters<typeof readRoute>[1], 'refusals' | 'read'> & {
  scope(context: RequestContext<unknown>): Pick<EventQuery, 'project' | 'feature'>;
  /** Further fields of the response, besides the events. */
  more?(context: RequestContext<unknown>): Readonly<Record<string, string>>;
};

function listRoute(path: string, { scope, more, query, ...route }: ListRoute): RouteDraft {
  return readRoute(`GET ${path}`, {
    ...route,
    query: { ...query, ...LIST_PAGE.parameters },
    refusals: ['ValidationError'],
    read: (context) => {
      const page = LIST_PAGE.of(context);
      return isRefusal(page) ? page : readEvents(context, { ...scope(context), ...page }, more?.(context));
    },
  });
}

export const eventListRoutes = underTag('Events', [
  listRoute('/events', {
    operationId: 'getEvents',
    summary: 'List the events, newest first.',
    query: { project: { description: 'Id of the project whose events are listed.' } },
    success: { status: 200, schema: EventsSchema },
    scope: (context) => {
      const project = context.query('project');
      return project === '' ? {} : { project };
    },
  }),
  listRoute('/events/:featureName', {
    operationId: 'getEventsForToggle',
    summary: 'List the events of a flag, newest first, even of a deleted flag.',
    success: { status: 200, schema: FlagEventsSchema },
    scope: ({ params }) => ({ feature: params.featureName }),
    more: ({ params }) => ({ toggleName: params.featureName }),
  }),
  readRoute('GET /event-types', {
    operationId: 'getEventTypes',
    summary: 'List the types that events can have.',
    success: { status: 200, schema: EventTypesSchema },
    shows: () => ({ version: 1, types: EVENT_TYPES }),
  }),
]);

/** Possible authors of events: users, API tokens as one, and the system. */
export const eventCreatorRoutes = underTag('Events', [
  readRoute('GET /event-creators', {
    operationId: 'getEventCreators',
    summary: 'List who can have recorded events, for filters of a log: users, API tokens and the server.',
    success: { status: 200, schema: EventCreatorsSchema },
    shows: ({ world }) => {
      const ids = [...world.directory.users.keys(), API_TOKEN_USER_ID, SYSTEM.userId];
      return ids.map((id) => ({ id, name: authorOf(world, id).name }));
    },
  }),
]);
