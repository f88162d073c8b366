/**
 * The limits that people live with: how many parts a flag may have, and how long its texts may be. Each is a setting. They
 * refuse growth and never cut data that exists: what is beyond a limit, because it is older or because the limit was
 * lowered, loads, can be read and switched, and can be made smaller (docs/specification/limits.md#rules).
 */

interface GrowthLimitRow {
  /** The environment variable that sets it. */
  readonly setting: string;
  readonly initial: number;
  /** The largest number that the setting takes. Bounds what one change and one response may hold. */
  readonly settingMax: number;
  /** The things counted, as in "30 strategies". */
  readonly unit: string;
  /** The place in which they are counted, for pages that list the limits. */
  readonly counted: string;
}

const row = (fields: GrowthLimitRow): GrowthLimitRow => fields;

export const GROWTH_LIMITS = {
  strategies: row({
    setting: 'STRATEGIES_PER_ENVIRONMENT_MAX',
    initial: 30,
    settingMax: 1_000,
    unit: 'strategies',
    counted: 'strategies of a flag in one environment, with disabled ones',
  }),
  constraints: row({
    setting: 'CONSTRAINTS_PER_STRATEGY_MAX',
    initial: 30,
    settingMax: 1_000,
    unit: 'constraints',
    counted: 'constraints of a strategy, without those of its segments',
  }),
  values: row({
    setting: 'VALUES_PER_CONSTRAINT_MAX',
    initial: 250,
    settingMax: 10_000,
    unit: 'values',
    counted: 'values of a constraint in a strategy',
  }),
  segments: row({
    setting: 'SEGMENTS_PER_STRATEGY_MAX',
    initial: 5,
    settingMax: 300,
    unit: 'segments',
    counted: 'segments of a strategy',
  }),
  evaluationCost: row({
    setting: 'EVALUATION_MICROSECONDS_MAX',
    initial: 250_000,
    settingMax: 10_000_000,
    unit: 'microseconds of evaluation at worst',
    counted: 'microseconds to evaluate the strategies of a flag in one environment at worst',
  }),
  parameters: row({
    setting: 'PARAMETERS_PER_STRATEGY_MAX',
    initial: 100,
    settingMax: 10_000,
    unit: 'parameters',
    counted: 'parameters of a strategy, with the names in values that are objects',
  }),
  parameterBytes: row({
    setting: 'PARAMETERS_BYTES_MAX',
    initial: 64 * 1024,
    settingMax: 1024 * 1024,
    unit: 'bytes of parameters',
    counted: 'bytes of the parameters of a strategy, as JSON',
  }),
  strategyBytes: row({
    setting: 'STRATEGY_BYTES_MAX',
    initial: 96 * 1024,
    settingMax: 512 * 1024,
    unit: 'bytes',
    counted: 'bytes of a strategy with all its parts, as JSON',
  }),
  titleLength: row({
    setting: 'TITLE_LENGTH_MAX',
    initial: 1_000,
    settingMax: 100_000,
    unit: 'characters',
    counted: 'characters of the title of a strategy',
  }),
  variants: row({
    setting: 'VARIANTS_MAX',
    initial: 50,
    settingMax: 1_000,
    unit: 'variants',
    counted: 'variants of a flag in one environment, or of a strategy',
  }),
  payloadBytes: row({
    setting: 'PAYLOAD_BYTES_MAX',
    initial: 64 * 1024,
    settingMax: 512 * 1024,
    unit: 'bytes',
    counted: 'bytes of the payload of a variant, as UTF-8',
  }),
  tags: row({
    setting: 'TAGS_PER_FLAG_MAX',
    initial: 50,
    settingMax: 1_000,
    unit: 'tags',
    counted: 'tags of a flag',
  }),
  descriptionLength: row({
    setting: 'DESCRIPTION_LENGTH_MAX',
    initial: 10_000,
    settingMax: 1_000_000,
    unit: 'characters',
    counted: 'characters of the description of a flag',
  }),
} as const;

export type GrowthLimitName = keyof typeof GROWTH_LIMITS;

export const GROWTH_LIMIT_NAMES = Object.keys(GROWTH_LIMITS) as readonly GrowthLimitName[];

/** The numbers in force. */
export type GrowthLimits = Readonly<Record<GrowthLimitName, number>>;

export function growthLimits(numberOf: (row: GrowthLimitRow) => number): GrowthLimits {
  const entries = GROWTH_LIMIT_NAMES.map((name) => [name, numberOf(GROWTH_LIMITS[name])]);
  return Object.fromEntries(entries) as GrowthLimits;
}

export const DEFAULT_GROWTH_LIMITS: GrowthLimits = growthLimits(({ initial }) => initial);
