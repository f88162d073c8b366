import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import {
  type Constraint,
  ConstraintSchema,
  MULTI_VALUE_OPERATORS,
  SINGLE_VALUE_OPERATORS,
} from '../../../src/domain/flags/constraint.ts';
import { CHECK_UNITS_MAX, parseInBudget } from '../../../src/domain/json/check-budget.ts';
import { type Issue, issuesOf } from '../../../src/domain/json/issues.ts';
import { list } from '../../../src/domain/json/schema.ts';

function accepted(value: unknown): Constraint {
  return v.parse(ConstraintSchema, value);
}

function issues(value: unknown): Issue[] {
  return issuesOf(v.safeParse(ConstraintSchema, value).issues ?? []);
}

/** A value that the operator accepts. */
function goodValue(operator: string): string {
  if (operator === 'REGEX') return '^a+$';
  if (operator.startsWith('NUM_')) return '15';
  return operator.startsWith('DATE_') ? '2024-05-01T09:30:00Z' : '1.4.0';
}

test('multi-value operators take a list of strings, also an empty one, and get their defaults', () => {
  for (const operator of MULTI_VALUE_OPERATORS) {
    const values = operator === 'IN_CIDR' ? ['10.0.0.0/8', '::1'] : ['a', 'b'];
    const defaults = { caseInsensitive: false, inverted: false };
    assert.deepEqual(accepted({ contextName: 'userId', operator, values }), {
      contextName: 'userId',
      operator,
      values,
      ...defaults,
    });
    assert.deepEqual(accepted({ contextName: 'userId', operator, values: [] }).values, []);
  }
});

test('multi-value operators without values are refused, even with a value', () => {
  for (const operator of MULTI_VALUE_OPERATORS) {
    assert.deepEqual(issues({ contextName: 'userId', operator, value: 'a' }), [
      {
        path: '/values',
        message: `The field values is required: the operator ${operator} compares with a list of strings.`,
      },
    ]);
  }
});

test('single-value operators take a value of their kind, and values default to none', () => {
  for (const operator of SINGLE_VALUE_OPERATORS) {
    const value = goodValue(operator);
    const sent = { contextName: 'x', operator, value, inverted: true, caseInsensitive: true };
    assert.deepEqual(accepted(sent), { ...sent, values: [] });
  }
});

test('single-value operators without a value are refused, even with values', () => {
  for (const operator of SINGLE_VALUE_OPERATORS) {
    const [issue, ...more] = issues({ contextName: 'x', operator, values: [goodValue(operator)] });
    assert.equal(issue?.path, '/value');
    assert.ok(
      issue.message.startsWith(`The field value is required: the operator ${operator} compares with a`),
      issue.message,
    );
    assert.equal(more.length, 0);
  }
});

test('single-value operators refuse a value of another kind and say what would be right', () => {
  const wrong = { NUM_: '1.2.3', DATE_: '15', SEMVER_: '2024-05-01T09:30:00Z', REGEX: 'a(' };
  for (const operator of SINGLE_VALUE_OPERATORS) {
    const [prefix, value] = Object.entries(wrong).find(([start]) => operator.startsWith(start)) ?? [];
    assert.ok(prefix !== undefined && value !== undefined);
    const [issue] = issues({ contextName: 'x', operator, value });
    assert.equal(issue?.path, '/value');
    assert.ok(issue.message.endsWith(`for the operator ${operator}, not "${value}".`), issue.message);
  }
});

test('IN_CIDR refuses what is neither an address nor a range, and names it', () => {
  assert.deepEqual(issues({ contextName: 'x', operator: 'IN_CIDR', values: ['10.0.0.1', 'localhost'] }), [
    {
      path: '/values',
      message:
        'The field values must hold IP addresses and ranges such as "10.0.0.0/8", for the operator IN_CIDR, not "localhost".',
    },
  ]);
});

test('a value appears in the result only when it was sent', () => {
  assert.ok(!Object.hasOwn(accepted({ contextName: 'x', operator: 'IN', values: [] }), 'value'));
  assert.equal(accepted({ contextName: 'x', operator: 'IN', values: [], value: '' }).value, '');
});

test('patterns of one request are compiled as far as its budget reaches, and those behind it are refused unseen', () => {
  const constraints = (count: number, value: string) =>
    Array.from({ length: count }, () => ({ contextName: 'userId', operator: 'REGEX', value }));
  const schema = list(ConstraintSchema, 'a list of constraints');
  const issuesInBudget = (sent: unknown) => issuesOf(parseInBudget(schema, sent).issues ?? []);
  for (const value of ['[a-z]'.repeat(200), '\\p{L}'.repeat(50)]) {
    const units = value.startsWith('[') ? 1000 : 250 * 40;
    const most = Math.floor(CHECK_UNITS_MAX / units);
    assert.deepEqual(issuesInBudget(constraints(most, value)), [], 'each run has a budget of its own');
    const tooMany = issuesInBudget([...constraints(most + 1, value), ...constraints(900, value)]);
    assert.equal(tooMany[0]?.path, `/${most}/value`);
    for (const { message } of tooMany) assert.match(message, /^The field value is a pattern too many/);
  }
  assert.equal(v.parse(schema, constraints(70, '[a-z]'.repeat(200))).length, 70, 'without a budget all are');
});

test('patterns with many ranges of characters beyond ASCII are refused, because they take long to compile', () => {
  const pattern = (count: number) => '[\\x{100}-\\x{FFFF}]'.repeat(count);
  const sent = (value: string) => ({ contextName: 'userId', operator: 'REGEX', value });
  assert.equal(accepted(sent(pattern(16))).value, pattern(16));
  assert.equal(accepted(sent('[а-я]')).value, '[а-я]');
  assert.equal(issues(sent(pattern(17)))[0]?.path, '/value');
  assert.equal(issues(sent('[а-я]'.repeat(17)))[0]?.path, '/value');
});
