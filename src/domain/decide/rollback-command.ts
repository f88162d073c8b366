/**
 * The decision that brings the metadata, strategies, switches, variants and tags of one flag back to what they were.
 * It is one atomic change made of ordinary events, so that readers of events need not know of rollbacks.
 *
 * A rollback does not change dependencies, since they concern other flags too; archiving, which has its own
 * endpoints; or environments that the project did not have then or no longer has. Strategies get their old ids back.
 */
import { environmentsOf, type Flag } from '../flags/flag.ts';
import { INITIAL_METADATA, withMetadata } from '../flags/metadata.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { locateFlag } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { desiredEvents, isEnabledAfter } from './desired-events.ts';
import { unlessArchived } from './guards.ts';
import { refuseBeyondLimits } from './refuse-beyond-limits.ts';

export interface RollbackFlag {
  readonly type: 'rollback-flag';
  readonly project: string;
  readonly flag: string;
  /** The flag as it was. */
  readonly target: Flag;
  /** The environments that its project had at that time. */
  readonly environments: readonly string[];
  /** Decides without recording anything; see `plannedRollback`. */
  readonly dryRun: boolean;
}

export function rollbackFlag(world: World, command: RollbackFlag, context: DecideContext): Decision {
  const decision = plannedRollback(world, command);
  if (!command.dryRun || isRefusal(decision)) return decision;
  return refuseBeyondLimits(world, command, decision, context) ?? UNCHANGED;
}

/** The events that would bring the flag back, or the reason why that is impossible. */
export function plannedRollback(world: World, command: RollbackFlag): Decision {
  const located = unlessArchived(locateFlag(world, command.project, command.flag));
  if (located.refused) return located;
  const [now, then] = [environmentsOf(located.record.flag), environmentsOf(command.target)];
  const environments = located.project.settings.environments.filter((name) =>
    command.environments.includes(name),
  );
  return desiredEvents(world, located.project, {
    flags: [
      {
        name: command.flag,
        project: command.project,
        metadata: withMetadata(INITIAL_METADATA, command.target),
        environments: environments.map((name) => ({
          ...then(name),
          enabled: isEnabledAfter(now(name), then(name)),
        })),
        tags: { items: command.target.tags, isWhole: true },
      },
    ],
  });
}

// The decision that brings several flags of a project back to what they were, as one change: for each of them what the rollback
// of one flag does, and all of it or nothing.

/** A flag and what it was. */
export interface RollbackTarget extends Pick<RollbackFlag, 'flag' | 'target' | 'environments'> {
  /** The plan that restores the project, made before the decision, which has no time to compare a thousand flags. */
  readonly plan?: RollbackPlan;
}

interface RollbackPlan {
  readonly events: readonly DomainEvent[];
  /** Whether the events are still what brings the flag back: nothing that they follow from has changed. */
  holdsIn(world: World): boolean;
}

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

/** The same target with its plan; without one where it cannot be brought back, which the decision says. */
export function withPlan(world: World, project: string, target: RollbackTarget): RollbackTarget {
  const events = plannedRollback(world, { type: 'rollback-flag', project, dryRun: true, ...target });
  if (isRefusal(events)) return target;
  const sources = sourcesIn(world, project, target.flag);
  const holdsIn = (later: World): boolean =>
    sourcesIn(later, project, target.flag).every((source, at) => source === sources[at]);
  return { ...target, plan: { events, holdsIn } };
}

/** All that a plan follows from: immutable objects, and the revision of what all projects share. */
function sourcesIn({ directory, projects }: World, project: string, flag: string): readonly unknown[] {
  const state = projects.get(project);
  return [state?.settings, state?.flags.get(flag)?.flag, directory.revision];
}

/** The events that would bring the flags back, or the reason why that is impossible for one of them. */
export function plannedProjectRollback(world: World, { project, targets }: RollbackProject): Decision {
  const events: DomainEvent[] = [];
  for (const { plan, ...target } of targets) {
    const decision = plan?.holdsIn(world)
      ? plan.events
      : plannedRollback(world, { type: 'rollback-flag', project, dryRun: true, ...target });
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}
