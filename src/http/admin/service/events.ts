/** The route that searches the event log (docs/specification/events.md#search). */
import * as v from 'valibot';
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import { isRefusal } from '../../../domain/state/refusal.ts';
import { etagOf } from '../../dispatch/etag.ts';
import { taggedReply } from '../../dispatch/json-reply.ts';
import { type Route, readRoute } from '../../dispatch/route.ts';
import { EventsSchema } from '../schemas/schemas.ts';

/** Of the answer; increases only when its format changes. */
export const EVENTS_VERSION = 1;
export const EVENTS_LIMIT_MAX = 100;

const LIMIT_PHRASE = `an integer from 1 to ${EVENTS_LIMIT_MAX}`;
const OFFSET_PHRASE = 'an event id, or 0 for the newest';

const SearchBody = v.pipe(
  v.object({
    type: v.optional(v.picklist(EVENT_TYPES, 'one of the event types')),
    project: v.optional(v.string()),
    feature: v.optional(v.string()),
    query: v.pipe(
      v.optional(v.string()),
      v.description('Text to look for, case-insensitive, in type, createdBy and data.'),
    ),
    limit: v.optional(
      v.pipe(
        v.number(LIMIT_PHRASE),
        v.integer(LIMIT_PHRASE),
        v.minValue(1, LIMIT_PHRASE),
        v.maxValue(EVENTS_LIMIT_MAX, LIMIT_PHRASE),
      ),
      EVENTS_LIMIT_MAX,
    ),
    offset: v.pipe(
      v.optional(
        v.pipe(v.number(OFFSET_PHRASE), v.safeInteger(OFFSET_PHRASE), v.minValue(0, OFFSET_PHRASE)),
        0,
      ),
      v.description('Id of the event to start from, going to older events; 0 starts at the newest.'),
    ),
  }),
  v.title('EventSearch'),
);

export const eventRoutes: readonly Route[] = [
  readRoute({
    method: 'POST',
    path: '/events/search',
    operationId: 'searchEvents',
    tag: 'Events',
    summary: 'Search the events, newest first.',
    permission: 'read',
    body: SearchBody,
    success: { status: 200, schema: EventsSchema },
    read: async ({ world, engine, body }) => {
      const { type, project, feature, query, limit, offset } = body;
      const filter = {
        ...(type === undefined ? {} : { type }),
        ...(project === undefined ? {} : { project }),
        ...(feature === undefined ? {} : { feature }),
        ...(query === undefined ? {} : { query }),
      };
      const revision = engine.durableId;
      const page = await engine.eventLog.search({ ...filter, limit, offset }, revision);
      if (isRefusal(page)) return page;
      const etag = etagOf(world, revision);
      return {
        revision,
        reply: taggedReply(etag, JSON.stringify({ version: EVENTS_VERSION, ...page })),
      };
    },
  }),
];
