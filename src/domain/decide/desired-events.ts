/**
 * The steps of a difference (domain/desired/difference.ts) as the events of one change: ordinary events, so that readers of
 * events need not know of rollbacks, copies and imports. All steps are taken, or none.
 */
import assert from 'node:assert/strict';
import { type Current, type Desired, difference, type Parts, type Step } from '../desired/difference.ts';
import { nextSwitch } from '../flags/environment-switch.ts';
import { environmentsOf, type FlagEnvironment, flagDataOf } from '../flags/flag.ts';
import type { Link } from '../flags/link.ts';
import { type FlagMetadata, INITIAL_METADATA, withMetadata } from '../flags/metadata.ts';
import { hasEnabledStrategy, type Strategy, strategyData } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonEqual } from '../json/json.ts';
import type { ManagedKindName } from '../kinds/kinds.ts';
import type { DecideContext, Decision } from '../state/decision.ts';
import { findNamed } from '../state/directory-records.ts';
import { aboutFlagEnvironment, type DomainEvent, newEvent } from '../state/events.ts';
import { locateFlag } from '../state/locate.ts';
import { isRefusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import { reviveFlags } from './archive-commands.ts';
import { dependencyRemoved, dependencySet } from './dependency-commands.ts';
import { flagCreated, metadataEvents } from './flag-commands.ts';
import { type CreateRecord, createRecord } from './kind-commands.ts';
import { strategyAdded, strategyRemoved } from './strategy-commands.ts';
import { switched } from './switch-commands.ts';
import { tagged, untagged } from './tag-commands.ts';

/** The parts of a flag that a difference within this server compares. */
export interface Here extends Parts {
  readonly metadata: FlagMetadata;
  readonly strategy: Strategy;
  readonly variant: Variant;
  readonly link: Link;
  /** It is made where it is missing, and stays as it is elsewhere, because flags of all projects share it. */
  readonly item: {
    readonly kind: ManagedKindName;
    readonly name: string;
    readonly value: CreateRecord['fields'];
    readonly isFixed: true;
  };
}

/** The author and the time of what is made. Null where nothing is desired that may have to be made. */
type Making = Pick<DecideContext, 'now' | 'actor'>;

/** The events that make flags of the project, and what they share, as desired; none where they are so already. */
export function desiredEvents(
  world: World,
  project: ProjectState,
  desired: Desired<Here>,
  making: Making | null = null,
): Decision {
  const events: DomainEvent[] = [];
  for (const step of difference(currentIn(world, project), desired)) {
    const decision = eventsOf(world, step, making);
    if (isRefusal(decision)) return decision;
    events.push(...decision);
  }
  return events;
}

function currentIn(world: World, { flags }: ProjectState): Current<Here> {
  return {
    item({ kind, name }) {
      const value = findNamed(world, kind, name);
      return value === undefined ? undefined : { value };
    },
    flag(name) {
      const flag = flags.get(name)?.flag;
      if (flag === undefined) return undefined;
      const environment = environmentsOf(flag);
      if (flag.archivedAt === null) return { flag, archived: false, environment };
      // A revived flag is off everywhere.
      return { flag, archived: true, environment: (name) => ({ ...environment(name), enabled: false }) };
    },
  };
}

/**
 * Whether a flag is to be on where its strategies become those of `wanted`: as wanted, except that it does not go on where
 * no strategy is enabled, and goes off where its last enabled one is taken away (docs/specification/switches.md#last-strategy).
 */
export function isEnabledAfter(now: FlagEnvironment, wanted: FlagEnvironment): boolean {
  if (!wanted.enabled || hasEnabledStrategy(wanted.strategies)) return wanted.enabled;
  return now.enabled && !hasEnabledStrategy(now.strategies);
}

type StepOf<Type> = Extract<Step<Here>, { readonly type: Type }>;

function eventsOf(world: World, step: Step<Here>, making: Making | null): Decision {
  switch (step.type) {
    case 'create':
      assert(making !== null, 'nothing is made without an author');
      return createRecord(world, createdBy(step.item), making);
    case 'create-flag':
      assert(making !== null, 'nothing is made without an author');
      return [flagMade(step, making)];
    case 'revive-flag':
      return reviveFlags(world, { project: step.project, flags: [step.name] });
    case 'set-metadata': {
      const located = locateFlag(world, step.project, step.name);
      return located.refused ? located : metadataEvents(world, located, step.metadata);
    }
    case 'set-environment':
      return environmentEvents(step);
    case 'add-tag':
      return [tagged(step, step.tag)];
    case 'remove-tag':
      return [untagged(step, step.tag)];
    case 'remove-parent':
      return [dependencyRemoved(step, step.before)];
    case 'set-parent':
      return [dependencySet(step, step.after)];
    default:
      return assert.fail(`no change within a server has the step ${step.type}`);
  }
}

const createdBy = ({ kind, value: fields }: Here['item']) => ({ kind, fields }) as CreateRecord;

function flagMade({ name, project, metadata }: StepOf<'create-flag'>, { now, actor }: Making): DomainEvent {
  const data = flagDataOf({
    identity: { name, project, createdAt: now },
    metadata: withMetadata(INITIAL_METADATA, metadata),
    variants: [],
    archived: false,
  });
  return flagCreated(data, { createdBy: actor.userId });
}

/** The strategies come before the switch, so that no flag is ever on without strategies. */
function environmentEvents(step: StepOf<'set-environment'>): DomainEvent[] {
  const { environment, before, after } = step;
  const events = strategyChanges(step);
  const next = nextSwitch(before.enabled, after.enabled ? 'ON' : 'OFF', after.strategies.length);
  if (next !== 'refused' && next.changed) events.push(switched(step, environment, next.enabled));
  if (step.changes.includes('variants')) {
    const change = { data: { variants: after.variants }, preData: { variants: before.variants } };
    const about = aboutFlagEnvironment(step, environment);
    events.push(newEvent('feature-environment-variants-updated', about, change));
  }
  return events;
}

function strategyChanges(step: StepOf<'set-environment'>): DomainEvent[] {
  const { environment, before, after } = step;
  const kept = new Map(before.strategies.map((strategy) => [strategy.id, strategy]));
  if (!isOrderKept(kept, after.strategies)) {
    return [
      ...before.strategies.map((strategy) => strategyRemoved(step, environment, strategy)),
      ...after.strategies.map((strategy) => strategyAdded(step, environment, strategy)),
    ];
  }
  const wanted = new Map(after.strategies.map((strategy) => [strategy.id, strategy]));
  const events: DomainEvent[] = [];
  for (const strategy of after.strategies) {
    const present = kept.get(strategy.id);
    if (present === undefined) events.push(strategyAdded(step, environment, strategy));
    else if (!isSameApartFromOrder(present, strategy)) events.push(strategyUpdated(step, present, strategy));
  }
  for (const strategy of before.strategies) {
    if (!wanted.has(strategy.id)) events.push(strategyRemoved(step, environment, strategy));
  }
  events.push(...orderChange(step, wanted));
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

function strategyUpdated(step: StepOf<'set-environment'>, before: Strategy, after: Strategy): DomainEvent {
  const change = { data: strategyData(step, after), preData: strategyData(step, before) };
  return newEvent('feature-strategy-update', aboutFlagEnvironment(step, step.environment), change);
}

/** For strategies that differ only in their position. */
function orderChange(step: StepOf<'set-environment'>, wanted: ReadonlyMap<string, Strategy>): DomainEvent[] {
  const moved = step.before.strategies.flatMap((before) => {
    const after = wanted.get(before.id);
    const isMoved = after !== undefined && after.sortOrder !== before.sortOrder;
    return isMoved && isSameApartFromOrder(before, after) ? [{ before, after }] : [];
  });
  if (moved.length === 0) return [];
  const position = ({ id, sortOrder }: Strategy) => ({ id, sortOrder });
  const data = { strategies: moved.map(({ after }) => position(after)) };
  const preData = { strategies: moved.map(({ before }) => position(before)) };
  const about = aboutFlagEnvironment(step, step.environment);
  return [newEvent('strategy-order-changed', about, { data, preData })];
}

const isSameApartFromOrder = (a: Strategy, b: Strategy): boolean =>
  jsonEqual({ ...a, sortOrder: 0 }, { ...b, sortOrder: 0 });
