/** All that a decision is held to before anything of it is applied. */
import type { DomainEvent } from '../state/events.ts';
import type { Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import type { DecideContext } from './decision.ts';
import { refuseGrowth } from './refuse-growth.ts';
import { refuseBeyondMemory } from './refuse-memory.ts';

export function refuseBeyondLimits(
  world: World,
  events: readonly DomainEvent[],
  { limits, memoryBudgetBytes }: DecideContext,
): Refusal | null {
  return refuseGrowth(world, events, limits) ?? refuseBeyondMemory(world, events, memoryBudgetBytes);
}
