/** Routes that read a flag as it was right after an event, and that bring it back to that state. */

import * as v from 'valibot';
import { noFlagThen, type PastFlag, type PastFlagQuery } from '../../actors/flag-history.ts';
import { each, inTurns, type Requester } from '../../actors/turn.ts';
import { NEVER_SEEN } from '../../actors/usage-view.ts';
import type { Command } from '../../domain/decide/decide.ts';
import { plannedRollback, type RollbackTarget, withPlan } from '../../domain/decide/rollback-command.ts';
import type { Flag } from '../../domain/flags/flag.ts';
import { jsonSize } from '../../domain/json/json.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { invalid, invalidOperation, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import { jsonResponse } from '../serving/json-response.ts';
import {
  commandOf,
  type QueryParameter,
  type ReadResponse,
  type RequestContext,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import {
  BULK_FLAGS_MAX,
  DRY_RUN_PARAMETER,
  dryRunIn,
  PLANNED_EVENT,
  PLANNED_EVENTS,
  PLANNED_EVENTS_DESCRIPTION,
  plannedEventView,
} from './bodies.ts';
import * as locate from './locators.ts';
import { isFavoriteFlag, useOf, wholeFlagView } from './render-flag.ts';

const RollbackSchema = titled('Rollback', {
  eventId: Integer,
  ...PLANNED_EVENTS,
});

const ProjectRollbackSchema = titled('ProjectRollback', {
  eventId: Integer,
  dryRun: v.boolean(),
  events: described(
    v.array(v.object({ featureName: v.string(), ...PLANNED_EVENT })),
    PLANNED_EVENTS_DESCRIPTION,
  ),
});

const EVENT_ID_PHRASE = 'the id of an event, an integer from 1';

const EventIdSchema = v.pipe(
  v.number(EVENT_ID_PHRASE),
  v.safeInteger(EVENT_ID_PHRASE),
  v.minValue(1, EVENT_ID_PHRASE),
  v.description('The flag becomes what it was right after this event.'),
);

const RollbackBody = titled('RollbackRequest', { eventId: EventIdSchema });

/** The parameter of the route that reads a flag. */
export const AT_PARAMETER: QueryParameter = {
  description: 'The id of an event. The response shows the flag as it was right after it.',
  schema: { type: 'integer', minimum: 1 },
};

/** Reads the flag that the path names as it was. One in a project that the caller does not see was not there. */
export async function pastFlag(
  context: RequestContext<unknown>,
  eventId: number,
  evaluation?: PastFlagQuery['evaluation'],
): Promise<PastFlag | Refusal> {
  const { params, engine, reads, requester } = context;
  const { projectId: project, featureName: flag } = params;
  const past = await reads.flagAt(
    { project, flag, eventId, durableId: engine.durableId, ...(evaluation && { evaluation }) },
    requester,
  );
  const isHidden = engine.world.projects.has(project) && !context.world.projects.has(project);
  return past.refused || !isHidden ? past : noFlagThen({ project, flag, eventId });
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
  const { world, project, flag } = past;
  const view = wholeFlagView(world, useOf(NEVER_SEEN, flag.name), project, flag, isFavoriteFlag(context));
  return { revision: past.eventId, response: jsonResponse(200, view) };
}

/** The body names what is missing here, so the fault is one of the body. */
function asIssueOfBody(refusal: Refusal): Refusal {
  if (refusal.name !== 'NotFoundError') return refusal;
  return refuse('ValidationError', refusal.message, [{ message: refusal.message, path: '/body/eventId' }]);
}

/** A flag may have changed in everything. */
const ROLLBACK_NEEDS = [
  'UPDATE_FEATURE',
  'CREATE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_STRATEGY',
  'DELETE_FEATURE_STRATEGY',
  'UPDATE_FEATURE_ENVIRONMENT',
  'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
] as const;

/** The response with the events of a rollback, which a dry run would have recorded. */
function respondWith(view: (event: DomainEvent) => object) {
  return (
    { world, body }: RequestContext<{ readonly eventId: number }>,
    recorded: readonly DomainEvent[],
    command: Command,
  ) => {
    const rollback = commandOf(command, 'rollback-flags');
    const { dryRun } = rollback;
    const events = dryRun ? plannedRollback(world, rollback) : recorded;
    if (isRefusal(events)) throw new Error(`a rollback that is possible is refused: ${events.message}`);
    return jsonResponse(200, { eventId: body.eventId, dryRun, events: events.map(view) });
  };
}

export const historyRoutes = underTag('Features', [
  writeRoute('POST /projects/:projectId/features/:featureName/rollback', {
    operationId: 'rollbackFeature',
    summary: 'Bring a flag back to what it was right after an event, as one change.',
    needs: ROLLBACK_NEEDS,
    locate: locate.flag,
    query: { dryRun: DRY_RUN_PARAMETER },
    body: RollbackBody,
    success: { status: 200, schema: RollbackSchema },
    command: async (context) => {
      const dryRun = dryRunIn(context);
      if (isRefusal(dryRun)) return dryRun;
      const past = await pastFlag(context, context.body.eventId);
      if (past.refused) return asIssueOfBody(past);
      const { projectId: project, featureName: flag } = context.params;
      const { environments } = past.project.settings;
      const targets = [{ flag, target: past.flag, environments }];
      return { type: 'rollback-flags', project, targets, dryRun };
    },
    respond: respondWith(plannedEventView),
  }),
]);

// The route that brings the flags of a project back to what they were right after an event.

/** The most flags of one rollback, which takes back what one change did. */
export const FLAGS_MAX = BULK_FLAGS_MAX;

/** Looked at in one step. */
const FLAGS_OF_A_STEP = 128;

/** Bytes of the flags as they are and as they were, as `jsonSize` counts: half of what the events of one change may take. */
export const SIZE_MAX = 2 * 1024 * 1024;

/** Flags that changed after the event, and can be changed back; one more than may be when there are too many. */
async function changedSince(
  { flags }: ProjectState,
  eventId: number,
  requester: Requester,
): Promise<readonly Flag[]> {
  const changed: Flag[] = [];
  let looked = 0;
  const steps = function* (): Generator<void, void> {
    for (const { revision, flag } of flags.values()) {
      if (revision > eventId && flag.archivedAt === null) changed.push(flag);
      if (changed.length > FLAGS_MAX) return;
      looked += 1;
      if (looked % FLAGS_OF_A_STEP === 0) yield;
    }
  };
  await inTurns(steps(), requester);
  return changed;
}

/** Reads the flags as they were at the event, in one go. */
async function targetsOf(
  context: RequestContext<{ readonly eventId: number }>,
  changed: readonly Flag[],
): Promise<readonly RollbackTarget[] | Refusal> {
  const { params, body, engine, reads, requester, world } = context;
  const project = params.projectId;
  if (changed.length === 0) return [];
  const query = { project, flags: changed.map(({ name }) => name), eventId: body.eventId };
  const past = await reads.flagsAt({ ...query, durableId: engine.durableId }, requester);
  if (past.refused) return asIssueOfBody(past);
  const targets: RollbackTarget[] = [];
  let size = 0;
  const add = (flag: Flag): boolean => {
    const target = past.project?.flags.get(flag.name)?.flag;
    if (target !== undefined && target.archivedAt === null) {
      const environments = past.project?.settings.environments ?? [];
      size += jsonSize(flag) + jsonSize(target);
      targets.push(withPlan(world, project, { flag: flag.name, target, environments }));
    }
    return size > SIZE_MAX;
  };
  await inTurns(each(changed, add), requester);
  return size > SIZE_MAX ? tooMuch(`whose flags take more than ${SIZE_MAX / 1024 / 1024} MiB`) : targets;
}

const tooMuch = (what: string): Refusal =>
  invalidOperation(`This would bring back a project ${what} at once; bring its flags back one by one.`);

export const projectHistoryRoutes = underTag('Projects', [
  writeRoute('POST /projects/:projectId/rollback', {
    operationId: 'rollbackProject',
    summary: 'Bring the flags of a project back to what they were right after an event, as one change.',
    needs: ROLLBACK_NEEDS,
    locate: locate.project,
    query: { dryRun: DRY_RUN_PARAMETER },
    body: RollbackBody,
    success: { status: 200, schema: ProjectRollbackSchema },
    command: async (context, project) => {
      const dryRun = dryRunIn(context);
      if (isRefusal(dryRun)) return dryRun;
      const { eventId } = context.body;
      const { durableId } = context.engine;
      if (eventId > durableId) {
        return invalid(`There is no event ${eventId}: the newest is ${durableId}.`, '/body/eventId');
      }
      const changed = await changedSince(project, eventId, context.requester);
      if (changed.length > FLAGS_MAX) return tooMuch(`in which more than ${FLAGS_MAX} flags changed`);
      const targets = await targetsOf(context, changed);
      if (isRefusal(targets)) return targets;
      return { type: 'rollback-flags', project: context.params.projectId, targets, dryRun };
    },
    respond: respondWith((event) => ({ featureName: event.featureName, ...plannedEventView(event) })),
  }),
]);
