/** Decisions on the strategies of a flag in an environment (docs/specification/strategies.md). */
import { nextSwitch } from '../flags/environment-switch.ts';
import type { Flag, FlagEnvironment } from '../flags/flag.ts';
import {
  createStrategy,
  type DefaultStrategy,
  hasEnabledStrategy,
  nextSortOrder,
  parseStrategyFields,
  type Strategy,
  type StrategyInput,
  strategyData,
  strategyIssue,
} from '../flags/strategy.ts';
import { type JsonValue, jsonEqual } from '../json/json.ts';
import { applyPatch, type PatchOperation } from '../json/json-patch.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { findNamed, suggestRecord } from '../state/directory-records.ts';
import { aboutFlagEnvironment, type DomainEvent, newEvent } from '../state/events.ts';
import { type LocatedStrategy, locateFlagEnvironment, locateStrategy, noStrategy } from '../state/locate.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { patchedValueRefusal, patchRefusal, unlessArchived } from './guards.ts';
import { type NamesFlagEnvironment, type NamesItsProject, switched } from './switch-commands.ts';

interface NamesStrategy extends NamesFlagEnvironment {
  readonly strategyId: string;
}

interface AddStrategy extends NamesFlagEnvironment {
  readonly strategy: StrategyInput;
}

export function addStrategy(world: World, command: AddStrategy, context: DecideContext): Decision {
  const located = unlessArchived(
    locateFlagEnvironment(world, command.project, command.flag, command.environment),
  );
  if (located.refused) return located;
  const { flag } = located.record;
  const sortOrder = command.strategy.sortOrder ?? nextSortOrder(located.flagEnvironment.strategies);
  const strategy = createStrategy(command.strategy, context.newId(), sortOrder);
  const issue = strategyIssue(strategy, null);
  if (issue !== null) return invalid(issue.message, `/body${issue.path}`);
  return (
    refuseUnknownReferences(world, { flag, before: null, after: strategy }) ?? [
      strategyAdded(flag, command.environment, strategy),
    ]
  );
}

interface ReplaceStrategy extends NamesStrategy {
  readonly strategy: StrategyInput;
}

export function replaceStrategy(world: World, command: ReplaceStrategy): Decision {
  const located = unlessArchived(locateStrategyNamed(world, command));
  if (located.refused) return located;
  const { id, sortOrder } = located.strategy;
  const after = createStrategy(command.strategy, id, command.strategy.sortOrder ?? sortOrder);
  const issue = strategyIssue(after, located.strategy);
  if (issue !== null) return invalid(issue.message, `/body${issue.path}`);
  return strategyUpdated(world, located, after);
}

interface PatchStrategy extends NamesStrategy {
  readonly operations: readonly PatchOperation[];
}

export function patchStrategy(world: World, command: PatchStrategy): Decision {
  const located = unlessArchived(locateStrategyNamed(world, command));
  if (located.refused) return located;
  const { flag } = located.record;
  const { operations } = command;
  const before = strategyData(flag, located.strategy);
  const patched = applyPatch(before as unknown as JsonValue, operations);
  if (!patched.ok) return patchRefusal(patched);
  const parsed = parseStrategyFields(patched.document, patched.written, located.strategy);
  if (!parsed.ok) {
    const { path = '', message = 'The result is not a valid strategy.' } = parsed.issue ?? {};
    return patchedValueRefusal(operations, path.split('/')[1] ?? '', message);
  }
  const { id, featureName } = patched.document as { id?: unknown; featureName?: unknown };
  if (id !== before.id)
    return patchedValueRefusal(operations, 'id', 'The id of a strategy cannot be changed.');
  if (featureName !== before.featureName) {
    return patchedValueRefusal(operations, 'featureName', 'A strategy cannot be moved to another flag.');
  }
  const after = createStrategy(parsed.value, before.id, before.sortOrder);
  const issue = strategyIssue(after, located.strategy);
  if (issue !== null) return patchedValueRefusal(operations, issue.path.split('/')[1] ?? '', issue.message);
  return strategyUpdated(world, located, after);
}

export function removeStrategy(world: World, command: NamesStrategy): Decision {
  const located = unlessArchived(locateStrategyNamed(world, command));
  if (located.refused) return located;
  const { flag } = located.record;
  const left = located.flagEnvironment.strategies.filter(({ id }) => id !== located.strategy.id);
  return [
    strategyRemoved(flag, command.environment, located.strategy),
    ...switchedOff(flag, located.flagEnvironment, left),
  ];
}

/**
 * The event that disables the environment when the change that leaves it with `strategies` takes the last enabled one
 * away: the environment would serve everybody (docs/specification/switches.md#last-strategy). One that was enabled
 * with disabled strategies only is left as it is, until the last of them is removed.
 */
function switchedOff(flag: Flag, before: FlagEnvironment, strategies: readonly Strategy[]): DomainEvent[] {
  const isLastGone =
    !hasEnabledStrategy(strategies) && (strategies.length === 0 || hasEnabledStrategy(before.strategies));
  if (!isLastGone) return [];
  const next = nextSwitch(before.enabled, 'LAST_ENABLED_STRATEGY_GONE', strategies.length);
  return next === 'refused' || !next.changed ? [] : [switched(flag, before.name, next.enabled)];
}

interface OrderStrategies extends NamesFlagEnvironment {
  readonly order: readonly { readonly id: string; readonly sortOrder: number }[];
}

/**
 * Strategies that the command does not name keep their position. An id that the environment does not have is refused.
 */
export function orderStrategies(world: World, command: OrderStrategies): Decision {
  const located = unlessArchived(
    locateFlagEnvironment(world, command.project, command.flag, command.environment),
  );
  if (located.refused) return located;
  const { flag } = located.record;
  const known = new Set(located.flagEnvironment.strategies.map(({ id }) => id));
  const unknown = command.order.findIndex(({ id }) => !known.has(id));
  if (unknown >= 0) {
    const missing = noStrategy(command.flag, command.environment, command.order[unknown]!.id);
    return missing.at(`/body/${unknown}/id`);
  }
  const orders = new Map(command.order.map(({ id, sortOrder }) => [id, sortOrder]));
  const before = located.flagEnvironment.strategies.map(({ id, sortOrder }) => ({ id, sortOrder }));
  const after = before.map(({ id, sortOrder }) => ({ id, sortOrder: orders.get(id) ?? sortOrder }));
  if (jsonEqual(before, after)) return UNCHANGED;
  const change = { data: { strategies: after }, preData: { strategies: before } };
  return [newEvent('strategy-order-changed', aboutFlagEnvironment(flag, command.environment), change)];
}

function locateStrategyNamed(world: World, { project, flag, environment, strategyId }: NamesStrategy) {
  return locateStrategy(world, project, flag, environment, strategyId);
}

function strategyUpdated(world: World, located: LocatedStrategy, after: Strategy): Decision {
  const { flagEnvironment, strategy } = located;
  const { flag } = located.record;
  if (jsonEqual(strategy, after)) return UNCHANGED;
  const event: DomainEvent = {
    type: 'feature-strategy-update',
    project: flag.project,
    featureName: flag.name,
    environment: flagEnvironment.name,
    data: strategyData(flag, after),
    preData: strategyData(flag, strategy),
  };
  const refusal = refuseUnknownReferences(world, { flag, before: strategy, after });
  if (refusal !== null) return refusal;
  if (after.disabled !== true || strategy.disabled === true) return [event];
  const strategies = flagEnvironment.strategies.map((one) => (one.id === after.id ? after : one));
  return [event, ...switchedOff(flag, flagEnvironment, strategies)];
}

export function strategyAdded(flag: NamesItsProject, environment: string, strategy: Strategy): DomainEvent {
  const about = aboutFlagEnvironment(flag, environment);
  return newEvent('feature-strategy-add', about, { data: strategyData(flag, strategy) });
}

export function strategyRemoved(flag: NamesItsProject, environment: string, strategy: Strategy): DomainEvent {
  const about = aboutFlagEnvironment(flag, environment);
  return newEvent('feature-strategy-remove', about, { preData: strategyData(flag, strategy) });
}

// Refuses strategies that refer to a type or a segment that does not exist.

interface StrategyChange {
  readonly flag: Pick<Flag, 'project'>;
  /** Null: the strategy is new. */
  readonly before: DefaultStrategy | null;
  readonly after: DefaultStrategy;
}

/** Looks at what the change brings in: what data of earlier releases refers to may stay as it is. */
export function refuseUnknownReferences(world: World, change: StrategyChange): Refusal | null {
  return refuseUnknownType(world, change) ?? refuseUnknownSegments(world, change);
}

function refuseUnknownType(world: World, { before, after: { name } }: StrategyChange): Refusal | null {
  if (before?.name === name || findNamed(world, 'strategyTypes', name) !== undefined) return null;
  const message = `There is no strategy type "${name}".${suggestRecord(world, 'strategyTypes', name)} Types that your applications implement themselves must be defined at /strategies first.`;
  return invalid(message, '/body/name');
}

function refuseUnknownSegments(
  { directory }: World,
  { flag, before, after }: StrategyChange,
): Refusal | null {
  if (before?.segments === after.segments) return null;
  for (const [index, id] of after.segments.entries()) {
    if (before?.segments.includes(id)) continue;
    const segment = directory.segments.get(id);
    const path = `/body/segments/${index}`;
    if (segment === undefined) return invalid(`There is no segment ${id}.`, path);
    if (segment.project !== null && segment.project !== flag.project) {
      return invalid(`The segment "${segment.name}" is for the project "${segment.project}" only.`, path);
    }
  }
  return null;
}
