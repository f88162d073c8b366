/** The decision that applies a request: all its commands, one after the other, as one frame behind one event. */
import { randomUUID } from 'node:crypto';
import type { PermissionName } from '../../domain/access/permissions.ts';
import { decide } from '../../domain/decide/decide.ts';
import { DEFAULT_GROWTH_LIMITS } from '../../domain/flags/growth-limits.ts';
import { applyChange } from '../../domain/state/apply.ts';
import { type DecideContext, type Decision, SYSTEM } from '../../domain/state/decision.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { Moment } from '../../domain/state/pending-requests.ts';
import { invalidOperation, isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import { RULES_VERSION } from '../../domain/state/replay-rules.ts';
import type { World } from '../../domain/state/world.ts';
import { commandsOf, needsOf } from './actions.ts';
import { countingApprovals } from './approvals.ts';
import { conflictOf } from './conflicts.ts';
import { locateOpen, moved, type NamesRequest } from './decisions.ts';
import { APPLIED, requestEvent, type Schedule, type StoredChange, type StoredRequest } from './kind.ts';
import { requiredApprovals } from './protection.ts';
import { userMay } from './rights.ts';

export function applyRequest(world: World, named: NamesRequest, context: DecideContext): Decision {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  const refusal = refuseToApply(world, request, context.actor.userId);
  return refusal ?? changesOf(world, request, context, { type: APPLIED, schedule: request.schedule });
}

/** The request as applied, and all that it changes; a refusal of any of it refuses all. */
export function changesOf(
  world: World,
  request: StoredRequest,
  context: DecideContext,
  { type, schedule }: { readonly type: string; readonly schedule: Schedule | null },
): Decision {
  const carriedOut = carryOut(world, request, { ...context, nextId: context.nextId + 1 });
  if (isRefusal(carriedOut)) return carriedOut;
  const { events } = carriedOut;
  const first = context.nextId + 1;
  const appliedEvents = events.length === 0 ? null : { first, last: context.nextId + events.length };
  const after = { ...moved(request, 'Applied', context), appliedEvents, schedule };
  return [requestEvent(type, request, after), ...events];
}

/** Refuses a request that is not approved, that is in conflict, or that the user may not apply. */
export function refuseToApply(world: World, request: StoredRequest, userId: number): Refusal | null {
  const { id, environment, state } = request;
  if (!userMay(world, userId, 'APPLY_CHANGE_REQUEST', request))
    return refuse(
      'NoAccessError',
      `To apply a change request, a user needs the permission APPLY_CHANGE_REQUEST in the environment "${environment}".`,
    );
  if (state !== 'In review' && state !== 'Scheduled')
    return invalidOperation(`The change request ${id} cannot be applied: it is ${state}.`);
  const needed = requiredApprovals(world, request);
  const counting = countingApprovals(world, request).length;
  if (counting < needed)
    return invalidOperation(
      `The change request ${id} has ${counting} of ${needed} needed approvals. An approval counts if it is of the current version, by a person who may approve it now and wrote none of it.`,
    );
  return (counting === 0 ? refuseRights(world, request, userId) : null) ?? refuseConflicts(world, request);
}

/** Refuses what nobody has approved and neither its author nor whoever applies it may do any more. */
function refuseRights(world: World, request: StoredRequest, userId: number): Refusal | null {
  for (const change of request.changes) {
    const may = (name: PermissionName) =>
      [userId, change.createdBy].some((id) => userMay(world, id, name, request));
    const missing = needsOf(change.action).find((name) => !may(name));
    if (missing !== undefined)
      return refuse(
        'NoAccessError',
        `${nameOf(change)} needs the permission ${missing}, which its author does not have any more.`,
      );
  }
  return null;
}

function refuseConflicts(world: World, request: StoredRequest): Refusal | null {
  for (const change of request.changes) {
    const conflict = conflictOf(world, request, change);
    if (conflict === null) continue;
    const event = conflict.eventId === null ? '' : ` The newest event about it is ${conflict.eventId}.`;
    return invalidOperation(
      `${nameOf(change)} is in conflict: ${conflict.message}${event} Send the change again to confirm it.`,
    );
  }
  return null;
}

const nameOf = ({ id, action, feature }: StoredChange): string =>
  `The change ${id} (${action}${feature === null ? '' : ` of the flag "${feature}"`})`;

/** Flags are switched once they have all else that the request gives them. */
const inOrder = (changes: readonly StoredChange[]): readonly StoredChange[] => [
  ...changes.filter(({ action }) => action !== 'updateEnabled'),
  ...changes.filter(({ action }) => action === 'updateEnabled'),
];

/** The state as the request would leave it now, whoever applies it. */
export function worldAfter(world: World, request: StoredRequest, { nowMs, lastId }: Moment): World | Refusal {
  const carriedOut = carryOut(world, request, {
    ...{ now: new Date(nowMs).toISOString(), clockMs: nowMs, actor: SYSTEM, nextId: lastId + 1 },
    ...{ limits: DEFAULT_GROWTH_LIMITS, memoryBudgetBytes: Number.POSITIVE_INFINITY, newId: randomUUID },
  });
  return isRefusal(carriedOut) ? carriedOut : carriedOut.world;
}

interface CarriedOut {
  readonly events: readonly DomainEvent[];
  /** The state after them. */
  readonly world: World;
}

function carryOut(world: World, request: StoredRequest, context: DecideContext): CarriedOut | Refusal {
  const events: DomainEvent[] = [];
  let current = world;
  for (const change of inOrder(request.changes)) {
    for (const command of commandsOf(current, request, change)) {
      const nextId = context.nextId + events.length;
      const decision = decide(current, command, { ...context, nextId });
      if (isRefusal(decision))
        return refuse(decision.name, `${nameOf(change)} cannot be applied: ${decision.message}`);
      if (decision.length === 0) continue;
      current = applyChange(current, decision, { id: nextId, createdAt: context.now, rules: RULES_VERSION });
      events.push(...decision);
    }
  }
  return { events, world: current };
}
