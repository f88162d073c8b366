/**
 * Holds a decision to the memory budget (docs/limits.md#memory). What makes the state larger is refused when the state would not
 * fit in the budget as it will be after a restart. What makes nothing larger is never refused: switches, archiving,
 * reviving, deleting, and every change that leaves a thing as large as it was or smaller.
 */
import { environmentOf } from '../flags/flag.ts';
import { memoryGrowth } from '../json/memory-size.ts';
import type { DomainEvent } from '../state/events.ts';
import { stateBytes } from '../state/records.ts';
import { type Refusal, refuse } from '../state/refusal.ts';
import { recordSize } from '../state/state-memory.ts';
import type { World } from '../state/world.ts';

export const MEMORY_BUDGET_SETTING = 'MEMORY_BUDGET_BYTES';

/** `events` are decided and not yet applied. */
export function refuseBeyondMemory(
  world: World,
  events: readonly DomainEvent[],
  budgetBytes: number,
): Refusal | null {
  const growth = growthBy(world, events);
  if (growth <= 0 || stateBytes(world) + growth <= budgetBytes) return null;
  const fault = beyondMemory(stateBytes(world) + growth, budgetBytes);
  return refuse(
    'InsufficientStorageError',
    `With this change the state ${fault}. Delete flags that are archived, or make others smaller; switching, archiving and deleting go on.`,
  );
}

/** About the bytes by which the events make the state larger; negative when they make it smaller. */
export function growthBy(world: World, events: readonly DomainEvent[]): number {
  let growth = 0;
  for (const event of events) growth += growthByEvent(world, event);
  return growth;
}

function growthByEvent(world: World, event: DomainEvent): number {
  switch (event.type) {
    case 'feature-created':
      return recordSize(event.data) + memoryGrowth(null, event.hidden?.environments ?? null);
    case 'feature-potentially-stale-on':
      return recordSize({ flag: event.featureName });
    case 'feature-completed':
      return recordSize({ ...event.data, flag: event.featureName, at: '' });
    case 'feature-favorited':
      return memoryGrowth(null, event.featureName);
    case 'project-favorited':
      return memoryGrowth(null, event.project);
    case 'user-created':
      return recordSize(event.data) + (event.hidden === undefined ? 0 : recordSize(event.hidden));
    case 'user-updated':
      if (event.hidden === undefined) return memoryGrowth(event.preData, event.data);
      if (event.hidden.identity === undefined) return recordSize(event.hidden);
      return memoryGrowth(event.preData, event.data) + recordSize(event.hidden.identity);
    case 'public-signup-token-user-added':
      return memoryGrowth(null, event.data.userId);
    // What goes may be large, and need not be looked at to say that it makes nothing larger.
    case 'feature-deleted':
    case 'feature-project-change':
    case 'feature-unfavorited':
    case 'project-unfavorited':
      return 0;
    case 'feature-variants-updated': {
      const project = world.projects.get(event.project);
      const flag = project?.flags.get(event.featureName)?.flag;
      if (project === undefined || flag === undefined) return 0;
      const growths = project.settings.environments.map((name) =>
        memoryGrowth(environmentOf(flag, name).variants, event.data.variants),
      );
      return growths.reduce((sum, one) => sum + one, 0);
    }
    default:
      if (event.preData === null && event.data !== null) return recordSize(event.data);
      return memoryGrowth(event.preData, event.data);
  }
}

/** A message about a state of `bytes`, without its subject. */
export function beyondMemory(bytes: number, budgetBytes: number): string {
  return `would take ${mebibytes(bytes)} MiB of memory; the budget is ${mebibytes(budgetBytes)} MiB (${MEMORY_BUDGET_SETTING})`;
}

const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
