/**
 * The decision that brings the metadata, strategies, switches, variants and tags of one flag back to what they were.
 * It is one atomic change made of ordinary events, so that readers of events need not know of rollbacks.
 *
 * A rollback does not change dependencies, since they concern other flags too; archiving, which has its own
 * endpoints; or environments that the project did not have then or no longer has. Strategies get their old ids back.
 */
import { nextSwitch } from '../flags/environment-switch.ts';
import { environmentOf, type Flag, type FlagEnvironment, type Tag } from '../flags/flag.ts';
import { hasEnabledStrategy, type Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { type JsonValue, jsonEqual } from '../json/json.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag, aboutFlagEnvironment, type DomainEvent } from '../state/events.ts';
import { type LocatedFlag, locateFlag } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { metadataEvents } from './flag-commands.ts';
import { unlessArchived } from './guards.ts';
import { refuseBeyondLimits } from './refuse-beyond-limits.ts';
import { strategyAdded, strategyData, strategyRemoved, switched } from './strategy-commands.ts';
import { hasTag } from './tag-commands.ts';
import { variantEvents } from './variant-commands.ts';

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
  const { flag } = located.record;
  const { target } = command;
  const metadata = metadataEvents(world, located, target);
  if (isRefusal(metadata)) return metadata;
  const environments = located.project.settings.environments.filter((name) =>
    command.environments.includes(name),
  );
  const variants = variantChanges(world, located, target, environments);
  if (isRefusal(variants)) return variants;
  return [
    ...metadata,
    ...environments.flatMap((name) => environmentChanges(flag, environmentOf(target, name))),
    ...variants,
    ...tagChanges(flag, target),
  ];
}

/** Restores the strategies before the switch, so that no environment is ever enabled without strategies. */
export function environmentChanges(
  flag: Flag,
  target: FlagEnvironment,
  isEnabled = isEnabledAfter(environmentOf(flag, target.name), target),
): DomainEvent[] {
  const current = environmentOf(flag, target.name);
  const events = strategyChanges(flag, current, target);
  const next = nextSwitch(current.enabled, isEnabled ? 'ON' : 'OFF', target.strategies.length);
  if (next === 'refused' || !next.changed) return events;
  return [...events, switched(flag, target.name, next.enabled)];
}

/**
 * Returns the earlier state, except that a rollback never enables an environment in which no strategy is enabled, and disables one whose
 * last enabled strategy it takes away (docs/specification/switches.md#last-strategy).
 */
function isEnabledAfter(current: FlagEnvironment, target: FlagEnvironment): boolean {
  if (!target.enabled || hasEnabledStrategy(target.strategies)) return target.enabled;
  return current.enabled && !hasEnabledStrategy(current.strategies);
}

function strategyChanges(flag: Flag, current: FlagEnvironment, target: FlagEnvironment): DomainEvent[] {
  const kept = new Map(current.strategies.map((strategy) => [strategy.id, strategy]));
  if (!isOrderKept(kept, target.strategies)) return replaceAll(flag, current, target);
  const wanted = new Set(target.strategies.map(({ id }) => id));
  const events: DomainEvent[] = [];
  for (const strategy of target.strategies) {
    const before = kept.get(strategy.id);
    if (before === undefined) events.push(strategyAdded(flag, target.name, strategy));
    else if (!sameApartFromOrder(before, strategy)) events.push(updated(flag, target.name, before, strategy));
  }
  for (const strategy of current.strategies) {
    if (!wanted.has(strategy.id)) events.push(strategyRemoved(flag, target.name, strategy));
  }
  events.push(...orderChange(flag, current, target));
  return events;
}

/**
 * Whether keeping the strategies that are there leaves the list in its old order. It does where all of the old list
 * have different `sortOrder`, which then says all. Those of the same `sortOrder` stand in the order in which they came
 * there: they keep it as long as none is added or moved. Where that is not so, all of them are added anew.
 */
function isOrderKept(kept: ReadonlyMap<string, Strategy>, target: readonly Strategy[]): boolean {
  if (new Set(target.map(({ sortOrder }) => sortOrder)).size === target.length) return true;
  const wanted = new Set(target.map(({ id }) => id));
  const staying = [...kept.values()].filter(({ id }) => wanted.has(id));
  return (
    staying.length === target.length &&
    staying.every(({ id, sortOrder }, at) => id === target[at]?.id && sortOrder === target[at]?.sortOrder)
  );
}

function replaceAll(flag: Flag, current: FlagEnvironment, target: FlagEnvironment): DomainEvent[] {
  return [
    ...current.strategies.map((strategy) => strategyRemoved(flag, target.name, strategy)),
    ...target.strategies.map((strategy) => strategyAdded(flag, target.name, strategy)),
  ];
}

function updated(flag: Flag, environment: string, before: Strategy, after: Strategy): DomainEvent {
  return {
    type: 'feature-strategy-update',
    ...aboutFlagEnvironment(flag, environment),
    data: strategyData(flag, after),
    preData: strategyData(flag, before),
  };
}

/** For strategies that differ only in their position. */
function orderChange(flag: Flag, current: FlagEnvironment, target: FlagEnvironment): DomainEvent[] {
  const wanted = new Map(target.strategies.map((strategy) => [strategy.id, strategy]));
  const moved = current.strategies.filter((strategy) => {
    const after = wanted.get(strategy.id);
    return (
      after !== undefined && after.sortOrder !== strategy.sortOrder && sameApartFromOrder(strategy, after)
    );
  });
  if (moved.length === 0) return [];
  const orders = (strategies: readonly Strategy[]) =>
    strategies.map(({ id, sortOrder }) => ({ id, sortOrder }));
  return [
    {
      type: 'strategy-order-changed',
      ...aboutFlagEnvironment(flag, target.name),
      data: { strategies: orders(moved.map(({ id }) => wanted.get(id)).filter((one) => one !== undefined)) },
      preData: { strategies: orders(moved) },
    },
  ];
}

function sameApartFromOrder(a: Strategy, b: Strategy): boolean {
  return same({ ...a, sortOrder: 0 }, { ...b, sortOrder: 0 });
}

/** One event when the flag gets the same variants in all environments, else one for each environment that differs. */
function variantChanges(
  world: World,
  located: LocatedFlag,
  target: Flag,
  environments: readonly string[],
): Decision {
  const { flag } = located.record;
  const wanted = (name: string): readonly Variant[] => environmentOf(target, name).variants;
  const differing = environments.filter((name) => !same(environmentOf(flag, name).variants, wanted(name)));
  const [first] = differing;
  if (first === undefined) return UNCHANGED;
  const isWhole = environments.length === located.project.settings.environments.length;
  if (isWhole && environments.every((name) => same(wanted(name), wanted(first)))) {
    return variantEvents(world, located, null, wanted(first));
  }
  const events: DomainEvent[] = [];
  for (const name of differing) {
    const decision = variantEvents(world, located, name, wanted(name));
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}

export function tagChanges(flag: Flag, target: Pick<Flag, 'tags'>): DomainEvent[] {
  const tag = ({ type, value }: Tag): Tag => ({ type, value });
  return [
    ...flag.tags
      .filter((one) => !hasTag(target, one))
      .map(
        (one): DomainEvent => ({
          type: 'feature-untagged',
          ...aboutFlag(flag),
          data: null,
          preData: tag(one),
        }),
      ),
    ...target.tags
      .filter((one) => !hasTag(flag, one))
      .map(
        (one): DomainEvent => ({ type: 'feature-tagged', ...aboutFlag(flag), data: tag(one), preData: null }),
      ),
  ];
}

const same = (a: unknown, b: unknown): boolean => jsonEqual(a as JsonValue, b as JsonValue);

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
