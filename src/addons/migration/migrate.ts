/** Takes the steps of a plan, one after the other, and reports what became of each. */
import { AdminCallError, type AdminClient } from '../../host/admin-client.ts';
import type { Configuration } from './configuration.ts';
import type { Plan } from './plan.ts';
import { type Call, idOf, MissingSegmentError, type TargetIds } from './target-request.ts';

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
): Promise<MigrationResult> {
  const ids: TargetIds = {
    segments: new Map(target.segmentIds),
    users: new Map(target.userIds),
    roles: new Map(target.roles),
    groups: new Map(target.access.groupIds),
  };
  const failed: FailedStep[] = [];
  const leftOut: FailedStep[] = [];
  /** The refused step that it comes from, by the subject that lacks something. */
  const refused = new Map<string, string>();
  let taken = 0;
  for (const call of steps) {
    const { subject, needs, does, otherwise: effect = null } = call;
    const missing = refused.get(subject) ?? refused.get(needs);
    if (missing !== undefined) {
      leftOut.push({ does, reason: `It builds on this: ${missing}.`, effect });
      refused.set(subject, missing);
    } else {
      const reason = await make(call, ids, client);
      if (reason === null) taken += 1;
      else {
        failed.push({ does, reason, effect });
        refused.set(subject, does);
      }
    }
  }
  return { taken, failed, leftOut };
}

/** The reason why the target refused, null when it did as asked. */
async function make(call: Call, ids: TargetIds, client: AdminClient): Promise<string | null> {
  const { method, learns } = call;
  try {
    const { path, body } = call.at(ids);
    const response = await client.call(method, path, body);
    if (learns !== undefined) ids[learns.of].set(learns.name, idOf(response));
    return null;
  } catch (error) {
    if (error instanceof MissingSegmentError) return error.message;
    if (error instanceof AdminCallError && error.status !== 0 && error.status !== 401) return error.message;
    throw error;
  }
}
