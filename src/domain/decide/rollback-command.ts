/**
 * The decision that brings the metadata, strategies, switches, variants and tags of flags back to what they were, as one
 * change: for all of them or for none.
 *
 * A rollback does not change dependencies, since they concern other flags too; archiving, which has its own
 * endpoints; or environments that the project did not have then or no longer has. Strategies get their old ids back.
 */
import { environmentsOf, type Flag } from '../flags/flag.ts';
import { INITIAL_METADATA, withMetadata } from '../flags/metadata.ts';
import type { Decision } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { locateFlag } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { desiredEvents, isEnabledAfter } from './desired-events.ts';
import { unlessArchived } from './guards.ts';

/** A flag and what it was. */
export interface RollbackTarget {
  readonly flag: string;
  readonly target: Flag;
  /** The environments that its project had at that time. */
  readonly environments: readonly string[];
  /** The plan that restores the flag, made before the decision, which has no time to compare a thousand flags. */
  readonly plan?: RollbackPlan;
}

interface RollbackPlan {
  readonly events: readonly DomainEvent[];
  /** Whether the events are still what brings the flag back: nothing that they follow from has changed. */
  holdsIn(world: World): boolean;
}

interface RollbackFlags {
  readonly project: string;
  /** Each flag once. What one decision may take of time bounds them where the command is made. */
  readonly targets: readonly RollbackTarget[];
  /** Whether nothing is recorded. */
  readonly dryRun: boolean;
}

/** The events that would bring the flags back, or the reason why that is impossible for one of them. */
export function plannedRollback(world: World, { project, targets }: RollbackFlags): Decision {
  const events: DomainEvent[] = [];
  for (const target of targets) {
    const { plan } = target;
    const decision = plan?.holdsIn(world) ? plan.events : eventsBack(world, project, target);
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}

function eventsBack(
  world: World,
  id: string,
  { flag: name, target, environments }: RollbackTarget,
): Decision {
  const located = unlessArchived(locateFlag(world, id, name));
  if (located.refused) return located;
  const { project, record } = located;
  const [now, then] = [environmentsOf(record.flag), environmentsOf(target)];
  const wanted = project.settings.environments.filter((one) => environments.includes(one));
  const flag = {
    name,
    project: id,
    metadata: withMetadata(INITIAL_METADATA, target),
    environments: wanted.map((one) => {
      const { strategies, variants } = then(one);
      return { name: one, enabled: isEnabledAfter(now(one), then(one)), strategies, variants };
    }),
    tags: { items: target.tags, isWhole: true },
  };
  return desiredEvents(world, project, { flags: [flag] });
}

/** Adds its plan to a target; a target that cannot be restored has none, and the decision refuses it. */
export function withPlan(world: World, project: string, target: RollbackTarget): RollbackTarget {
  const events = eventsBack(world, project, target);
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
