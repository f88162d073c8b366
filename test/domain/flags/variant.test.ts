/** The split of weights as a property, and the words of refusals; test/http/interface/variants.test.ts has the rest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import {
  distributeWeights,
  normaliseVariants,
  type Variant,
  VariantSchema,
  WEIGHT_TOTAL,
} from '../../../src/domain/flags/variant.ts';
import type { Issue } from '../../../src/domain/json/issues.ts';

function issues(list: unknown): readonly Issue[] {
  const result = normaliseVariants(list);
  assert.ok(!result.ok, 'the list should have been refused');
  return result.issues;
}

const variable = (name: string, weight = 0) => ({ name, weight });
const fix = (name: string, weight: number) => ({ name, weight, weightType: 'fix' });

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
