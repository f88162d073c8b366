/** Routes that read a flag as it was right after an event, and that bring it back to that state. */
import * as v from 'valibot';
import type { PastFlag } from '../../../actors/flag-history.ts';
import { plannedRollback } from '../../../domain/decide/rollback-command.ts';
import { invalid, isRefusal, type Refusal, refuse } from '../../../domain/state/refusal.ts';
import { NEVER_SEEN } from '../../../domain/usage/last-seen.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import {
  type QueryParameter,
  type ReadResponse,
  type RequestContext,
  type Route,
  writeRoute,
} from '../../serving/route.ts';
import { DRY_RUN_PARAMETER, dryRunIn, plannedEventView } from '../requests/dry-run.ts';
import * as locate from '../requests/locators.ts';
import { RollbackSchema } from '../schemas/schemas.ts';
import { isFavoriteFlag } from '../views/directory-views.ts';
import { useOf, wholeFlagView } from '../views/render-flag.ts';

const EVENT_ID_PHRASE = 'the id of an event, an integer from 1';

const EventIdSchema = v.pipe(
  v.number(EVENT_ID_PHRASE),
  v.safeInteger(EVENT_ID_PHRASE),
  v.minValue(1, EVENT_ID_PHRASE),
  v.description('The flag becomes what it was right after this event.'),
);

export const RollbackBody = v.pipe(v.object({ eventId: EventIdSchema }), v.title('RollbackRequest'));

/** The parameter of the route that reads a flag. */
export const AT_PARAMETER: QueryParameter = {
  description: 'The id of an event. The response shows the flag as it was right after it.',
  schema: { type: 'integer', minimum: 1 },
};

function pastFlag(context: RequestContext<unknown>, eventId: number): Promise<PastFlag | Refusal> {
  const { params, engine, reads, asker } = context;
  const { projectId: project, featureName: flag } = params;
  return reads.flagAt({ project, flag, eventId, durableId: engine.durableId }, asker);
}

/** The event that the query names as `at`. */
export function eventIdIn(context: Pick<RequestContext<unknown>, 'query'>): number | Refusal {
  const text = context.query('at');
  const eventId = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (eventId > 0) return eventId;
  return invalid(`The parameter at must be ${EVENT_ID_PHRASE}, not "${text}".`, '/query/at');
}

/** The response of `GET …/features/:featureName?at=N`. The flag may have been deleted since. */
export async function readPastFlag(context: RequestContext<unknown>): Promise<ReadResponse | Refusal> {
  const eventId = eventIdIn(context);
  if (isRefusal(eventId)) return eventId;
  const past = await pastFlag(context, eventId);
  if (past.refused) return past;
  return {
    revision: past.eventId,
    response: jsonResponse(
      200,
      wholeFlagView(
        past.world,
        useOf(NEVER_SEEN, past.flag.name),
        past.project,
        past.flag,
        isFavoriteFlag(context),
      ),
    ),
  };
}

/** The body names what is missing here, so the fault is one of the body. */
export function asIssueOfBody(refusal: Refusal): Refusal {
  if (refusal.name !== 'NotFoundError') return refusal;
  return refuse('ValidationError', refusal.message, [{ message: refusal.message, path: '/body/eventId' }]);
}

/** A flag may have changed in everything. */
export const ROLLBACK_NEEDS = [
  'UPDATE_FEATURE',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
] as const;

export const historyRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: '/projects/:projectId/features/:featureName/rollback',
    operationId: 'rollbackFeature',
    tag: 'Features',
    summary: 'Bring a flag back to what it was right after an event, as one change.',
    permission: 'flag:write',
    needs: ROLLBACK_NEEDS,
    locate: locate.flag,
    query: { dryRun: DRY_RUN_PARAMETER },
    body: RollbackBody,
    success: { status: 200, schema: RollbackSchema },
    refusals: ['InvalidOperationError'],
    command: async (context) => {
      const dryRun = dryRunIn(context);
      if (isRefusal(dryRun)) return dryRun;
      const past = await pastFlag(context, context.body.eventId);
      if (past.refused) return asIssueOfBody(past);
      return {
        type: 'rollback-flag',
        project: context.params.projectId,
        flag: context.params.featureName,
        target: past.flag,
        environments: past.project.settings.environments,
        dryRun,
      };
    },
    respond: ({ world, body }, recorded, command) => {
      if (command.type !== 'rollback-flag') throw new Error(`a rollback was asked for, not ${command.type}`);
      const { dryRun } = command;
      const events = dryRun ? plannedRollback(world, command) : recorded;
      if (isRefusal(events)) throw new Error(`a rollback that is possible is refused: ${events.message}`);
      return jsonResponse(200, { eventId: body.eventId, dryRun, events: events.map(plannedEventView) });
    },
  }),
];
