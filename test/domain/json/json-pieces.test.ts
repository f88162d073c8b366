/** A JSON text in pieces is the text that JSON.stringify would give. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonPieces } from '../../../src/cli/export.ts';

const lazy = <T>(items: readonly T[]): Iterable<T> => ({ [Symbol.iterator]: () => items[Symbol.iterator]() });

test('the pieces of any value, with lists made lazily on some levels, are its text', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ name: fc.string(), items: fc.array(fc.jsonValue()) })), (list) => {
      const whole = { version: 1, list, last: 'x\ny' };
      const lazily = { ...whole, list: lazy(list.map((one) => ({ ...one, items: lazy(one.items) }))) };
      assert.equal([...jsonPieces(lazily)].join(''), JSON.stringify(whole, null, 2));
    }),
  );
});

test('no piece is larger than the largest item', () => {
  const items = Array.from({ length: 100 }, (_, index) => ({ text: 'x'.repeat(1_000 + index) }));
  const lengths = [...jsonPieces({ items: lazy(items) })].map((piece) => piece.length);
  assert(Math.max(...lengths) < 1_200);
});
