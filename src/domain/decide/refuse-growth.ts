/**
 * Holds a decision to the limits of growth-limits.ts. It looks at the decided events and not at the command, so every way to
 * make a flag larger is held, a clone and a rollback as well as a request that says so plainly. Only growth is refused:
 * a strategy with 40 constraints may lose one of them, and then has 39.
 */
import type { Constraint } from '../flags/constraint.ts';
import { environmentOf, type Flag } from '../flags/flag.ts';
import { GROWTH_LIMITS, type GrowthLimitName, type GrowthLimits } from '../flags/growth-limits.ts';
import type { Strategy } from '../flags/strategy.ts';
import { type JsonObject, jsonSize } from '../json/json.ts';
import type { DomainEvent, FlagEvent } from '../state/events.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

/** The first of the limits that `events`, decided and not yet applied, would break; null when they keep all. */
export function refuseGrowth(
  world: World,
  events: readonly DomainEvent[],
  limits: GrowthLimits,
): Refusal | null {
  if (!events.some(({ type }) => GROWING.has(type))) return null;
  const check = new GrowthCheck(world, limits);
  for (const event of events) {
    const refusal = event.featureName === null ? null : check.refuse(event as FlagEvent);
    if (refusal !== null) return refusal;
  }
  return check.refuseCounts();
}

/** All others make nothing larger: most changes are switches, and need no further look. */
const GROWING: ReadonlySet<DomainEvent['type']> = new Set([
  'feature-created',
  'feature-metadata-updated',
  'feature-tagged',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-variants-updated',
  'feature-environment-variants-updated',
]);

/** Parts of one thing that come and go with the events of one decision. */
interface PartCount {
  readonly limit: GrowthLimitName;
  readonly subject: string;
  readonly before: number;
  after: number;
}

class GrowthCheck {
  readonly #world: World;
  readonly #limits: GrowthLimits;
  /** By what the parts belong to: tags by the flag, strategies by the flag and the environment. */
  #counts: Map<string, PartCount> | null = null;
  /** Strategies as they are before the decision, by id, for the flags and environments that get some. */
  #strategies: Map<string, ReadonlyMap<string, Strategy>> | null = null;

  constructor(world: World, limits: GrowthLimits) {
    this.#world = world;
    this.#limits = limits;
  }

  refuse(event: FlagEvent): Refusal | null {
    switch (event.type) {
      case 'feature-created':
        return this.#refuseNewFlag(event);
      case 'feature-metadata-updated':
        return this.#refuseDescription(event, event.preData.description, event.data.description);
      case 'feature-tagged':
        return this.#countTags(event, 1);
      case 'feature-untagged':
        return this.#countTags(event, -1);
      case 'feature-strategy-add':
        this.#countStrategies(event, 1);
        return this.#refuseStrategy(event, this.#strategyBefore(event, event.data.id), event.data);
      case 'feature-strategy-remove':
        return this.#countStrategies(event, -1);
      case 'feature-strategy-update':
        return this.#refuseStrategy(event, event.preData, event.data);
      case 'feature-variants-updated':
        return this.#refuseVariants(event, this.#projectEnvironments(event), event.data.variants.length);
      case 'feature-environment-variants-updated':
        return this.#refuseVariants(event, [event.environment], event.data.variants.length);
      default:
        return null;
    }
  }

  /** What only the whole decision shows: a rollback may take strategies away and add others. */
  refuseCounts(): Refusal | null {
    if (this.#counts === null) return null;
    for (const { limit, subject, before, after } of this.#counts.values()) {
      const refusal = this.#refuseCount(limit, before, after, subject);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #refuseCount(limit: GrowthLimitName, before: number, after: number, subject: string): Refusal | null {
    const max = this.#limits[limit];
    if (after <= max || after <= before) return null;
    const { unit, setting } = GROWTH_LIMITS[limit];
    return invalid(`${subject} would have ${after} ${unit}; the limit is ${max} (${setting}).`);
  }

  #refuseNewFlag(event: Extract<FlagEvent, { type: 'feature-created' }>): Refusal | null {
    const { environments = [] } = event.hidden ?? {};
    for (const { name, variants } of environments) {
      const refusal = this.#refuseVariants(event, [name], variants.length);
      if (refusal !== null) return refusal;
    }
    return this.#refuseDescription(event, null, event.data.description);
  }

  #refuseDescription(event: FlagEvent, before: string | null, after: string | null): Refusal | null {
    const subject = `The description of the flag "${event.featureName}"`;
    return this.#refuseCount('descriptionLength', before?.length ?? 0, after?.length ?? 0, subject);
  }

  #countTags(event: FlagEvent, change: 1 | -1): null {
    const before = this.#flag(event)?.tags.length ?? 0;
    const subject = `The flag "${event.featureName}"`;
    this.#count(event.featureName, { limit: 'tags', subject, before, after: before }, change);
    return null;
  }

  #countStrategies(event: FlagEvent & { readonly environment: string }, change: 1 | -1): null {
    const before = this.#strategiesBefore(event).size;
    const subject = `The flag ${inEnvironment(event)}`;
    this.#count(keyOf(event), { limit: 'strategies', subject, before, after: before }, change);
    return null;
  }

  #count(key: string, initial: PartCount, change: 1 | -1): void {
    this.#counts ??= new Map();
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { ...initial, after: initial.after + change });
    else known.after += change;
  }

  /** `before` is undefined for a strategy that is new. */
  #refuseStrategy(
    event: FlagEvent & { readonly environment: string },
    before: Strategy | undefined,
    after: Strategy,
  ): Refusal | null {
    const change = { before, after };
    return (
      this.#refuseParts(event, 'constraints', change) ??
      this.#refuseValues(event, before?.constraints ?? [], after.constraints) ??
      this.#refuseParts(event, 'segments', change) ??
      this.#refuseParts(event, 'variants', change) ??
      this.#refuseParameters(event, before?.parameters ?? null, after.parameters)
    );
  }

  #refuseParts(
    event: InEnvironment,
    limit: 'constraints' | 'segments' | 'variants',
    { before, after }: { readonly before: Strategy | undefined; readonly after: Strategy },
  ): Refusal | null {
    const count = after[limit].length;
    if (count <= this.#limits[limit]) return null;
    return this.#refuseCount(limit, before?.[limit].length ?? 0, count, aStrategyOf(event));
  }

  /** Constraints have no ids: the largest is compared with what was the largest, the next with the next. */
  #refuseValues(
    event: FlagEvent & { readonly environment: string },
    before: readonly Constraint[],
    after: readonly Constraint[],
  ): Refusal | null {
    if (before === after || after.every(({ values }) => values.length <= this.#limits.values)) return null;
    const large = (constraints: readonly Constraint[]): number[] =>
      constraints
        .map(({ values }) => values.length)
        .filter((count) => count > this.#limits.values)
        .sort((a, b) => b - a);
    const was = large(before);
    const subject = `A constraint in a strategy of the flag ${inEnvironment(event)}`;
    for (const [index, count] of large(after).entries()) {
      const refusal = this.#refuseCount('values', was[index] ?? 0, count, subject);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #refuseParameters(
    event: InEnvironment,
    before: JsonObject | null,
    after: JsonObject | null,
  ): Refusal | null {
    if (before === after || jsonSize(after) * BYTES_PER_SIZE_MAX <= this.#limits.parameterBytes) return null;
    return this.#refuseCount('parameterBytes', jsonBytes(before), jsonBytes(after), aStrategyOf(event));
  }

  #refuseVariants(event: FlagEvent, environments: readonly string[], count: number): Refusal | null {
    if (count <= this.#limits.variants) return null;
    const flag = this.#flag(event);
    for (const environment of environments) {
      const before = flag === undefined ? 0 : environmentOf(flag, environment).variants.length;
      const subject = `The flag ${inEnvironment({ featureName: event.featureName, environment })}`;
      const refusal = this.#refuseCount('variants', before, count, subject);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  #flag({ project, featureName }: FlagEvent): Flag | undefined {
    return this.#world.projects.get(project)?.flags.get(featureName)?.flag;
  }

  #projectEnvironments({ project }: FlagEvent): readonly string[] {
    return this.#world.projects.get(project)?.settings.environments ?? [];
  }

  #strategyBefore(event: FlagEvent & { readonly environment: string }, id: string): Strategy | undefined {
    return this.#strategiesBefore(event).get(id);
  }

  #strategiesBefore(event: FlagEvent & { readonly environment: string }): ReadonlyMap<string, Strategy> {
    const key = keyOf(event);
    this.#strategies ??= new Map();
    let known = this.#strategies.get(key);
    if (known === undefined) {
      const flag = this.#flag(event);
      const strategies = flag === undefined ? [] : environmentOf(flag, event.environment).strategies;
      known = new Map(strategies.map((strategy) => [strategy.id, strategy]));
      this.#strategies.set(key, known);
    }
    return known;
  }
}

interface InEnvironment {
  readonly featureName: string;
  readonly environment: string;
}

/** No name of an environment or a flag has a slash. */
const keyOf = ({ featureName, environment }: InEnvironment): string => `${featureName}/${environment}`;

const inEnvironment = ({ featureName, environment }: InEnvironment): string =>
  `"${featureName}" in the environment "${environment}"`;

const aStrategyOf = (where: InEnvironment): string => `A strategy of the flag ${inEnvironment(where)}`;

/** A character takes six bytes at most, as `\u0000`. */
const BYTES_PER_SIZE_MAX = 6;

const jsonBytes = (value: JsonObject | null): number => Buffer.byteLength(JSON.stringify(value));
