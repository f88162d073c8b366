/**
 * Rules that a strategy must keep when a client sets it, and that strategies recorded before the rule existed may break:
 * they load and stay as they are, so the schemas, which imports share, do not know these rules
 * (docs/specification/strategies.md#constraints, docs/specification/strategies.md#fields).
 */
import { type Issue, shown } from '../json/issues.ts';
import { jsonEqual } from '../json/json.ts';
import { pointerToken } from '../json/json-pointer.ts';
import { type Constraint, isSingleValue } from './constraint.ts';
import { isNumberText } from './constraint-value.ts';
import type { DefaultStrategy } from './strategy.ts';

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

/** A constraint without values matches nobody, or inverted everybody: always a slip. */
function emptyConstraint({ constraints }: DefaultStrategy, before: DefaultStrategy | null): Issue | null {
  if (before !== null && constraints === before.constraints) return null;
  for (const [index, constraint] of constraints.entries()) {
    if (constraint.values.length > 0 || isSingleValue(constraint.operator)) continue;
    if (before?.constraints.some((one: Constraint) => jsonEqual(one, constraint))) continue;
    const { operator } = constraint;
    return {
      path: `/constraints/${index}/values`,
      message: `The field values must be a list of at least one string, for the operator ${operator}, not an empty list.`,
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
