import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ISSUES_MAX, issuesOf } from '../../../src/domain/json/issues.ts';
import { list } from '../../../src/domain/json/schema.ts';

const Numbers = v.object({ numbers: list(v.number('a number'), 'a list of numbers') });

test('a list lets through what v.array lets through, and says the same of what it refuses', () => {
  const plain = v.object({ numbers: v.array(v.number('a number'), 'a list of numbers') });
  const inputs = [{ numbers: [] }, { numbers: [1, 2] }, { numbers: [1, 'two', null] }, { numbers: {} }, {}];
  for (const input of inputs) {
    const [one, other] = [v.safeParse(Numbers, input), v.safeParse(plain, input)];
    assert.deepEqual([one.success, one.output], [other.success, other.output]);
    assert.deepEqual(issuesOf(one.issues ?? []), issuesOf(other.issues ?? []));
  }
  assert.equal(v.safeParse(Numbers, { numbers: ['a', 'b'] }, { abortEarly: true }).issues?.length, 1);
});

test('a list of wrong items is looked at no further than the first issues that are reported', () => {
  let checks = 0;
  const counted = v.pipe(
    v.unknown(),
    v.check(() => {
      checks += 1;
      return false;
    }, 'something else'),
  );
  const nested = list(v.object({ items: list(counted, 'a list') }), 'a list of objects');
  const input = Array.from({ length: 100 }, () => ({ items: Array(100).fill(0) }));
  const { issues = [] } = v.safeParse(nested, input);
  assert.equal(checks, ISSUES_MAX);
  assert.deepEqual(
    issuesOf(issues).map(({ path }) => path),
    Array.from({ length: ISSUES_MAX }, (_, place) => `/0/items/${place}`),
  );
});
