/** All that a decision is held to before anything of it is applied. */

import { findOutgrowth, type Outgrowth } from '../growth/refuse-growth.ts';
import { refuseBeyondMemory } from '../growth/refuse-memory.ts';
import { refuseByProjectRules } from '../growth/refuse-project-rules.ts';
import { refuseBeyondServed } from '../growth/refuse-served.ts';
import type { PatchOperation } from '../json/json-patch.ts';
import type { DecideContext } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { patchedValueRefusal } from './patch-refusal.ts';

/** The part of a command that says where its request has what. */
interface Asked {
  readonly type: string;
  readonly operations?: readonly PatchOperation[];
}

export function refuseBeyondLimits(
  world: World,
  command: Asked,
  events: readonly DomainEvent[],
  { limits, memoryBudgetBytes, clockMs }: DecideContext,
): Refusal | null {
  const outgrowth = findOutgrowth(world, events, limits);
  if (outgrowth !== null) return outgrowthRefusal(command, outgrowth);
  return (
    refuseByProjectRules(world, events) ??
    refuseBeyondServed(world, events, clockMs) ??
    refuseBeyondMemory(world, events, memoryBudgetBytes)
  );
}

/** Commands whose body is what their event holds. */
const SENT_AS_KEPT: ReadonlySet<string> = new Set([
  'create-flag',
  'update-flag',
  'add-strategy',
  'replace-strategy',
  'set-variants',
  'tag-flag',
]);

/** Names the part of the request, if the request has it: that of a clone or of a rollback does not. */
function outgrowthRefusal({ type, operations }: Asked, { message, at }: Outgrowth): Refusal {
  if (operations !== undefined) return patchedValueRefusal(operations, at.split('/')[1] ?? '', message);
  return invalid(message, SENT_AS_KEPT.has(type) ? `/body${at}` : undefined);
}
