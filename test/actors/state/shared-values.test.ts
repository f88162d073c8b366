import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { SharedValues } from '../../../src/actors/state/shared-values.ts';

it('sharing strings and lists changes nothing that can be seen, whatever the value', () => {
  const shared = new SharedValues();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const parts = [value];
      const before = structuredClone(parts);
      shared.shareIn(parts);
      assert.deepEqual(parts, before);
    }),
  );
});

it('all empty lists become one, which nobody can write', () => {
  const parts = { tags: [], environments: [{ variants: [] }] };
  new SharedValues().shareIn(parts);
  assert.equal(parts.tags, parts.environments[0]?.variants);
  assert(Object.isFrozen(parts.tags));
});
