/** A strategy, where the suite of the interface (test/http/interface/strategies.test.ts) does not show it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { createStrategy, nextSortOrder, StrategyInputSchema } from '../../../src/domain/flags/strategy.ts';
import { issuesOf } from '../../../src/domain/json/issues.ts';

function issues(value: unknown): string[] {
  return issuesOf(v.safeParse(StrategyInputSchema, value).issues ?? []).map(({ path }) => path);
}

const created = (input: unknown) => createStrategy(v.parse(StrategyInputSchema, input), 'id-1', 7);

test('weights of its variants are distributed', () => {
  const variants = ['a', 'b', 'c'].map((name) => ({ name, weight: 0, stickiness: 'default' }));
  assert.deepEqual(
    created({ name: 'x', variants }).variants.map(({ weight }) => weight),
    [334, 333, 333],
  );
});

test('a kind name has 1 to 100 characters of any sort', () => {
  assert.deepEqual(issues({ name: 'ä strategy of my own ✓' }), []);
  assert.deepEqual(issues({ name: 'x'.repeat(100) }), []);
  assert.deepEqual(issues({ name: 'x'.repeat(101) }), ['/name']);
  assert.deepEqual(issues({ name: '' }), ['/name']);
  assert.deepEqual(issues({}), ['/name']);
});

test('the next position is one above the highest, and 0 in an empty list', () => {
  assert.equal(nextSortOrder([]), 0);
  assert.equal(nextSortOrder([{ sortOrder: 0 }]), 1);
  assert.equal(nextSortOrder([{ sortOrder: 5 }, { sortOrder: 2 }]), 6);
  assert.equal(nextSortOrder([{ sortOrder: -5 }]), -4);
});
