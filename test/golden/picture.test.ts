/** The differences between two builds that count as a change of data. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOf, type Json, shapeOf } from './picture.ts';

const KNOWN = [
  { name: 'a', tags: [], parameters: { rollout: 1 }, constraints: [{ operator: 'IN', values: ['x'] }] },
  { name: 'b', tags: [{ type: 't', value: 'v' }], parameters: null, constraints: [] },
];
const shape = shapeOf([KNOWN]);
const [a, b] = KNOWN;
const hash = (value: Json): string => hashOf(shape, value);

test('additional fields, and another order of fields, are no change', () => {
  const constraints = [{ values: ['x'], operator: 'IN', later: true }];
  const later = { later: { deep: 1 }, constraints, parameters: { rollout: 1 }, tags: [], name: 'a' };
  assert.equal(hash([later, { ...b!, tags: [{ type: 't', value: 'v', colour: 'red' }] }]), hash(KNOWN));
});

test('every other difference is a change', () => {
  const { tags: _, ...untagged } = a!;
  const changed: readonly Json[] = [
    [a!],
    [b!, a!],
    [a!, b!, b!],
    [untagged, b!],
    [{ ...a!, name: 'A' }, b!],
    [{ ...a!, tags: null }, b!],
    [{ ...a!, tags: [{ type: 't', value: 'v' }] }, b!],
    [{ ...a!, parameters: { rollout: 1, more: 2 } }, b!],
    [{ ...a!, parameters: { rollout: '1' } }, b!],
    [{ ...a!, parameters: {} }, b!],
    [{ ...a!, constraints: [{ operator: 'IN', values: [] }] }, b!],
    [{ ...a!, constraints: [{ operator: 'IN', values: ['x'], later: 1 }, {}] }, b!],
  ];
  for (const one of changed) assert.notEqual(hash(one), hash(KNOWN), JSON.stringify(one));
});
