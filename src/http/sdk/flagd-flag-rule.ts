/**
 * For whom a flag is on, as a condition of flagd; left out where that would not be the same people. flagd chooses shares of users by a
 * hash of its own, so a rollout to some percent, or one of several variants, would give its users something else than SDKs give them.
 */
import type { ConstraintSource } from '../../domain/evaluation/constraint-test.ts';
import { parameterReader } from '../../domain/evaluation/parameters.ts';
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import { compileKind } from '../../domain/evaluation/strategy-kind.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';

/** The surroundings of a flag that its translation depends on. */
export interface RuleScope {
  readonly environment: string;
  readonly environmentEnabled: boolean;
  /** A flag that the token covers and that is not archived. */
  flag(name: string): Flag | undefined;
  segment(id: number): SegmentSource | undefined;
}

export function flagRule(flag: Flag, scope: RuleScope): Translated {
  return all([...flag.dependencies.map((dependency) => parentRule(dependency, scope)), ownRule(flag, scope)]);
}

/** Parents aside. The order of checks is that of the evaluation, so a flag that is off is off whatever its strategies say. */
function ownRule(flag: Flag, { environment, environmentEnabled, segment }: RuleScope): Translated {
  const { enabled, strategies, variants } = environmentOf(flag, environment);
  const active = strategies.filter(({ disabled }) => disabled !== true);
  if (!enabled || !environmentEnabled || (active.length === 0 && strategies.length > 0)) return false;
  const rule = active.length === 0 ? true : any(active.map((strategy) => strategyRule(strategy, segment)));
  if (rule === false) return false;
  const hasVariants = variants.length > 0 || active.some((strategy) => strategy.variants.length > 0);
  return hasVariants ? leaveOut('it has variants, which flagd chooses by another hash') : rule;
}

/** A parent with parents of its own allows nobody, as in SDKs. A rule would be repeated in every child, so there is none. */
function parentRule(dependency: Flag['dependencies'][number], scope: RuleScope): Translated {
  const parent = scope.flag(dependency.feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const rule = ownRule(parent, scope);
  if (typeof rule !== 'boolean') return leaveOut('its parent is not on, or off, for everybody');
  if (dependency.enabled === false) return not(rule);
  // Without variants, a parent has the one that is called disabled.
  return rule && (dependency.variants.length === 0 || dependency.variants.includes('disabled'));
}

function strategyRule(
  { name, parameters, constraints, segments }: Strategy,
  segment: RuleScope['segment'],
): Translated {
  const shared = segments.map((id) => segment(id));
  if (shared.includes(undefined)) return false;
  const inherited = shared.flatMap((one) => one?.constraints ?? []);
  const kind = kindRule(name, parameters);
  return all([kind, ...[...constraints, ...inherited].map(constraintRule)]);
}

function kindRule(name: string, parameters: Strategy['parameters']): Translated {
  const kind = compileKind(name, parameters);
  if (kind === null) return false;
  if (kind.rollout !== null) return rolloutRule(kind.rollout, kind.constant !== null);
  if (name === 'default') return true;
  if (name !== 'userWithId') return leaveOut(`it has a strategy of the type ${name}`);
  const userIds = parameterReader(parameters)('userIds');
  return isOneOf(USER, userIds === '' ? [] : userIds.split(',').map((one) => one.trim()));
}

function rolloutRule(
  { percentage, stickiness }: { readonly percentage: number; readonly stickiness: string },
  isConstant: boolean,
): Translated {
  if (!(percentage >= 1)) return false;
  if (percentage < 100)
    return leaveOut('it is rolled out to a share of users, whom flagd chooses by another hash');
  if (isConstant) return true;
  // Everybody who has the field: nothing to be sticky on means nobody.
  const field = fieldRule(stickiness);
  return field === null
    ? leaveOut('it is sticky on a field whose name flagd cannot read')
    : ifGiven(field, { '!==': [field, ''] });
}

// Conditions in the language of flagd's targeting, which is JSONLogic with some operations more. What can be decided when the
// condition is made is a boolean and never a rule.

/** An operation with its arguments, as JSON. */
type Rule = Readonly<Record<string, unknown>>;

type Condition = boolean | Rule;

/** Why something cannot be said to flagd exactly, in a few words. */
interface LeftOut {
  readonly leftOut: string;
}

type Translated = Condition | LeftOut;

export function isLeftOut(translated: Translated): translated is LeftOut {
  return typeof translated === 'object' && Object.hasOwn(translated, 'leftOut');
}

function leaveOut(reason: string): LeftOut {
  return { leftOut: reason };
}

/** Whatever is left out does not matter where another part never holds. */
function all(parts: readonly Translated[]): Translated {
  return combined(parts, 'and', false);
}

/** Whatever is left out does not matter where another part always holds. */
function any(parts: readonly Translated[]): Translated {
  return combined(parts, 'or', true);
}

function not(part: Translated): Translated {
  if (typeof part === 'boolean') return !part;
  return isLeftOut(part) ? part : { '!': [part] };
}

/** `decisive`: the value of a part that decides the whole. */
function combined(parts: readonly Translated[], operation: 'and' | 'or', decisive: boolean): Translated {
  if (parts.includes(decisive)) return decisive;
  const leftOut = parts.find(isLeftOut);
  if (leftOut !== undefined) return leftOut;
  const rules = parts.filter((part) => typeof part !== 'boolean');
  if (rules.length === 0) return !decisive;
  return rules.length === 1 ? rules[0]! : { [operation]: rules };
}

// Constraints as conditions of flagd. Context values are what they are there, and not always texts: a list of texts is compared
// with numbers and booleans too, as the evaluation of this server does, which makes texts of them.

const USER_ID = { var: 'userId' };

/** The user that an evaluation is for: `userId`, or OpenFeature's `targetingKey` when the application sends no `userId`. */
const USER: Rule = { if: [{ '===': [USER_ID, null] }, { var: 'targetingKey' }, USER_ID] };

/**
 * Null for a field that flagd cannot name: it takes dots for steps into objects, has names of its own, and its evaluator in
 * JavaScript finds what every object has.
 */
function fieldRule(name: string): Rule | null {
  if (name === '' || name.includes('.') || name.startsWith('$flagd') || name in {}) return null;
  return name === 'userId' ? USER : { var: name };
}

function constraintRule(constraint: ConstraintSource): Translated {
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
function isOneOf(field: Rule, texts: readonly string[]): Translated {
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
const ifGiven = (field: Rule, rule: Rule): Rule => ({ and: [{ '!==': [field, null] }, rule] });

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
