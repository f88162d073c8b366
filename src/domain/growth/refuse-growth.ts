/**
 * Holds a decision to the limits of growth-limits.ts. It looks at the decided events and not at the command, so every way to
 * make a flag larger is held, a clone and a rollback as well as a request that says so plainly. Only growth is refused:
 * a strategy with 40 constraints may lose one of them, and then has 39.
 */

import type { Constraint } from '../flags/constraint.ts';
import { segmentCost, strategyCost } from '../flags/evaluation-cost.ts';
import { environmentOf, type Flag } from '../flags/flag.ts';
import { GROWTH_LIMITS, type GrowthLimitName, type GrowthLimits } from '../flags/growth-limits.ts';
import type { Strategy } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import { eventRow } from '../state/event-types.ts';
import type { DomainEvent, FlagEvent } from '../state/events.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import type { World } from '../state/world.ts';

/** Growth beyond a limit. */
export interface Outgrowth {
  readonly message: string;
  /** JSON pointer below what the event holds: `/description`, `/constraints/2/values`; '' for the whole of it. */
  readonly at: string;
}

/** The first of the limits that `events`, decided and not yet applied, would break; null when they keep all. */
export function findOutgrowth(
  world: World,
  events: readonly DomainEvent[],
  limits: GrowthLimits,
): Outgrowth | null {
  // Most changes are switches, and need no further look.
  if (!events.some(({ type }) => eventRow(type).grows?.includes('flag'))) return null;
  const check = new GrowthCheck(world, limits);
  for (const event of events) {
    const found = event.featureName === null ? null : check.look(event as FlagEvent);
    if (found !== null) return found;
  }
  return check.lookAtCounts();
}

/** A number that one of the limits is about. */
interface Growth {
  readonly limit: GrowthLimitName;
  /** The thing that would grow, to begin a sentence with. */
  readonly subject: string;
  readonly at: string;
  readonly before: number;
  readonly after: number;
}

/** Counts parts of one thing that come and go with the events of one decision. */
type PartCount = Growth & { after: number };

/** One of several values of a kind, which have no ids. */
interface Measured {
  readonly at: string;
  readonly size: number;
}

/** Microseconds at worst, with the segments as they are. A disabled strategy counts: it is switched on without a look at it. */
export function worstCost({ directory }: World, strategy: Strategy): number {
  let { worst } = strategyCost(strategy);
  for (const id of strategy.segments) {
    const segment = directory.segments.get(id);
    if (segment !== undefined) worst += segmentCost(segment).worst;
  }
  return Math.ceil(worst);
}

/** Names of fields, at any depth. Each different one costs more to decode than its bytes. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const item of Object.values(value)) names += namesIn(item);
  return names;
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

  look(event: FlagEvent): Outgrowth | null {
    switch (event.type) {
      case 'feature-created':
        return this.#newFlag(event);
      case 'feature-metadata-updated':
        return this.#description(event, event.preData.description, event.data.description);
      case 'feature-tagged':
        return this.#countTags(event, 1);
      case 'feature-untagged':
        return this.#countTags(event, -1);
      case 'feature-strategy-add':
        this.#countStrategies(event, 1);
        this.#countCost(event, null, event.data);
        return this.#strategy(event, this.#strategyBefore(event, event.data.id), event.data);
      case 'feature-strategy-remove':
        this.#countCost(event, event.preData, null);
        return this.#countStrategies(event, -1);
      case 'feature-strategy-update':
        this.#countCost(event, event.preData, event.data);
        return this.#strategy(event, event.preData, event.data);
      case 'feature-variants-updated':
        return this.#variants(event, this.#projectEnvironments(event), event.data.variants);
      case 'feature-environment-variants-updated':
        return this.#variants(event, [event.environment], event.data.variants);
      default:
        return null;
    }
  }

  /** Checks what only the whole decision shows: a rollback may take strategies away and add others. */
  lookAtCounts(): Outgrowth | null {
    if (this.#counts === null) return null;
    for (const count of this.#counts.values()) {
      const found = this.#beyond(count);
      if (found !== null) return found;
    }
    return null;
  }

  #beyond({ limit, subject, at, before, after }: Growth): Outgrowth | null {
    const max = this.#limits[limit];
    if (after <= max || after <= before) return null;
    const { unit, setting } = GROWTH_LIMITS[limit];
    return { message: `${subject} would have ${after} ${unit}; the limit is ${max} (${setting}).`, at };
  }

  #newFlag(event: Extract<FlagEvent, { type: 'feature-created' }>): Outgrowth | null {
    const { environments = [] } = event.hidden ?? {};
    for (const { name, variants } of environments) {
      const found = this.#variants(event, [name], variants);
      if (found !== null) return found;
    }
    return this.#description(event, null, event.data.description);
  }

  #description(event: FlagEvent, before: string | null, after: string | null): Outgrowth | null {
    const subject = `The description of the flag "${event.featureName}"`;
    return this.#beyond({
      limit: 'descriptionLength',
      subject,
      at: '/description',
      ...lengths(before, after),
    });
  }

  #countTags(event: FlagEvent, change: 1 | -1): null {
    const before = this.#flag(event)?.tags.length ?? 0;
    const subject = `The flag "${event.featureName}"`;
    this.#count(event.featureName, { limit: 'tags', subject, at: '', before, after: before }, change);
    return null;
  }

  #countStrategies(event: FlagEvent & { readonly environment: string }, change: 1 | -1): null {
    const before = this.#strategiesBefore(event).size;
    const subject = `The flag ${inEnvironment(event)}`;
    this.#count(keyOf(event), { limit: 'strategies', subject, at: '', before, after: before }, change);
    return null;
  }

  #countCost(
    event: FlagEvent & { readonly environment: string },
    before: Strategy | null,
    after: Strategy | null,
  ): void {
    const world = this.#world;
    const change =
      (after === null ? 0 : worstCost(world, after)) - (before === null ? 0 : worstCost(world, before));
    if (change === 0) return;
    let known = 0;
    for (const one of this.#strategiesBefore(event).values()) known += worstCost(world, one);
    const subject = `The flag ${inEnvironment(event)}`;
    this.#count(
      `${keyOf(event)} cost`,
      { limit: 'evaluationCost', subject, at: '', before: known, after: known },
      change,
    );
  }

  #count(key: string, initial: PartCount, change: number): void {
    this.#counts ??= new Map();
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { ...initial, after: initial.after + change });
    else known.after += change;
  }

  /** `before` is undefined for a strategy that is new. */
  #strategy(
    event: FlagEvent & { readonly environment: string },
    before: Strategy | undefined,
    after: Strategy,
  ): Outgrowth | null {
    if (this.#isSmall(event, after)) return null;
    const subject = aStrategyOf(event);
    const parts = (limit: 'constraints' | 'segments' | 'variants'): Outgrowth | null =>
      this.#beyond({
        ...{ limit, subject, at: `/${limit}` },
        ...{ before: before?.[limit].length ?? 0, after: after[limit].length },
      });
    return (
      parts('constraints') ??
      this.#values(event, before?.constraints ?? [], after.constraints) ??
      parts('segments') ??
      parts('variants') ??
      this.#payloads(subject, before?.variants ?? [], after.variants, '/variants') ??
      this.#beyond({
        limit: 'titleLength',
        subject: `The title of a${subject.slice(1)}`,
        at: '/title',
        ...lengths(before?.title ?? null, after.title),
      }) ??
      this.#beyond({
        ...{ limit: 'parameters', subject, at: '/parameters' },
        ...{ before: namesIn(before?.parameters), after: namesIn(after.parameters) },
      }) ??
      this.#jsonBytes('parameterBytes', '/parameters', subject, [before?.parameters, after.parameters]) ??
      this.#jsonBytes('strategyBytes', '', subject, [before, after])
    );
  }

  /** Whether no limit is in reach, as for nearly all strategies: what the rest takes shows in each change. */
  #isSmall(event: InEnvironment & FlagEvent, after: Strategy): boolean {
    const limits = this.#limits;
    const { constraints, parameters, segments, title, variants } = after;
    const bytesMax = Math.min(limits.parameterBytes, limits.strategyBytes, limits.payloadBytes);
    return (
      constraints.length <= limits.constraints &&
      constraints.every(({ values }) => values.length <= limits.values) &&
      segments.length <= limits.segments &&
      variants.length <= limits.variants &&
      (title?.length ?? 0) <= limits.titleLength &&
      namesIn(parameters) <= limits.parameters &&
      this.#sizeMax(event, after) <= bytesMax
    );
  }

  /** No fewer bytes than the strategy takes as JSON. Of two versions, only what differs is measured. */
  #sizeMax(event: InEnvironment & FlagEvent, after: Strategy): number {
    const record = this.#record(event);
    const strategies = record === undefined ? [] : environmentOf(record.flag, event.environment).strategies;
    const before = strategies.find(({ id }) => id === after.id);
    if (record === undefined || before === undefined) return jsonSize(after);
    return record.jsonBytesMax + jsonGrowth(before, after);
  }

  #values(
    event: InEnvironment,
    before: readonly Constraint[],
    after: readonly Constraint[],
  ): Outgrowth | null {
    if (before === after) return null;
    const sizes = (constraints: readonly Constraint[]): Measured[] =>
      constraints.map(({ values }, index) => ({ at: `/constraints/${index}/values`, size: values.length }));
    const subject = `A constraint in a strategy of the flag ${inEnvironment(event)}`;
    return this.#largest('values', subject, sizes(before), sizes(after));
  }

  #payloads(
    subject: string,
    before: readonly Variant[],
    after: readonly Variant[],
    at: string,
  ): Outgrowth | null {
    if (before === after) return null;
    const sizes = (variants: readonly Variant[]): Measured[] =>
      variants.map(({ payload }, index) => ({
        at: `${at}/${index}/payload/value`,
        size: payload === undefined ? 0 : Buffer.byteLength(payload.value),
      }));
    const whose = `The payload of a variant of ${subject.slice(0, 1).toLowerCase()}${subject.slice(1)}`;
    return this.#largest('payloadBytes', whose, sizes(before), sizes(after));
  }

  /** The largest is compared with what was the largest, the next with the next. */
  #largest(
    limit: GrowthLimitName,
    subject: string,
    before: readonly Measured[],
    after: readonly Measured[],
  ): Outgrowth | null {
    const large = (sizes: readonly Measured[]): Measured[] =>
      sizes.filter(({ size }) => size > this.#limits[limit]).sort((a, b) => b.size - a.size);
    const was = large(before);
    for (const [index, { at, size }] of large(after).entries()) {
      const found = this.#beyond({ limit, subject, at, before: was[index]?.size ?? 0, after: size });
      if (found !== null) return found;
    }
    return null;
  }

  /** Makes the JSON only of what could be beyond the limit. */
  #jsonBytes(
    limit: 'parameterBytes' | 'strategyBytes',
    at: string,
    subject: string,
    [before = null, after]: readonly [unknown, unknown],
  ): Outgrowth | null {
    if (before === after || jsonSize(after) <= this.#limits[limit]) return null;
    const bytes = jsonBytes(after);
    if (bytes <= this.#limits[limit]) return null;
    return this.#beyond({ limit, subject, at, before: jsonBytes(before), after: bytes });
  }

  #variants(
    event: FlagEvent,
    environments: readonly string[],
    variants: readonly Variant[],
  ): Outgrowth | null {
    const flag = this.#flag(event);
    for (const environment of environments) {
      const before = flag === undefined ? [] : environmentOf(flag, environment).variants;
      const subject = `The flag ${inEnvironment({ featureName: event.featureName, environment })}`;
      const counts = { before: before.length, after: variants.length };
      const found =
        this.#beyond({ limit: 'variants', subject, at: '', ...counts }) ??
        this.#payloads(subject, before, variants, '');
      if (found !== null) return found;
    }
    return null;
  }

  #flag(event: FlagEvent): Flag | undefined {
    return this.#record(event)?.flag;
  }

  #record({ project, featureName }: FlagEvent): FlagRecord | undefined {
    return this.#world.projects.get(project)?.flags.get(featureName);
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

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const lengths = (before: string | null, after: string | null): Pick<Growth, 'before' | 'after'> => ({
  before: before?.length ?? 0,
  after: after?.length ?? 0,
});
