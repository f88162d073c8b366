import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { SharedStrings } from '../../../src/actors/state/shared-values.ts';

it('sharing strings changes nothing that can be seen, whatever the value', () => {
  const strings = new SharedStrings();
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = structuredClone(value);
      strings.shareIn(value);
      assert.deepEqual(value, before);
    }),
  );
});
