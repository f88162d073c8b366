/**
 * An activation strategy: what a client sends, what is kept, and the order of a list of them
 * (docs/specification/strategies.md).
 * A strategy always has all its fields; what was sent in `parameters` is kept as sent. Strategies are ordered by
 * `sortOrder`, and those of the same `sortOrder` in the order in which they were added.
 */
import * as v from 'valibot';
import { parseInBudget } from '../json/check-budget.ts';
import { type Issue, issuesOf, shown } from '../json/issues.ts';
import { isJsonObject, type JsonObject, jsonEqual } from '../json/json.ts';
import { pointerToken } from '../json/json-pointer.ts';
import { described, filledText, list, titled } from '../json/schema.ts';
import { type Constraint, ConstraintSchema, isNumberText, isSingleValue } from './constraint.ts';
import { distributeWeights, StrategyVariantListSchema, type Variant } from './variant.ts';

export const STRATEGY_NAME_LENGTH_MAX = 100;

/** Far below the numbers to which a double can no longer add one. */
const SORT_ORDER_MAX = 1_000_000_000;
const SORT_ORDER_PHRASE = `a number from -${SORT_ORDER_MAX} to ${SORT_ORDER_MAX}`;
export const SortOrderSchema = v.pipe(
  v.number(SORT_ORDER_PHRASE),
  v.minValue(-SORT_ORDER_MAX, SORT_ORDER_PHRASE),
  v.maxValue(SORT_ORDER_MAX, SORT_ORDER_PHRASE),
);

/**
 * This uses neither record nor looseObject of valibot, because both silently drop fields named constructor or
 * prototype, and everything that the client sent must be kept. Its type is not JsonObject, because TypeScript does
 * not terminate on a recursive type inside `optional`.
 */
export const ParametersSchema = v.pipe(
  v.custom<Readonly<Record<string, unknown>> | null>(
    (value) => value === null || isJsonObject(value),
    'an object or null',
  ),
  v.metadata({
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'Settings of the strategy kind, kept as sent; for a rollout: rollout, groupId, stickiness.',
  }),
);

export const StrategyInputSchema = titled('Strategy input', {
  name: v.pipe(
    filledText('a name', STRATEGY_NAME_LENGTH_MAX),
    v.description('The kind of strategy, such as default or flexibleRollout.'),
  ),
  title: v.optional(v.nullable(v.string('a string or null')), null),
  disabled: v.optional(
    described(v.nullable(v.boolean('true, false or null')), 'A disabled strategy is kept but not evaluated.'),
    false,
  ),
  constraints: v.optional(list(ConstraintSchema, 'a list of constraints'), []),
  parameters: v.optional(ParametersSchema, () => ({})),
  variants: v.optional(StrategyVariantListSchema, []),
  segments: v.optional(
    described(
      list(v.pipe(v.number('an integer'), v.integer('an integer')), 'a list of integers'),
      'Ids of attached segments.',
    ),
    [],
  ),
  sortOrder: v.exactOptional(
    v.pipe(SortOrderSchema, v.description('Position in the list; one above the highest when not sent.')),
  ),
});

/** One schema for each field, so that messages name it. Fields do not depend on each other. */
const FIELD_SCHEMAS = Object.entries<v.GenericSchema>(StrategyInputSchema.entries).map(
  ([field, schema]) => [field, v.object({ [field]: schema })] as const,
);

/** Checks the fields in `fields`, or all of them when it is null; the others are taken from `known`, which was checked before. */
export function parseStrategyFields(
  value: unknown,
  fields: ReadonlySet<string> | null,
  known: Strategy,
):
  | { readonly ok: true; readonly value: StrategyInput }
  | { readonly ok: false; readonly issue: Issue | undefined } {
  const parsed = { ...known };
  for (const [field, schema] of FIELD_SCHEMAS) {
    if (fields !== null && !fields.has(field)) continue;
    const { issues, value: output } = parseInBudget(schema, value);
    if (issues !== undefined) return { ok: false, issue: issuesOf(issues)[0] };
    Object.assign(parsed, output);
  }
  return { ok: true, value: parsed as unknown as StrategyInput };
}

export type StrategyInput = v.InferOutput<typeof StrategyInputSchema>;

export interface Strategy {
  readonly id: string;
  readonly name: string;
  readonly title: string | null;
  readonly disabled: boolean | null;
  readonly constraints: readonly Constraint[];
  readonly parameters: JsonObject | null;
  readonly variants: readonly Variant[];
  readonly segments: readonly number[];
  readonly sortOrder: number;
}

/** The strategy as events and responses show it, with the name of its flag. */
export type StrategyData = Strategy & { readonly featureName: string };

// Strategies are copied field by field, so that one has its fields in the same order whether it comes from a request or from the
// journal, and because spreading an object takes as long as everything else in a patch.

export function strategyOf(data: Strategy): Strategy {
  const { id, name, title, disabled, constraints, parameters, variants, segments, sortOrder } = data;
  return { id, name, title, disabled, constraints, parameters, variants, segments, sortOrder };
}

export function strategyData(flag: { readonly name: string }, strategy: Strategy): StrategyData {
  const { id, name, title, disabled, constraints, parameters, variants, segments, sortOrder } = strategy;
  const featureName = flag.name;
  return { id, name, title, disabled, constraints, parameters, variants, segments, sortOrder, featureName };
}

/** A strategy that forms offer as a new one, and that no flag has. */
export type DefaultStrategy = Omit<Strategy, 'id' | 'sortOrder'>;

export function defaultStrategyOf(input: StrategyInput): DefaultStrategy {
  const { id: _, sortOrder: __, ...fields } = createStrategy(input, '', 0);
  return fields;
}

/** `sortOrder` is used for a strategy that was sent without one. */
export function createStrategy(input: StrategyInput, id: string, sortOrder: number): Strategy {
  return {
    id,
    name: input.name,
    title: input.title,
    disabled: input.disabled,
    constraints: input.constraints,
    // Bodies and patched documents hold only JSON.
    parameters: input.parameters as JsonObject | null,
    variants: distributeWeights(input.variants),
    segments: input.segments,
    sortOrder: input.sortOrder ?? sortOrder,
  };
}

/** Whether any of the strategies is evaluated: a disabled one is kept but not evaluated. */
export function hasEnabledStrategy(strategies: readonly Pick<Strategy, 'disabled'>[]): boolean {
  return strategies.some(({ disabled }) => disabled !== true);
}

/** The percentage of users, where one strategy decides and nothing in it but its rollout; otherwise null. `enabled`: of those strategies that are evaluated. */
export function soleRollout(
  enabled: readonly Pick<Strategy, 'name' | 'parameters' | 'constraints' | 'segments'>[],
): number | null {
  const [only] = enabled;
  if (only === undefined || enabled.length > 1 || only.constraints.length + only.segments.length > 0) {
    return null;
  }
  if (only.name === 'default') return 100;
  if (only.name !== 'flexibleRollout') return null;
  const percentage = Number(only.parameters?.['rollout'] ?? 0);
  return Math.min(100, Math.max(0, Number.isFinite(percentage) ? percentage : 0));
}

/** For `sort`, which is stable, so strategies with the same sortOrder stay in the order in which they were added. */
export function bySortOrder(a: Pick<Strategy, 'sortOrder'>, b: Pick<Strategy, 'sortOrder'>): number {
  return a.sortOrder - b.sortOrder;
}

/** 0 for an empty list, else one above the highest. */
export function nextSortOrder(strategies: readonly Pick<Strategy, 'sortOrder'>[]): number {
  if (strategies.length === 0) return 0;
  return strategies.reduce((highest, { sortOrder }) => Math.max(highest, sortOrder), -Infinity) + 1;
}

// Rules that a strategy must keep when a client sets it, and that strategies recorded before the rule existed may break:
// they load and stay as they are, so the schemas, which imports share, do not know these rules
// (docs/specification/strategies.md#constraints, docs/specification/strategies.md#fields).

const PERCENT_MAX = 100;

/** The parameter that is a percentage, by the kind of strategy. */
const PERCENTAGES: ReadonlyMap<string, string> = new Map([
  ['flexibleRollout', 'rollout'],
  ['gradualRolloutUserId', 'percentage'],
  ['gradualRolloutSessionId', 'percentage'],
  ['gradualRolloutRandom', 'percentage'],
]);

/** The first rule that `after` breaks where it differs from `before`, which is null for a new strategy. */
export function strategyIssue(after: DefaultStrategy, before: DefaultStrategy | null): Issue | null {
  return emptyConstraint(after, before) ?? wrongPercentage(after, before);
}

/** A constraint without values matches nobody, or inverted everybody; also one with empty texts alone is always a slip. */
export function emptyConstraint(
  { constraints }: Pick<DefaultStrategy, 'constraints'>,
  before: DefaultStrategy | null,
): Issue | null {
  if (before !== null && constraints === before.constraints) return null;
  for (const [index, constraint] of constraints.entries()) {
    if (constraint.values.some((value) => value !== '') || isSingleValue(constraint.operator)) continue;
    if (before?.constraints.some((one: Constraint) => jsonEqual(one, constraint))) continue;
    const { operator } = constraint;
    return {
      path: `/constraints/${index}/values`,
      message: `The field values must be a list of at least one string that is not empty, for the operator ${operator}.`,
    };
  }
  return null;
}

/** Finds a wrong percentage, which is a number or its text. One that was not sent is left to the defaults of SDKs. */
function wrongPercentage(
  { name, parameters }: DefaultStrategy,
  before: DefaultStrategy | null,
): Issue | null {
  const field = PERCENTAGES.get(name);
  const value = field === undefined ? undefined : parameters?.[field];
  if (field === undefined || value === undefined) return null;
  if (before !== null && before.name === name && jsonEqual(before.parameters?.[field] ?? null, value))
    return null;
  const number = typeof value === 'string' && isNumberText(value) ? Number(value) : value;
  if (typeof number === 'number' && number >= 0 && number <= PERCENT_MAX) return null;
  return {
    path: `/parameters/${pointerToken(field)}`,
    message: `The parameter ${field} must be a percentage from 0 to ${PERCENT_MAX}, not ${shown(value)}.`,
  };
}

/** The strategies that only `before` has, and those that only `after` has: what lies between the ends that both lists share. */
export function exchanged(
  before: readonly Strategy[],
  after: readonly Strategy[],
): readonly [gone: readonly Strategy[], come: readonly Strategy[]] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}
