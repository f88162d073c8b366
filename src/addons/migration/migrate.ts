/** Takes the steps of a plan, one after the other, and reports what became of each. */
import { AdminCallError, type AdminClient } from './admin-client.ts';
import type { Configuration } from './configuration.ts';
import type { Plan } from './plan.ts';
import { MissingSegmentError, type Step, type TargetIds } from './step.ts';

export interface FailedStep {
  readonly does: string;
  /** The target's message, or the refused step that this one builds on. */
  readonly reason: string;
  /** A sentence: what the target is like now; null where it stays without what the step would have made. */
  readonly effect: string | null;
}

export interface MigrationResult {
  readonly taken: number;
  readonly failed: readonly FailedStep[];
  /** Not taken because a step that they build on had been refused. */
  readonly leftOut: readonly FailedStep[];
}

/** Stops, by throwing, when the target does not respond or refuses the token; else goes on with what can be done. */
export async function takeSteps(
  { steps }: Plan,
  target: Configuration,
  client: AdminClient,
  onStep: (done: number, total: number) => void = () => undefined,
): Promise<MigrationResult> {
  const ids: TargetIds = {
    segments: new Map(target.segmentIds),
    users: new Map(target.userIds),
    roles: new Map(target.roles),
    groups: new Map(target.access.groupIds),
  };
  const failed: FailedStep[] = [];
  const leftOut: FailedStep[] = [];
  /** The refused step, by the subject that lacks it. */
  const refused = new Map<string, string>();
  let taken = 0;
  for (const step of steps) {
    const { subject, needs = subject, does, otherwise: effect = null } = step;
    const missing = refused.get(subject) ?? refused.get(needs);
    if (missing !== undefined) leftOut.push({ does, reason: `It builds on this: ${missing}.`, effect });
    else {
      const reason = await takeStep(step, ids, client);
      if (reason === null) taken += 1;
      else {
        failed.push({ does, reason, effect });
        refused.set(subject, does);
      }
    }
    onStep(taken + leftOut.length + failed.length, steps.length);
  }
  return { taken, failed, leftOut };
}

/** The reason why the target refused, null when it did as asked. */
async function takeStep(step: Step, ids: TargetIds, client: AdminClient): Promise<string | null> {
  try {
    const response = await client.call(step.method, step.path(ids), step.body?.(ids));
    step.learn?.(response, ids);
    return null;
  } catch (error) {
    if (error instanceof MissingSegmentError) return error.message;
    if (error instanceof AdminCallError && error.status !== 0 && error.status !== 401) return error.message;
    throw error;
  }
}
