/** The route that brings the flags of a project back to what they were right after an event. */
import type { Asker } from '../../../actors/read-queue.ts';
import {
  plannedProjectRollback,
  type RollbackTarget,
  withPlan,
} from '../../../domain/decide/rollback-project-command.ts';
import type { Flag } from '../../../domain/flags/flag.ts';
import { jsonSize } from '../../../domain/json/json.ts';
import { invalid, invalidOperation, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState } from '../../../domain/state/world.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { type RequestContext, type Route, writeRoute } from '../../serving/route.ts';
import { inSlices } from '../../serving/slices.ts';
import { BULK_FLAGS_MAX } from '../requests/bodies.ts';
import { DRY_RUN_PARAMETER, dryRunIn, plannedEventView } from '../requests/dry-run.ts';
import * as locate from '../requests/locators.ts';
import { ProjectRollbackSchema } from '../schemas/schemas.ts';
import { asIssueOfBody, ROLLBACK_NEEDS, RollbackBody } from './history.ts';

/** The most flags of one rollback, which takes back what one change did. */
export const FLAGS_MAX = BULK_FLAGS_MAX;

/** Looked at in a step of a slice. */
const FLAGS_OF_A_STEP = 128;

/** Bytes of the flags as they are and as they were, as `jsonSize` counts: half of what the events of one change may take. */
export const SIZE_MAX = 2 * 1024 * 1024;

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

/** What the flags were, but for those that were made or archived since then. All are read in one go. */
async function targetsOf(
  context: RequestContext<{ readonly eventId: number }>,
  changed: readonly Flag[],
): Promise<readonly RollbackTarget[] | Refusal> {
  const { params, body, engine, reads, asker, world } = context;
  const project = params.projectId;
  if (changed.length === 0) return [];
  const query = { project, flags: changed.map(({ name }) => name), eventId: body.eventId };
  const past = await reads.flagsAt({ ...query, durableId: engine.durableId }, asker);
  if (past.refused) return asIssueOfBody(past);
  const targets: RollbackTarget[] = [];
  let [at, size] = [0, 0];
  await inSlices(() => {
    const flag = changed[at]!;
    const target = past.project?.flags.get(flag.name)?.flag;
    at += 1;
    if (target !== undefined && target.archivedAt === null) {
      const environments = past.project?.settings.environments ?? [];
      size += jsonSize(flag) + jsonSize(target);
      targets.push(withPlan(world, project, { flag: flag.name, target, environments }));
    }
    return at === changed.length || size > SIZE_MAX;
  }, asker);
  return size > SIZE_MAX ? tooMuch(`whose flags take more than ${SIZE_MAX / 1024 / 1024} MiB`) : targets;
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
