import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import {
  distributeWeights,
  normaliseVariants,
  StrategyVariantListSchema,
  type Variant,
  VariantSchema,
  WEIGHT_TOTAL,
} from '../../../src/domain/flags/variant.ts';
import { type Issue, issuesOf } from '../../../src/domain/json/issues.ts';

function weights(list: unknown): number[] {
  const result = normaliseVariants(list);
  assert.ok(result.ok, JSON.stringify(result));
  return result.variants.map((variant) => variant.weight);
}

function issues(list: unknown): readonly Issue[] {
  const result = normaliseVariants(list);
  assert.ok(!result.ok, 'the list should have been refused');
  return result.issues;
}

const variable = (name: string, weight = 0) => ({ name, weight });
const fix = (name: string, weight: number) => ({ name, weight, weightType: 'fix' });

test('a variant sent with its required fields only gets the defaults', () => {
  assert.deepEqual(v.parse(VariantSchema, { name: 'a', weight: 10, unknown: 1 }), {
    name: 'a',
    weight: 10,
    weightType: 'variable',
    stickiness: 'default',
    overrides: [],
  });
});

test('a variant sent whole is kept whole', () => {
  const whole = {
    name: 'a',
    weight: 10,
    weightType: 'fix',
    stickiness: 'userId',
    payload: { type: 'json', value: '{"a":[1]}' },
    overrides: [{ contextName: 'userId', values: ['1', '2'] }],
  };
  assert.deepEqual(v.parse(VariantSchema, whole), whole);
});

test('the rest is split evenly over the variable variants, the first ones taking one more', () => {
  assert.deepEqual(weights([variable('a')]), [1000]);
  assert.deepEqual(weights([variable('a'), variable('b'), variable('c')]), [334, 333, 333]);
  assert.deepEqual(weights([fix('a', 100), variable('b'), variable('c')]), [100, 450, 450]);
  assert.deepEqual(weights([variable('a'), fix('b', 333), variable('c')]), [334, 333, 333]);
  assert.deepEqual(weights([fix('a', 999), variable('b'), variable('c')]), [999, 1, 0]);
  assert.deepEqual(
    weights(Array.from({ length: 7 }, (_, i) => variable(`v${i}`))),
    [143, 143, 143, 143, 143, 143, 142],
  );
});

test('weights sent for variable variants are ignored', () => {
  assert.deepEqual(weights([variable('a', 1000), variable('b', 1000)]), [500, 500]);
});

test('an empty list stays empty', () => {
  assert.deepEqual(normaliseVariants([]), { ok: true, variants: [] });
});

const variantList = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.boolean()), { minLength: 1, maxLength: 1500 })
  .map((parts) =>
    parts.map(([weight, fixed], i) => (fixed ? fix(`v${i}`, weight) : variable(`v${i}`, weight))),
  );

test('distributed weights add up to 1000, keep what is fixed and the order, and differ by at most one', () => {
  fc.assert(
    fc.property(variantList, (list) => {
      const result = normaliseVariants(list);
      fc.pre(result.ok);
      const { variants } = result;
      assert.deepEqual(
        variants.map(({ name }) => name),
        list.map(({ name }) => name),
      );
      assert.equal(
        variants.reduce((sum, { weight }) => sum + weight, 0),
        WEIGHT_TOTAL,
      );
      const shares = variants
        .filter(({ weightType }) => weightType === 'variable')
        .map(({ weight }) => weight);
      assert.ok((shares[0] ?? 0) - (shares.at(-1) ?? 0) <= 1);
      assert.deepEqual(
        shares,
        shares.toSorted((a, b) => b - a),
      );
      for (const [i, { weightType, weight }] of variants.entries()) {
        if (weightType === 'fix') assert.equal(weight, list[i]?.weight);
      }
    }),
  );
});

test('a list is refused exactly when its fixed weights reach 1000 or it has no variable variant', () => {
  fc.assert(
    fc.property(variantList, (list) => {
      const fixed = list.filter((variant) => 'weightType' in variant);
      const sum = fixed.reduce((total, { weight }) => total + weight, 0);
      assert.equal(normaliseVariants(list).ok, sum < WEIGHT_TOTAL && fixed.length < list.length);
    }),
  );
});

test('an even split stays as it was sent, whichever variants have the remainder, and anything else is split anew', () => {
  const list = (weights: readonly number[]): Variant[] =>
    weights.map((weight, at): Variant => v.parse(VariantSchema, { ...variable(`v${at}`), weight }));
  const weights = (sent: readonly number[]) => distributeWeights(list(sent)).map(({ weight }) => weight);
  for (const even of [[333, 333, 334], [333, 334, 333], [500, 500], [1000]])
    assert.deepEqual(weights(even), even);
  assert.deepEqual(weights([333, 333, 333]), [334, 333, 333]);
  assert.deepEqual(weights([332, 334, 334]), [334, 333, 333]);
  assert.deepEqual(weights([700, 300]), [500, 500]);
});

test('distributing twice changes nothing, so a list that is written back stays as it is', () => {
  const once = distributeWeights(
    ['a', 'b', 'c'].map((name): Variant => v.parse(VariantSchema, variable(name))),
  );
  assert.deepEqual(distributeWeights(once), once);
});

test('the rules over the whole list are refused with a sentence of their own', () => {
  assert.deepEqual(issues([variable('a'), variable('b'), variable('a')]), [
    {
      path: '/2/name',
      message: 'Variants must have a different name each; there is more than one "a".',
    },
  ]);
  assert.deepEqual(issues([fix('a', 10)]), [
    { path: '', message: 'At least one variant must have the weightType variable; all of them are fix.' },
  ]);
  assert.deepEqual(issues([fix('a', 500), fix('b', 500), variable('c')]), [
    { path: '', message: 'The weights of fix variants must add up to less than 1000, not to 1000.' },
  ]);
});

test('a weight is an integer from 0 to 1000', () => {
  for (const weight of [-1, 1001, 0.5, '10', null, 1e300]) {
    const [issue] = issues([{ name: 'a', weight }]);
    assert.equal(issue?.path, '/0/weight');
    assert.equal(
      issue.message,
      `The field weight must be an integer from 0 to 1000, not ${weight === '10' ? '"10"' : weight}.`,
    );
  }
  assert.equal(issues([{ name: 'a' }])[0]?.message, 'The field weight is required.');
});

test('a payload of type json must parse and one of type number must be a number', () => {
  const withPayload = (type: unknown, value: unknown) => [{ name: 'a', weight: 0, payload: { type, value } }];
  for (const value of ['{}', '[1]', '"x"', ' null ', '1'])
    assert.ok(normaliseVariants(withPayload('json', value)).ok);
  for (const value of ['', '{', "{'a':1}", 'undefined', '{}{}', '[1,]']) {
    assert.deepEqual(issues(withPayload('json', value)), [
      {
        path: '/0/payload/value',
        message: `The field value must be valid JSON for a payload of type json, not ${JSON.stringify(value)}.`,
      },
    ]);
  }
  for (const value of ['0', '-1.5', '1e3']) assert.ok(normaliseVariants(withPayload('number', value)).ok);
  for (const value of ['', 'x', '0x1', 'NaN'])
    assert.equal(issues(withPayload('number', value))[0]?.path, '/0/payload/value');
  for (const type of ['csv', 'string']) assert.ok(normaliseVariants(withPayload(type, '{ , not json')).ok);
  assert.equal(issues(withPayload('xml', ''))[0]?.path, '/0/payload/type');
  assert.equal(issues(withPayload('string', 5))[0]?.path, '/0/payload/value');
});

test('what is no list of variants is refused where it is wrong', () => {
  const cases: [list: unknown, path: string][] = [
    [{}, ''],
    [null, ''],
    ['a', ''],
    [[null], '/0'],
    [['a'], '/0'],
    [[{ name: '', weight: 0 }], '/0/name'],
    [[{ name: 'a', weight: 0, weightType: 'fixed' }], '/0/weightType'],
    [[{ name: 'a', weight: 0, stickiness: '' }], '/0/stickiness'],
    [[{ name: 'a', weight: 0, overrides: [{ contextName: 'x' }] }], '/0/overrides/0/values'],
    [[{ name: 'a', weight: 0, overrides: [{ contextName: 'x', values: [1] }] }], '/0/overrides/0/values/0'],
  ];
  for (const [list, path] of cases) {
    assert.deepEqual(
      issues(list).map((issue) => issue.path),
      [path],
    );
  }
});

test('strategy variants obey the same rules and need a stickiness', () => {
  const check = (list: unknown) => issuesOf(v.safeParse(StrategyVariantListSchema, list).issues ?? []);
  assert.deepEqual(check([{ ...variable('a'), stickiness: 'userId' }]), []);
  assert.deepEqual(check([variable('a')]), [
    { path: '/0/stickiness', message: 'The field stickiness is required.' },
  ]);
  assert.equal(check([{ ...fix('a', 10), stickiness: 'default' }]).length, 1);
});
