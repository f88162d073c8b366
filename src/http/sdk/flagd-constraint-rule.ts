/**
 * Constraints as conditions of flagd. Context values are what they are there, and not always texts: a list of texts is compared
 * with numbers and booleans too, as the evaluation of this server does, which makes texts of them.
 */
import type { ConstraintSource } from '../../domain/evaluation/constraint-test.ts';
import { any, leaveOut, not, type Rule, type Translated } from './flagd-condition.ts';

const USER_ID = { var: 'userId' };

/** Who an evaluation is for is `targetingKey` to OpenFeature, as long as the application names no user. */
export const USER: Rule = { if: [{ '===': [USER_ID, null] }, { var: 'targetingKey' }, USER_ID] };

/**
 * Null for a field that flagd cannot name: it takes dots for steps into objects, has names of its own, and its evaluator in
 * JavaScript finds what every object has.
 */
export function fieldRule(name: string): Rule | null {
  if (name === '' || name.includes('.') || name.startsWith('$flagd') || name in {}) return null;
  return name === 'userId' ? USER : { var: name };
}

export function constraintRule(constraint: ConstraintSource): Translated {
  const translate = OPERATORS.get(constraint.operator);
  // An unknown operator never holds, inverted or not, as in SDKs.
  if (translate === undefined) return LEFT_OUT.get(constraint.operator) ?? false;
  const translated = translate(constraint);
  return constraint.inverted === true ? not(translated) : translated;
}

type Translate = (constraint: ConstraintSource) => Translated;

const OPERATORS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ['IN', isIn],
  ['NOT_IN', (constraint) => not(isIn(constraint))],
  ['STR_STARTS_WITH', textOperator((field, part) => ({ starts_with: [field, part] }))],
  ['STR_ENDS_WITH', textOperator((field, part) => ({ ends_with: [field, part] }))],
  ['STR_CONTAINS', textOperator((field, part) => ({ in: [part, field] }))],
  ['NUM_EQ', numberOperator('==')],
  ['NUM_GT', numberOperator('>')],
  ['NUM_GTE', numberOperator('>=')],
  ['NUM_LT', numberOperator('<')],
  ['NUM_LTE', numberOperator('<=')],
  ['DATE_AFTER', dateOperator('>')],
  ['DATE_BEFORE', dateOperator('<')],
]);

const VERSIONS = leaveOut('it compares versions, which flagd does by other rules');

const LEFT_OUT: ReadonlyMap<string, Translated> = new Map([
  ...['SEMVER_EQ', 'SEMVER_GT', 'SEMVER_GTE', 'SEMVER_LT', 'SEMVER_LTE'].map(
    (one) => [one, VERSIONS] as const,
  ),
  ['REGEX', leaveOut('it compares with a pattern, which flagd has none of')],
  ['IN_CIDR', leaveOut('it compares addresses, which flagd does not')],
]);

const NO_FIELD = leaveOut('it compares a field whose name flagd cannot read');

/** The values as the evaluation takes them: empty ones match nothing, and spaces around the others do not count. */
function valuesOf({ values = [] }: ConstraintSource): string[] {
  return values.filter((value) => value !== '').map((value) => value.trim());
}

function isIn(constraint: ConstraintSource): Translated {
  const field = fieldRule(constraint.contextName);
  return field === null ? NO_FIELD : isOneOf(field, valuesOf(constraint));
}

/** Also for a number or a boolean that becomes one of the texts. */
export function isOneOf(field: Rule, texts: readonly string[]): Translated {
  return texts.length === 0 ? false : { in: [field, texts.flatMap(withPrimitives)] };
}

function withPrimitives(text: string): (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? [text, number] : [text];
}

function textOperator(rule: (field: Rule, part: string) => Rule): Translate {
  return (constraint) => {
    const field = fieldRule(constraint.contextName);
    if (field === null) return NO_FIELD;
    if (constraint.caseInsensitive === true) {
      return leaveOut('it compares texts in any case, which flagd does not');
    }
    return any(valuesOf(constraint).map((part) => ifGiven(field, rule(field, part))));
  };
}

/** JSONLogic compares a missing field as 0 or as an error, depending on who evaluates. */
export const ifGiven = (field: Rule, rule: Rule): Rule => ({ and: [{ '!==': [field, null] }, rule] });

function numberOperator(operation: string): Translate {
  return ({ contextName, value }) => {
    const field = fieldRule(contextName);
    if (field === null) return NO_FIELD;
    const limit = Number(value);
    // Nothing compares with what is no number.
    return Number.isFinite(limit) ? ifGiven(field, { [operation]: [field, limit] }) : false;
  };
}

/** Compares the clock of flagd, which counts seconds, whatever field the constraint names, as the evaluation does. */
function dateOperator(operation: '<' | '>'): Translate {
  return ({ value }) => {
    const limitMs = Date.parse(value ?? '');
    if (Number.isNaN(limitMs)) return false;
    return { [operation]: [{ var: '$flagd.timestamp' }, limitMs / 1000] };
  };
}
