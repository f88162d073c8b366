/**
 * The decision that brings several flags of a project back to what they were, as one change: for each of them what the rollback
 * of one flag does, and all of it or nothing.
 */
import { type DecideContext, type Decision, UNCHANGED } from '../decision/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { refuseBeyondLimits } from './refuse-beyond-limits.ts';
import { plannedRollback, type RollbackFlag } from './rollback-command.ts';

/** A flag and what it was. */
export type RollbackTarget = Pick<RollbackFlag, 'flag' | 'target' | 'environments'>;

export interface RollbackProject {
  readonly type: 'rollback-project';
  readonly project: string;
  /** Each flag once. What one decision may take of time bounds them where the command is made. */
  readonly targets: readonly RollbackTarget[];
  /** Decides without recording anything; see `plannedProjectRollback`. */
  readonly dryRun: boolean;
}

export function rollbackProject(world: World, command: RollbackProject, context: DecideContext): Decision {
  const decision = plannedProjectRollback(world, command);
  if (!command.dryRun || isRefusal(decision)) return decision;
  return refuseBeyondLimits(world, command, decision, context) ?? UNCHANGED;
}

/** The events that would bring the flags back, or the reason why that is impossible for one of them. */
export function plannedProjectRollback(world: World, { project, targets }: RollbackProject): Decision {
  const events: DomainEvent[] = [];
  for (const target of targets) {
    const decision = plannedRollback(world, { type: 'rollback-flag', project, dryRun: true, ...target });
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}
