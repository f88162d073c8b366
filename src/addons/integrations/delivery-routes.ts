/** Deliveries of integrations: what was sent, how far each is, and how somebody has it sent again (docs/integrations.md). */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { Integer, Timestamp, titled } from '../../domain/json/schema.ts';
import { locateAddonRecord } from '../../domain/state/addon-records.ts';
import { invalid, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { pageParameters } from '../../http/admin/query-parameters.ts';
import { EventSchema } from '../../http/admin/schemas.ts';
import { emptyResponse, jsonResponse } from '../../http/serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  type Route,
  readRoute,
  underTag,
} from '../../http/serving/route.ts';
import type { LoggedEvent } from '../../persistence/event-log/logged-event.ts';
import type { Courier } from './courier.ts';
import { type DeliveryRow, ROWS_MAX } from './cursors.ts';
import { INTEGRATION } from './kind.ts';

const DELIVERY = '/addons/:id/delivery';

const StateSchema = v.picklist(['success', 'failed', 'successWithErrors']);

const DeliverySchema = titled('Delivery', {
  id: v.string(),
  integrationId: Integer,
  createdAt: Timestamp,
  state: StateSchema,
  stateDetails: v.string(),
  event: v.pipe(
    v.nullable(EventSchema),
    v.description('Null where the history does not have it any more, and for tests.'),
  ),
  details: v.object({
    eventId: v.pipe(v.nullable(Integer), v.description('0 for a test; null where it is about no one event.')),
  }),
});

const DeliveriesSchema = titled('Deliveries', { integrationEvents: v.array(DeliverySchema) });

const StatusSchema = titled('DeliveryState', {
  state: v.picklist(['sending', 'retrying', 'parked']),
  lastEventId: Integer,
  newestEventId: Integer,
  retryAt: v.nullable(Timestamp),
  failingSince: v.nullable(Timestamp),
});

const PositionSchema = titled('DeliveryPosition', {
  eventId: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
});

const OutcomeSchema = titled('TestOutcome', { state: StateSchema, details: v.string() });

const PAGE = pageParameters({
  limitMax: ROWS_MAX,
  limitInitial: 50,
  limit: 'How many deliveries to list.',
  offset: 'How many to leave out at the beginning.',
});

/** Nothing of the state is shown. */
const shown = (body: unknown): ReadResponse => ({ revision: 0, response: jsonResponse(200, body) });
const DONE: ReadResponse = { revision: 0, response: emptyResponse(202) };

const NOT_YET = refuse(
  'ServiceUnavailableError',
  'The server has only begun to send to this integration; try again in a moment.',
);

interface Located {
  readonly courier: Courier;
  readonly id: number;
}

/** The routes of a courier, which is null before the server is open. */
export function deliveryRoutes(courier: () => Courier | null): readonly Route[] {
  const found = ({ world, params }: RequestContext<unknown>): Located | Refusal => {
    const record = locateAddonRecord(world, INTEGRATION, params.id ?? '');
    if (isRefusal(record)) return record;
    const open = courier();
    assert(open !== null, 'the courier is open before a request is served');
    return { courier: open, id: record.id };
  };
  const own = { isForLeader: true, changesUsage: true } as const;
  return underTag('Addons', [
    readRoute('GET /addons/:id/events', {
      operationId: 'getIntegrationEvents',
      summary: 'List the last deliveries of an integration, newest first.',
      permission: 'admin',
      query: PAGE.parameters,
      refusals: ['NotFoundError', 'ValidationError'],
      success: { status: 200, schema: DeliveriesSchema },
      isForLeader: true,
      read: async (context) => {
        const at = found(context);
        if (isRefusal(at)) return at;
        const page = PAGE.of(context);
        if (isRefusal(page)) return page;
        const rows = (await at.courier.rows(at.id)).slice(page.offset, page.offset + page.limit);
        const events = await eventsOf(context, rows);
        if (isRefusal(events)) return events;
        const integrationEvents = rows.map((row) => deliveryView(at.id, row, events));
        return { revision: context.engine.durableId, response: jsonResponse(200, { integrationEvents }) };
      },
    }),
    readRoute(`GET ${DELIVERY}`, {
      operationId: 'getIntegrationDelivery',
      summary: 'Get how far an integration is, and whether its deliveries fail.',
      needs: ['UPDATE_ADDON'],
      refusals: ['NotFoundError', 'ServiceUnavailableError'],
      success: { status: 200, schema: StatusSchema },
      isForLeader: true,
      read: (context) => {
        const at = found(context);
        if (isRefusal(at)) return at;
        const status = at.courier.status(at.id);
        if (status === null) return NOT_YET;
        return shown({
          state: status.state,
          lastEventId: status.eventId,
          newestEventId: context.engine.durableId,
          retryAt: timeText(status.retryMs),
          failingSince: timeText(status.failingSinceMs),
        });
      },
    }),
    readRoute(`POST ${DELIVERY}/retry`, {
      operationId: 'retryIntegration',
      summary: 'Send again now, also where the integration is parked.',
      needs: ['UPDATE_ADDON'],
      ...own,
      refusals: ['NotFoundError', 'ServiceUnavailableError'],
      success: { status: 202, schema: null },
      read: (context) => {
        const at = found(context);
        if (isRefusal(at)) return at;
        return at.courier.sendAgain(at.id) ? DONE : NOT_YET;
      },
    }),
    readRoute(`POST ${DELIVERY}/position`, {
      operationId: 'moveIntegration',
      summary: 'Go on from an event, earlier or later.',
      needs: ['UPDATE_ADDON'],
      ...own,
      body: PositionSchema,
      refusals: ['NotFoundError', 'ValidationError', 'ServiceUnavailableError'],
      success: { status: 202, schema: null },
      read: async (context) => {
        const at = found(context);
        if (isRefusal(at)) return at;
        const { engine, body } = context;
        const oldest = engine.eventLog.oldestId(engine.durableId);
        const newest = engine.durableId + 1;
        if (body.eventId < oldest || body.eventId > newest)
          return invalid(
            `The event must be from ${oldest}, the oldest one, to ${newest}, the next one.`,
            '/body/eventId',
          );
        return (await at.courier.goOn(at.id, body.eventId)) ? DONE : NOT_YET;
      },
    }),
    readRoute(`POST ${DELIVERY}/test`, {
      operationId: 'testIntegration',
      summary: 'Send a made-up event, and get what became of it.',
      needs: ['UPDATE_ADDON'],
      ...own,
      refusals: ['NotFoundError', 'ServiceUnavailableError'],
      success: { status: 200, schema: OutcomeSchema },
      read: async (context) => {
        const at = found(context);
        if (isRefusal(at)) return at;
        const { name, userId } = context.caller.actor;
        const told = await at.courier.sendTest(at.id, testEvent(name, userId));
        return told === null ? NOT_YET : shown({ state: told.state, details: told.reason });
      },
    }),
  ]);
}

const timeText = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** An event that is no part of the history: its id is 0. */
const testEvent = (createdBy: string, createdByUserId: number): LoggedEvent => ({
  id: 0,
  createdAt: new Date().toISOString(),
  type: 'feature-environment-enabled',
  ...{ createdBy, createdByUserId },
  environment: 'production',
  project: 'default',
  featureName: 'test-of-an-integration',
  data: null,
  preData: null,
  tags: [],
});

/** The events of the rows as the history has them, by id. */
async function eventsOf(
  context: RequestContext<unknown>,
  rows: readonly DeliveryRow[],
): Promise<ReadonlyMap<number, unknown> | Refusal> {
  const ids = [...new Set(rows.flatMap(({ eventId }) => eventId || []))];
  if (ids.length === 0) return new Map();
  const { reads, engine, requester } = context;
  const page = await reads.search({ ids, limit: ids.length, offset: 0 }, engine.durableId, requester);
  if (isRefusal(page)) return page;
  const events = JSON.parse(Buffer.from(page.json).toString()) as readonly { readonly id: number }[];
  return new Map(events.map((event) => [event.id, event]));
}

function deliveryView(integrationId: number, row: DeliveryRow, events: ReadonlyMap<number, unknown>): object {
  const { id, atMs, state, reason, eventId } = row;
  return {
    id: String(id),
    integrationId,
    createdAt: new Date(atMs).toISOString(),
    state,
    stateDetails: reason,
    event: events.get(eventId ?? 0) ?? null,
    details: { eventId },
  };
}
