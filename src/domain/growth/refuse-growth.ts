/**
 * Holds a flag to its limits: those of growth-limits.ts, and its bytes. It compares the flag with what a decision would make of it,
 * so every way to make a flag larger is held, a clone and a rollback as well as a request that says so plainly. Only growth is
 * refused: a strategy with 40 constraints may lose one of them, and then has 39.
 */
import { segmentCost, strategyCost } from '../flags/evaluation-cost.ts';
import { environmentOf, type Flag, type FlagEnvironment } from '../flags/flag.ts';
import { GROWTH_LIMITS, type GrowthLimitName, type GrowthLimits } from '../flags/growth-limits.ts';
import { exchanged, type Strategy } from '../flags/strategy.ts';
import { jsonSize } from '../json/json.ts';
import type { FlagRecord } from '../state/flag-record.ts';
import { type Refusal, refuse } from '../state/refusal.ts';
import { inlinedBytes } from '../state/served-bytes.ts';
import type { World } from '../state/world.ts';

/**
 * Bytes of one flag as JSON, with the segments that are inlined for applications in any one environment. Bounds the time that one change
 * of a flag, and one step of a response, hold the event loop: a flag of this size is written as JSON in 0.5 ms. The largest real
 * flags take a twentieth of it.
 */
export const FLAG_BYTES_MAX = 128 * 1024;

/** Growth beyond a limit. */
export interface Excess {
  readonly message: string;
  /** JSON pointer below what the event holds: `/description`, `/constraints/2/values`; '' for the whole of it. */
  readonly at: string;
}

/** The first of the limits on its parts that the flag would break; null when it keeps all. */
export function findExcess(
  world: World,
  before: Flag | null,
  { flag: after, jsonBytesMax }: FlagRecord,
  limits: GrowthLimits,
): Excess | null {
  const bounds = { world, limits, jsonBytesMax };
  const found = beyond(FLAG_ROWS, bounds, before, after, `"${after.name}"`);
  if (found !== null) return found;
  for (const environment of after.environments) {
    const known = before === null ? null : environmentOf(before, environment.name);
    if (known === environment) continue;
    const place = `"${after.name}" in the environment "${environment.name}"`;
    const excess = excessIn(bounds, known, environment, place);
    if (excess !== null) return excess;
  }
  return null;
}

interface Bounds {
  readonly world: World;
  readonly limits: GrowthLimits;
  /** No part of the flag has more bytes, or more parts. */
  readonly jsonBytesMax: number;
}

function excessIn(
  bounds: Bounds,
  before: FlagEnvironment | null,
  after: FlagEnvironment,
  place: string,
): Excess | null {
  const { world, limits } = bounds;
  const known = before?.strategies ?? [];
  const [gone, come] = exchanged(known, after.strategies);
  const old = gone.length < 2 ? null : new Map(gone.map((one) => [one.id, one]));
  for (const strategy of come) {
    const was = old === null ? gone[0] : old.get(strategy.id);
    const isKnown = was !== undefined && was.id === strategy.id;
    const excess = beyond(STRATEGY_ROWS, bounds, isKnown ? was : null, strategy, place);
    if (excess !== null) return excess;
  }
  const excess = beyond(ENVIRONMENT_ROWS, bounds, before, after, place);
  if (excess !== null || costOf(world, come) <= costOf(world, gone)) return excess;
  const max = limits.evaluationCost;
  const cost = costOf(world, after.strategies);
  if (cost <= max || cost <= costOf(world, known)) return null;
  return excessOf({ limit: 'evaluationCost', subject: 'The flag', at: '' }, place, cost, max);
}

/** Microseconds at worst, with the segments as they are. Disabled strategies count: they are switched on without a look at it. */
export function costOf({ directory }: Pick<World, 'directory'>, strategies: readonly Strategy[]): number {
  let sum = 0;
  for (const strategy of strategies) {
    let { worst } = strategyCost(strategy);
    for (const id of strategy.segments) {
      const segment = directory.segments.get(id);
      if (segment !== undefined) worst += segmentCost(segment).worst;
    }
    sum += Math.ceil(worst);
  }
  return sum;
}

/** A measure of a thing. */
interface Row<Part> {
  readonly limit: GrowthLimitName;
  /** The thing that would grow, to begin a sentence with. */
  readonly subject: string;
  readonly at: string;
  /** The field that is measured; absent where it is all of the thing. */
  readonly field?: keyof Part;
  /** The size, or those of several values of a kind, which have no ids; absent where it is the length of the field. */
  readonly sizesOf?: (part: Part) => number | readonly number[];
}

const FLAG_ROWS: readonly Row<Flag>[] = [
  {
    ...{ limit: 'descriptionLength', field: 'description' },
    ...{ subject: 'The description of the flag', at: '/description' },
  },
  { limit: 'tags', subject: 'The flag', at: '', field: 'tags' },
];

const ENVIRONMENT_ROWS: readonly Row<FlagEnvironment>[] = [
  { limit: 'strategies', subject: 'The flag', at: '', field: 'strategies' },
  { limit: 'variants', subject: 'The flag', at: '', field: 'variants' },
  {
    ...{ limit: 'payloadBytes', field: 'variants', sizesOf: payloadSizes },
    ...{ subject: 'The payload of a variant of the flag', at: '/#/payload/value' },
  },
];

const A_STRATEGY = 'A strategy of the flag';

const STRATEGY_ROWS: readonly Row<Strategy>[] = [
  { limit: 'constraints', subject: A_STRATEGY, at: '/constraints', field: 'constraints' },
  {
    ...{ limit: 'values', field: 'constraints' },
    ...{ subject: 'A constraint in a strategy of the flag', at: '/constraints/#/values' },
    sizesOf: ({ constraints }) => constraints.map(({ values }) => values.length),
  },
  { limit: 'segments', subject: A_STRATEGY, at: '/segments', field: 'segments' },
  { limit: 'variants', subject: A_STRATEGY, at: '/variants', field: 'variants' },
  {
    ...{ limit: 'payloadBytes', field: 'variants', sizesOf: payloadSizes },
    ...{ subject: 'The payload of a variant of a strategy of the flag', at: '/variants/#/payload/value' },
  },
  { limit: 'titleLength', subject: 'The title of a strategy of the flag', at: '/title', field: 'title' },
  {
    ...{ limit: 'parameters', subject: A_STRATEGY, at: '/parameters', field: 'parameters' },
    sizesOf: ({ parameters }) => namesIn(parameters),
  },
  {
    ...{ limit: 'parameterBytes', subject: A_STRATEGY, at: '/parameters', field: 'parameters' },
    sizesOf: ({ parameters }) => jsonSize(parameters),
  },
  { limit: 'strategyBytes', subject: A_STRATEGY, at: '', sizesOf: jsonSize },
];

function sizesIn<Part>({ field, sizesOf }: Row<Part>, part: Part): number | readonly number[] {
  if (sizesOf !== undefined) return sizesOf(part);
  return (part[field!] as { readonly length: number } | null | undefined)?.length ?? 0;
}

function payloadSizes({ variants }: Pick<FlagEnvironment, 'variants'>): readonly number[] {
  return variants.map(({ payload }) => (payload === undefined ? 0 : Buffer.byteLength(payload.value)));
}

/** The first row in which `after` has grown beyond the limit. `before` is null for what is new. */
function beyond<Part>(
  rows: readonly Row<Part>[],
  { limits, jsonBytesMax }: Bounds,
  before: Part | null,
  after: Part,
  place: string,
): Excess | null {
  for (const row of rows) {
    const max = limits[row.limit];
    if (jsonBytesMax <= max || isKept(row, before, after)) continue;
    const sizes = sizesIn(row, after);
    if (typeof sizes === 'number') {
      if (sizes <= max) continue;
      if (before === null || sizes > Number(sizesIn(row, before))) return excessOf(row, place, sizes, max);
    } else if (sizes.some((size) => size > max)) {
      const known = before === null ? [] : [sizesIn(row, before)].flat();
      const at = grownBeyond(known, sizes, max);
      if (at !== null)
        return excessOf({ ...row, at: row.at.replace('#', String(at)) }, place, sizes[at]!, max);
    }
  }
  return null;
}

const isKept = <Part>({ field }: Row<Part>, before: Part | null, after: Part): boolean =>
  field !== undefined && before?.[field] === after[field];

/** The place of a size that has grown: the largest is compared with what was the largest, the next with the next. */
function grownBeyond(before: readonly number[], after: readonly number[], max: number): number | null {
  const known = before.toSorted((a, b) => b - a);
  const order = [...after.keys()].sort((a, b) => after[b]! - after[a]!);
  const rank = order.findIndex((at, index) => after[at]! > max && after[at]! > (known[index] ?? 0));
  return order[rank] ?? null;
}

function excessOf(
  { limit, subject, at }: Pick<Row<never>, 'limit' | 'subject' | 'at'>,
  place: string,
  size: number,
  max: number,
): Excess {
  const { unit, setting } = GROWTH_LIMITS[limit];
  return { message: `${subject} ${place} would have ${size} ${unit}; the limit is ${max} (${setting}).`, at };
}

/** Names of fields, at any depth. Each different one costs more to decode than its bytes. */
function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const isList = Array.isArray(value);
  let names = 0;
  for (const key in value) names += (isList ? 0 : 1) + namesIn((value as Record<string, unknown>)[key]);
  return names;
}

/** Refuses growth of a flag beyond FLAG_BYTES_MAX. `before` is null for a flag that is new. */
export function refuseLargeFlag(
  { directory }: World,
  before: FlagRecord | null,
  after: FlagRecord,
): Refusal | null {
  // Nearly all flags are so far from their bound that they need not be measured.
  const segments = inlinedIn(directory, after.flag);
  if (after.jsonBytesMax + segments <= FLAG_BYTES_MAX) return null;
  const bytes = jsonSize(after.flag) + segments;
  if (bytes <= FLAG_BYTES_MAX) return null;
  if (before !== null && bytes <= jsonSize(before.flag) + inlinedIn(directory, before.flag)) return null;
  const withSegments = segments === 0 ? '' : ' with its segments';
  return refuse(
    'PayloadTooLargeError',
    `The flag "${after.flag.name}"${withSegments} would take ${kibibytes(bytes)} KiB as JSON; a flag may take ${kibibytes(FLAG_BYTES_MAX)} KiB. Make its payloads, parameters and lists of values shorter, or keep them elsewhere and name them here.`,
  );
}

/** Bytes of the segments that are inlined for applications, in the environment where they are most. */
function inlinedIn({ segments: all }: World['directory'], flag: Flag): number {
  let most = 0;
  for (const { strategies } of flag.environments) {
    let bytes = 0;
    for (const { segments } of strategies) bytes += inlinedBytes(all, segments);
    most = Math.max(most, bytes);
  }
  return most;
}

const kibibytes = (bytes: number): number => Math.ceil(bytes / 1024);
