import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import {
  bySortOrder,
  createStrategy,
  nextSortOrder,
  StrategyInputSchema,
} from '../../../src/domain/flags/strategy.ts';
import { issuesOf } from '../../../src/domain/json/issues.ts';

function issues(value: unknown): string[] {
  return issuesOf(v.safeParse(StrategyInputSchema, value).issues ?? []).map(({ path }) => path);
}

const created = (input: unknown) => createStrategy(v.parse(StrategyInputSchema, input), 'id-1', 7);

test('a strategy sent with its name only has all its fields', () => {
  assert.deepEqual(created({ name: 'default' }), {
    id: 'id-1',
    name: 'default',
    title: null,
    disabled: false,
    constraints: [],
    parameters: {},
    variants: [],
    segments: [],
    sortOrder: 7,
  });
});

test('parameters are kept as sent, numbers, nesting and odd names included', () => {
  const parameters = JSON.parse(
    '{"rollout":50,"a":{"b":[null,true]},"constructor":1,"prototype":2,"toString":"x"}',
  );
  assert.deepEqual(created({ name: 'x', parameters }).parameters, parameters);
  assert.equal(created({ name: 'x', parameters: null }).parameters, null);
});

test('null is kept where the interface allows it', () => {
  const strategy = created({ name: 'x', title: null, disabled: null });
  assert.equal(strategy.title, null);
  assert.equal(strategy.disabled, null);
});

test('a sortOrder that was sent wins over the one proposed', () => {
  assert.equal(created({ name: 'x', sortOrder: 0 }).sortOrder, 0);
  assert.equal(created({ name: 'x', sortOrder: -1.5 }).sortOrder, -1.5);
});

test('weights of its variants are distributed', () => {
  const variants = ['a', 'b', 'c'].map((name) => ({ name, weight: 0, stickiness: 'default' }));
  assert.deepEqual(
    created({ name: 'x', variants }).variants.map(({ weight }) => weight),
    [334, 333, 333],
  );
});

test('id and featureName of a body are not taken over', () => {
  const strategy = created({ name: 'x', id: 'mine', featureName: 'other' });
  assert.equal(strategy.id, 'id-1');
  assert.ok(!('featureName' in strategy));
});

test('two strategies never share a default', () => {
  const [one, other] = [created({ name: 'x' }), created({ name: 'x' })];
  for (const field of ['constraints', 'parameters', 'variants', 'segments'] as const) {
    assert.notEqual(one[field], other[field], field);
  }
});

test('a kind name has 1 to 100 characters of any sort', () => {
  assert.deepEqual(issues({ name: 'ä strategy of my own ✓' }), []);
  assert.deepEqual(issues({ name: 'x'.repeat(100) }), []);
  assert.deepEqual(issues({ name: 'x'.repeat(101) }), ['/name']);
  assert.deepEqual(issues({ name: '' }), ['/name']);
  assert.deepEqual(issues({}), ['/name']);
});

test('a field of the wrong type is refused where it is, without coercion', () => {
  const cases: [change: object, path: string][] = [
    [{ name: 5 }, '/name'],
    [{ title: 5 }, '/title'],
    [{ disabled: 'true' }, '/disabled'],
    [{ parameters: [] }, '/parameters'],
    [{ parameters: 'x' }, '/parameters'],
    [{ constraints: {} }, '/constraints'],
    [{ constraints: null }, '/constraints'],
    [{ constraints: [{ contextName: 'x', operator: 'IN' }] }, '/constraints/0/values'],
    [{ variants: [{ name: 'a', weight: 1 }] }, '/variants/0/stickiness'],
    [{ segments: ['1'] }, '/segments/0'],
    [{ segments: [1.5] }, '/segments/0'],
    [{ sortOrder: '1' }, '/sortOrder'],
    [{ sortOrder: null }, '/sortOrder'],
  ];
  for (const [change, path] of cases) assert.deepEqual(issues({ name: 'x', ...change }), [path]);
  for (const value of [null, 'x', 5, []]) assert.equal(issues(value).length, 1, JSON.stringify(value));
});

test('the next position is one above the highest, and 0 in an empty list', () => {
  assert.equal(nextSortOrder([]), 0);
  assert.equal(nextSortOrder([{ sortOrder: 0 }]), 1);
  assert.equal(nextSortOrder([{ sortOrder: 5 }, { sortOrder: 2 }]), 6);
  assert.equal(nextSortOrder([{ sortOrder: -5 }]), -4);
});

test('strategies of the same position stay in the order in which they were added', () => {
  const strategies = [
    { id: 'a', sortOrder: 1 },
    { id: 'b', sortOrder: 0 },
    { id: 'c', sortOrder: 1 },
    { id: 'd', sortOrder: 0 },
  ];
  assert.deepEqual(
    strategies.toSorted(bySortOrder).map(({ id }) => id),
    ['b', 'd', 'a', 'c'],
  );
});

test('the schema can be written as JSON Schema with its parameters, constraints and variants', () => {
  const schema = toJsonSchema(StrategyInputSchema, { errorMode: 'ignore', typeMode: 'input' });
  assert.deepEqual(schema.required, ['name']);
  const fields = schema.properties as Record<string, { type?: unknown; items?: { required?: string[] } }>;
  assert.deepEqual(fields.parameters?.type, ['object', 'null']);
  assert.deepEqual(fields.constraints?.items?.required, ['contextName', 'operator']);
  assert.deepEqual(fields.variants?.items?.required, ['name', 'weight', 'stickiness']);
});
