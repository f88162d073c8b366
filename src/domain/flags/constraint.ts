/**
 * A condition on the evaluation context under which a strategy applies
 * (docs/specification/strategies.md#constraints). Multi-value operators compare with `values`, single-value ones with
 * `value`, which must be of the operator's kind. Nothing is coerced, and unknown fields are dropped.
 */
import * as v from 'valibot';
import { spendUnits } from '../json/check-budget.ts';
import { shown } from '../json/issues.ts';
import { described, list, titled } from '../json/schema.ts';
import { parseAddress } from './address.ts';
import { patternIssue, patternUnits } from './pattern.ts';
import { parseSemanticVersion } from './semantic-version.ts';

// The three kinds of text that a single-value constraint compares with: numbers, date-times and semantic versions.
// SDKs in many languages parse them again, so only forms that all of them read in the same way are accepted: no
// surrounding spaces, no hexadecimal, no date without a time, and no time without a zone, which would be a different
// instant for each reader. Every check takes time linear in the length of the text.

/** Decimal, with an optional fraction and exponent. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function isNumberText(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

/** Date and time of ISO 8601 in the extended form, as in RFC 3339, with seconds and their fraction optional. */
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (match === null) return false;
  const [, year = 0, month = 0, day = 0] = match.map(Number);
  // The calendar repeats after 400 years, and Date.UTC takes years below 100 for ones of the last century.
  const date = new Date(Date.UTC(2000 + (year % 400), month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

export const MULTI_VALUE_OPERATORS = [
  'NOT_IN',
  'IN',
  'STR_ENDS_WITH',
  'STR_STARTS_WITH',
  'STR_CONTAINS',
  'IN_CIDR',
] as const;

export const SINGLE_VALUE_OPERATORS = [
  'NUM_EQ',
  'NUM_GT',
  'NUM_GTE',
  'NUM_LT',
  'NUM_LTE',
  'DATE_AFTER',
  'DATE_BEFORE',
  'SEMVER_EQ',
  'SEMVER_GT',
  'SEMVER_LT',
  'SEMVER_GTE',
  'SEMVER_LTE',
  'REGEX',
] as const;

const OPERATORS = [...MULTI_VALUE_OPERATORS, ...SINGLE_VALUE_OPERATORS] as const;

type ConstraintOperator = (typeof OPERATORS)[number];

const ConstraintRules = v.pipe(
  v.object({
    contextName: v.pipe(
      v.string('a string'),
      v.minLength(1, 'the name of a context field'),
      v.description('The context field the constraint applies to.'),
    ),
    operator: described(
      v.picklist(OPERATORS, `one of ${OPERATORS.join(', ')}`),
      'How the context field is compared.',
    ),
    caseInsensitive: v.optional(
      described(v.boolean(), 'Whether STR_ operators ignore upper and lower case.'),
      false,
    ),
    inverted: v.optional(described(v.boolean(), 'Whether the result is negated.'), false),
    // There is no default, because a list that was not sent must be distinguished from an empty one.
    values: v.exactOptional(
      described(
        list(v.string(), 'a list of strings'),
        'What multi-value operators compare with; required for them.',
      ),
    ),
    value: v.exactOptional(
      described(
        v.string(),
        'What single-value operators compare with; required for them: a number (NUM_), an ISO 8601 ' +
          'date-time with its zone (DATE_), a semantic version (SEMVER_) or a regular expression (REGEX).',
      ),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['operator'], ['values']],
      ({ operator, values }) => isSingleValue(operator) || values !== undefined,
      ({ input }) =>
        `The field values is required: the operator ${input.operator} compares with a list of strings.`,
    ),
    ['values'],
  ),
  v.forward(
    v.partialCheck(
      [['operator'], ['value']],
      ({ operator, value }) =>
        !isSingleValue(operator) || (value !== undefined && kindOf(operator).accepts(value)),
      ({ input }) => valueMessage(input.operator, input.value),
    ),
    ['value'],
  ),
  v.forward(
    v.partialCheck(
      [['operator'], ['values']],
      ({ operator, values }) => operator !== 'IN_CIDR' || noAddress(values) === undefined,
      ({ input }) =>
        `The field values must hold IP addresses and ranges such as "10.0.0.0/8", for the operator IN_CIDR, not ${shown(noAddress(input.values))}.`,
    ),
    ['values'],
  ),
  v.transform((sent): Constraint => ({ ...sent, values: sent.values ?? [] })),
  v.title('Constraint'),
);

const OnePatternTooMany = v.object({
  value: v.pipe(
    v.string(),
    v.check(
      () => false,
      'The field value is a pattern too many: those of one request may have about 32,000 characters in all, of which those of one with \\p count 40 times. Send them in several requests.',
    ),
  ),
});

/** Checks patterns within the budget of the request. */
export const ConstraintSchema: typeof ConstraintRules = {
  ...ConstraintRules,
  '~run': (dataset, config) => {
    const pattern = sentPattern(dataset.value);
    const isAffordable = pattern === null || spendUnits(config, patternUnits(pattern));
    return isAffordable
      ? ConstraintRules['~run'](dataset, config)
      : (OnePatternTooMany['~run'](dataset, config) as ReturnType<(typeof ConstraintRules)['~run']>);
  },
};

/** A stored constraint, which has every field that a client may leave out. */
export const KeptConstraintSchema = titled('Constraint', {
  ...ConstraintSchema.entries,
  caseInsensitive: v.boolean(),
  inverted: v.boolean(),
  values: v.array(v.string()),
});

/** Null for anything but a constraint with the operator REGEX. */
function sentPattern(sent: unknown): string | null {
  if (typeof sent !== 'object' || sent === null) return null;
  const { operator, value } = sent as Record<string, unknown>;
  return operator === 'REGEX' && typeof value === 'string' ? value : null;
}

export interface Constraint {
  readonly contextName: string;
  readonly operator: ConstraintOperator;
  readonly caseInsensitive: boolean;
  readonly inverted: boolean;
  readonly values: readonly string[];
  readonly value?: string;
}

const SINGLE_VALUE: ReadonlySet<string> = new Set(SINGLE_VALUE_OPERATORS);

export function isSingleValue(operator: ConstraintOperator): boolean {
  return SINGLE_VALUE.has(operator);
}

/** The first value that is no IP address or range. */
function noAddress(values: readonly string[] | undefined): string | undefined {
  return values?.find((value) => parseAddress(value) === null);
}

interface ValueKind {
  readonly phrase: string;
  readonly accepts: (text: string) => boolean;
}

const NUMBER_KIND: ValueKind = { phrase: 'a number, such as "15" or "2.5"', accepts: isNumberText };
const DATE_KIND: ValueKind = {
  phrase: 'an ISO 8601 date-time with its zone, such as "2024-05-01T09:30:00Z"',
  accepts: isDateTime,
};
const VERSION_KIND: ValueKind = {
  phrase: 'a semantic version, such as "1.4.0" or "2.0.0-beta.1"',
  accepts: (text) => parseSemanticVersion(text) !== null,
};

const PATTERN_KIND: ValueKind = {
  phrase: 'a regular expression in the syntax of RE2, such as "^eu-[a-z]+$"',
  accepts: (text) => patternIssue(text, false) === null,
};

function kindOf(operator: ConstraintOperator): ValueKind {
  if (operator === 'REGEX') return PATTERN_KIND;
  if (operator.startsWith('NUM_')) return NUMBER_KIND;
  return operator.startsWith('DATE_') ? DATE_KIND : VERSION_KIND;
}

function valueMessage(operator: ConstraintOperator, value: string | undefined): string {
  const { phrase } = kindOf(operator);
  if (value === undefined)
    return `The field value is required: the operator ${operator} compares with ${phrase}.`;
  return `The field value must be ${phrase}, for the operator ${operator}, not ${shown(value)}.`;
}
