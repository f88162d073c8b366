/** The route that brings the flags of a project back to what they were right after an event. */
import { isAbsence } from '../../../actors/flag-history.ts';
import type { Asker } from '../../../actors/read-queue.ts';
import {
  plannedProjectRollback,
  type RollbackTarget,
} from '../../../domain/decide/rollback-project-command.ts';
import type { Flag } from '../../../domain/flags/flag.ts';
import { jsonSize } from '../../../domain/json/json.ts';
import { invalid, invalidOperation, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState } from '../../../domain/state/world.ts';
import { jsonResponse } from '../../dispatch/json-response.ts';
import { type RequestContext, type Route, writeRoute } from '../../dispatch/route.ts';
import { inSlices } from '../../dispatch/slices.ts';
import { DRY_RUN_PARAMETER, dryRunIn, plannedEventView } from '../requests/dry-run.ts';
import * as locate from '../requests/locators.ts';
import { ProjectRollbackSchema } from '../schemas/schemas.ts';
import { asIssueOfBody, ROLLBACK_NEEDS, RollbackBody } from './history.ts';

/** The past of each is read from the log, one after the other. */
export const FLAGS_MAX = 100;

/** Looked at in a step of a slice. */
const FLAGS_OF_A_STEP = 128;

/**
 * Of the flags as they are and as they were, as `jsonSize` counts: as much as one flag may take, because one decision compares
 * all of it, and a request should not hold the event loop for more than 20 ms.
 */
export const SIZE_MAX = 512 * 1024;

/** Flags that changed after the event, and can be changed back; one more than may be when there are too many. */
async function changedSince(
  { flags }: ProjectState,
  eventId: number,
  asker: Asker,
): Promise<readonly Flag[]> {
  const changed: Flag[] = [];
  const records = flags.values();
  await inSlices(() => {
    for (let count = 0; count < FLAGS_OF_A_STEP; count += 1) {
      const { done, value: record } = records.next();
      if (done === true) return true;
      if (record.revision > eventId && record.flag.archivedAt === null) changed.push(record.flag);
      if (changed.length > FLAGS_MAX) return true;
    }
    return false;
  }, asker);
  return changed;
}

/** What the flags were, but for those that were made or archived since then. */
async function targetsOf(
  context: RequestContext<{ readonly eventId: number }>,
  changed: readonly Flag[],
): Promise<readonly RollbackTarget[] | Refusal> {
  const { params, body, engine, reads, asker } = context;
  const targets: RollbackTarget[] = [];
  let size = 0;
  for (const flag of changed) {
    const query = { project: params.projectId, flag: flag.name, eventId: body.eventId };
    const past = await reads.flagAt({ ...query, durableId: engine.durableId }, asker);
    if (past.refused) {
      if (isAbsence(past)) continue;
      return asIssueOfBody(past);
    }
    if (past.flag.archivedAt !== null) continue;
    size += jsonSize(flag) + jsonSize(past.flag);
    if (size > SIZE_MAX) return tooMuch(`whose flags take more than ${SIZE_MAX / 1024} KiB`);
    const { environments } = past.project.settings;
    targets.push({ flag: flag.name, target: past.flag, environments });
  }
  return targets;
}

const tooMuch = (what: string): Refusal =>
  invalidOperation(`This would bring back a project ${what} at once; bring its flags back one by one.`);

export const projectHistoryRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: '/projects/:projectId/rollback',
    operationId: 'rollbackProject',
    tag: 'Projects',
    summary: 'Bring the flags of a project back to what they were right after an event, as one change.',
    permission: 'flag:write',
    needs: ROLLBACK_NEEDS,
    locate: locate.project,
    query: { dryRun: DRY_RUN_PARAMETER },
    body: RollbackBody,
    success: { status: 200, schema: ProjectRollbackSchema },
    refusals: ['InvalidOperationError', 'PayloadTooLargeError'],
    command: async (context, project) => {
      const dryRun = dryRunIn(context);
      if (isRefusal(dryRun)) return dryRun;
      const { eventId } = context.body;
      const { durableId } = context.engine;
      if (eventId > durableId) {
        return invalid(`There is no event ${eventId}: the newest is ${durableId}.`, '/body/eventId');
      }
      const changed = await changedSince(project, eventId, context.asker);
      if (changed.length > FLAGS_MAX) return tooMuch(`in which more than ${FLAGS_MAX} flags changed`);
      const targets = await targetsOf(context, changed);
      if (isRefusal(targets)) return targets;
      return { type: 'rollback-project', project: context.params.projectId, targets, dryRun };
    },
    respond: ({ world, body }, recorded, command) => {
      if (command.type !== 'rollback-project')
        throw new Error(`a rollback was asked for, not ${command.type}`);
      const { dryRun } = command;
      const events = dryRun ? plannedProjectRollback(world, command) : recorded;
      if (isRefusal(events)) throw new Error(`a rollback that is possible is refused: ${events.message}`);
      const shown = events.map((event) => ({ featureName: event.featureName, ...plannedEventView(event) }));
      return jsonResponse(200, { eventId: body.eventId, dryRun, events: shown });
    },
  }),
];
