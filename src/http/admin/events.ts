/** The route that searches the event log (docs/specification/events.md#search). */
import * as v from 'valibot';
import { described, titled } from '../../domain/json/schema.ts';
import { withFields } from '../../domain/kinds/kind.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';
import type { RecordedEvent } from '../../domain/state/events.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import type { EventQuery } from '../../persistence/event-log/event-filter.ts';
import type { EventPage } from '../../persistence/event-log/event-page.ts';
import { type Caller, mayDo } from '../serving/access.ts';
import { etagOf } from '../serving/etag.ts';
import { taggedResponse } from '../serving/json-response.ts';
import { type ReadResponse, type RequestContext, readRoute, underTag } from '../serving/route.ts';
import { hiddenProjects } from '../serving/visible-world.ts';
import { WARNINGS_HEADER, WARNINGS_MAX, warningsText } from '../serving/warnings.ts';
import { EventsSchema } from './schemas.ts';

/** The version of the response, which increases only when its format changes. */
const EVENTS_VERSION = 1;
export const EVENTS_LIMIT_MAX = 100;

const LIMIT_PHRASE = `an integer from 1 to ${EVENTS_LIMIT_MAX}`;
const OFFSET_PHRASE = 'an event id, or 0 for the newest';

const SearchBody = titled('EventSearch', {
  type: v.optional(v.picklist(EVENT_TYPES, 'one of the event types')),
  project: v.optional(v.string()),
  feature: v.optional(v.string()),
  query: described(
    v.optional(v.string()),
    'Text to look for, case-insensitive, in type, createdBy and data.',
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
  offset: described(
    v.optional(
      v.pipe(v.number(OFFSET_PHRASE), v.safeInteger(OFFSET_PHRASE), v.minValue(0, OFFSET_PHRASE)),
      0,
    ),
    'Id of the event to start from, going to older events; 0 starts at the newest.',
  ),
});

export const eventRoutes = underTag('Events', [
  readRoute('POST /events/search', {
    operationId: 'searchEvents',
    summary: 'Search the events, newest first.',
    body: SearchBody,
    success: { status: 200, schema: EventsSchema },
    read: (context) => {
      const { limit, offset, ...filter } = context.body;
      return readEvents(context, withFields<EventQuery>({ limit, offset }, filter));
    },
  }),
]);

/** A page of events as a response. `more` is written into its body, ahead of them. */
export async function readEvents(
  context: RequestContext<unknown>,
  query: EventQuery,
  more: Readonly<Record<string, string>> = {},
): Promise<ReadResponse | Refusal> {
  return eventPage(context, query, ({ totalEvents, nextOffset }) => ({
    head: { version: EVENTS_VERSION, ...more },
    tail: { totalEvents, ...(nextOffset === null ? {} : { nextOffset }) },
  }));
}

/** The fields of a body before and after its events. */
interface PageFrame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly tail: Readonly<Record<string, unknown>>;
}

/** Types of events whose data name people and tokens, or where events are sent to. */
const ABOUT_CREDENTIALS = /^(?:user|pat|api-token|public-signup-token|service-account|addon-config)-/;

export const isForAllReaders = (type: string): boolean => !ABOUT_CREDENTIALS.test(type);

/** Whether the caller may list all users and tokens, so that their events tell nothing else. */
export const seesCredentials = (world: World, caller: Caller): boolean =>
  mayDo(world, caller, { permission: 'admin' }, { projectId: null, environment: null });

/** Segments may be those of a project, which only the data of their events name. */
const ABOUT_SEGMENTS = /^segment-/;

export function projectOfSegment({
  type,
  data,
  preData,
}: Pick<RecordedEvent, 'type' | 'data' | 'preData'>): string | null {
  return ABOUT_SEGMENTS.test(type)
    ? ((data ?? preData) as { readonly project: string | null }).project
    : null;
}

/**
 * The query narrowed to what the caller may see. It leaves out whole events, not just their data, so that a search
 * for text cannot find them either.
 */
function shownOf(query: EventQuery, world: World, caller: Caller): EventQuery {
  const hidden = hiddenProjects(world, caller);
  const seesAll = seesCredentials(world, caller);
  if (seesAll && hidden.length === 0) return query;
  const { type: wanted = EVENT_TYPES } = query;
  const types: readonly string[] = typeof wanted === 'string' ? [wanted] : wanted;
  const isShown = (type: string): boolean =>
    (seesAll || isForAllReaders(type)) && (hidden.length === 0 || !ABOUT_SEGMENTS.test(type));
  return { ...query, type: types.filter(isShown), hiddenProjects: hidden };
}

/** The mark in the tag of pages that leave events out. */
const PARTIAL_TAG = '-o';

/** The mark in the tag of pages that leave out what cannot be read: a repair changes them. */
const DAMAGED_TAG = '-d';

/** The header that names the events which cannot be read. */
function warningsOf({ leftOut }: EventPage): readonly string[] {
  if (leftOut.length === 0) return [];
  const warnings = leftOut.slice(-WARNINGS_MAX).map(({ from, to }) => ({
    path: '',
    message: `The events ${from} to ${to} are left out, because their journal file is damaged.`,
  }));
  return [WARNINGS_HEADER, warningsText(warnings)];
}

/** The events are bytes already, and large: they are not parsed to write the rest around them. */
export async function eventPage(
  { world, caller, engine, reads, requester }: RequestContext<unknown>,
  query: EventQuery,
  frameOf: (page: EventPage) => PageFrame,
): Promise<ReadResponse | Refusal> {
  const revision = engine.durableId;
  const shown = shownOf(query, engine.world, caller);
  const page = await reads.search(shown, revision, requester);
  if (isRefusal(page)) return page;
  const { head, tail } = frameOf(page);
  const opening = `${JSON.stringify(head).slice(0, -1)}${Object.keys(head).length === 0 ? '' : ','}`;
  const closing = `,${JSON.stringify(tail).slice(1)}`;
  const body = Buffer.concat([Buffer.from(`${opening}"events":`), page.json, Buffer.from(closing)]);
  const tag = `${shown === query ? '' : PARTIAL_TAG}${page.leftOut.length === 0 ? '' : DAMAGED_TAG}`;
  return {
    revision,
    response: taggedResponse(etagOf(world, revision, tag), body, warningsOf(page)),
  };
}
