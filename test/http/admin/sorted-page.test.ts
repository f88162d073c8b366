/** A sorted list that is made in short steps is the list that sorting it at once would make. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { SortedPage } from '../../../src/http/admin/sorted-page.ts';

it('gives all items in order, however many runs they fill', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3_500 }), fc.integer(), (count, seed) => {
      const items = Array.from({ length: count }, (_, at) => Math.imul(at + seed, 0x9e3779b1) >>> 8);
      const page = new SortedPage<number>((a, b) => a - b);
      for (const item of items) page.add(item);
      assert.deepEqual(
        [...page.inOrder()],
        items.toSorted((a, b) => a - b),
      );
      assert.equal(page.total, count);
    }),
    { numRuns: 20 },
  );
});
