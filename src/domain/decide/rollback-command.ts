/**
 * The decision that brings the metadata, strategies, switches, variants and tags of one flag back to what they were.
 * It is one atomic change made of ordinary events, so that readers of events need not know of rollbacks.
 *
 * A rollback does not change dependencies, since they concern other flags too; archiving, which has its own
 * endpoints; or environments that the project did not have then or no longer has. Strategies get their old ids back.
 */
import { nextSwitch } from '../flags/environment-switch.ts';
import { environmentOf, type Flag, type FlagEnvironment, type Tag } from '../flags/flag.ts';
import { bySortOrder, type Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { type JsonValue, jsonEqual } from '../json/json.ts';
import { aboutFlag, aboutFlagEnvironment, type DomainEvent, type StrategyData } from '../state/events.ts';
import { type LocatedFlag, locateFlag } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { type Decision, UNCHANGED } from './decision.ts';
import { metadataEvents } from './flag-commands.ts';
import { refuseArchived } from './guards.ts';
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

export function rollbackFlag(world: World, command: RollbackFlag): Decision {
  const decision = plannedRollback(world, command);
  return command.dryRun && !isRefusal(decision) ? UNCHANGED : decision;
}

/** The events that would bring the flag back, or the reason why that is impossible. */
export function plannedRollback(world: World, command: RollbackFlag): Decision {
  const located = locateFlag(world, command.project, command.flag);
  if (located.refused) return located;
  const { flag } = located.record;
  const archived = refuseArchived(flag);
  if (archived !== null) return archived;
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
function environmentChanges(flag: Flag, target: FlagEnvironment): DomainEvent[] {
  const current = environmentOf(flag, target.name);
  const events = strategyChanges(flag, current, target);
  const next = nextSwitch(current.enabled, target.enabled ? 'ON' : 'OFF', target.strategies.length);
  if (next === 'refused' || !next.changed) return events;
  return [...events, switched(flag, target.name, next.enabled)];
}

function strategyChanges(flag: Flag, current: FlagEnvironment, target: FlagEnvironment): DomainEvent[] {
  const kept = new Map(current.strategies.map((strategy) => [strategy.id, strategy]));
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
  // Strategies of the same sortOrder stand in the order in which they came there: where keeping those that are there
  // would leave another order than it was, all of them are added anew.
  return same(outcomeOf(current.strategies, events), target.strategies)
    ? events
    : replaceAll(flag, current, target);
}

/** The list that results when the events are applied. */
function outcomeOf(strategies: readonly Strategy[], events: readonly DomainEvent[]): readonly Strategy[] {
  return events.reduce<readonly Strategy[]>(
    (list, event) => [...afterEvent(list, event)].sort(bySortOrder),
    strategies,
  );
}

function afterEvent(list: readonly Strategy[], event: DomainEvent): readonly Strategy[] {
  switch (event.type) {
    case 'feature-strategy-add':
      return [...list, withoutFlag(event.data)];
    case 'feature-strategy-update':
      return list.map((one) => (one.id === event.data.id ? withoutFlag(event.data) : one));
    case 'feature-strategy-remove':
      return list.filter((one) => one.id !== event.preData.id);
    case 'strategy-order-changed': {
      const orders = new Map(event.data.strategies.map(({ id, sortOrder }) => [id, sortOrder]));
      return list.map((one) => ({ ...one, sortOrder: orders.get(one.id) ?? one.sortOrder }));
    }
    default:
      return list;
  }
}

const withoutFlag = ({ featureName: _, ...strategy }: StrategyData): Strategy => strategy;

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

function tagChanges(flag: Flag, target: Flag): DomainEvent[] {
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
