import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  countMapEntries,
  DEPTH_MAX,
  guard,
  pack,
  unpack,
  VALUES_MAX,
} from '../../../src/persistence/codec/message-pack.ts';

/** Values that JSON can say and the edge lets in: no `__proto__` keys, no lone surrogates, no negative zero. */
const storable = fc
  .jsonValue({ maxDepth: 6, stringUnit: 'grapheme' })
  .filter((value) => !JSON.stringify(value).includes('__proto__'))
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const problemOf = (bytes: readonly number[] | Buffer): string => guard(Buffer.from(bytes)).problem ?? 'none';

test('every JSON value that the edge accepts comes out as it went in', () => {
  fc.assert(
    fc.property(storable, (value) => {
      assert.deepStrictEqual(unpack(pack(value)), value);
    }),
  );
});

test('the guard accepts all that is written, and counts its map entries', () => {
  fc.assert(
    fc.property(storable, (value) => {
      const verdict = guard(pack(value));
      assert(verdict.problem === null);
      assert.equal(verdict.mapEntries, countMapEntries(value));
      assert(
        verdict.values > 2 * verdict.mapEntries,
        'a key and a value for each entry, and the value itself',
      );
    }),
  );
});

test('a property set to undefined survives as undefined', () => {
  const packed = pack({ title: undefined, name: 'a' });
  assert.equal(guard(packed).problem, null);
  assert.deepStrictEqual(unpack(packed), { title: undefined, name: 'a' });
});

test('numbers of every size MessagePack has survive', () => {
  const numbers = [
    0,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2 ** 32 - 1,
    2 ** 32,
    Number.MAX_SAFE_INTEGER,
    1.5,
    5e-324,
  ];
  const both = [...numbers, ...numbers.slice(1).map((number) => -number), Number.MAX_VALUE];
  assert.deepStrictEqual(unpack(pack(both)), both);
});

test('strings and lists on both sides of every length field survive', () => {
  for (const length of [0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536]) {
    const value = {
      text: 'x'.repeat(length),
      wide: 'é'.repeat(length),
      list: Array.from({ length }, () => 1),
    };
    const packed = pack(value);
    assert.equal(guard(packed).problem, null);
    assert.deepStrictEqual(unpack(packed), value);
  }
});

test('a length that the bytes cannot hold is refused before anything is allocated', () => {
  for (const head of [0xdb, 0xdd, 0xdf]) assert.notEqual(problemOf([head, 0xff, 0xff, 0xff, 0xff]), 'none');
  assert.match(problemOf([0xdd, 0xff, 0xff, 0xff, 0xff]), /a length beyond the end/);
});

test('nesting is accepted to the limit and refused one beyond it', () => {
  const nested = (depth: number): Buffer => Buffer.from([...Array.from({ length: depth }, () => 0x91), 0xc0]);
  assert.equal(problemOf(nested(DEPTH_MAX)), 'none');
  assert.match(problemOf(nested(DEPTH_MAX + 1)), /nesting deeper than/);
  assert.match(problemOf(nested(1_000_000)), /nesting deeper than/);
});

test('more values than the heap should hold are refused, however few bytes they take', () => {
  const bytes = Buffer.alloc(5 + VALUES_MAX, 0x80);
  bytes.writeUInt8(0xdd, 0);
  bytes.writeUInt32BE(VALUES_MAX, 1);
  assert.match(problemOf(bytes), /more than \d+ values/);
});

test('kinds that are never written are refused: binary, extensions, timestamps, the unused byte', () => {
  for (const bytes of [[0xc1], [0xc4, 1, 0], [0xc7, 1, 5, 0], [0xd4, 0x72, 0x40], [0xd6, 0xff, 0, 0, 0, 0]]) {
    assert.match(problemOf(bytes), /not a kind of value/);
  }
});

test('a map key that is not a string, and the key __proto__, are refused', () => {
  assert.match(problemOf([0x81, 0x01, 0x01]), /a map key that is not a string/);
  assert.match(problemOf([0x81, 0xa9, ...Buffer.from('__proto__'), 0x01]), /the key __proto__/);
});

test('bytes after the value, and a value cut short at any byte, are refused', () => {
  const whole = Buffer.from(pack({ id: 70_000, events: ['one', { two: 2.5 }], none: null }));
  assert.match(problemOf(Buffer.concat([whole, Buffer.from([0xc0])])), /bytes after the value/);
  for (let length = 0; length < whole.length; length += 1) {
    assert.notEqual(problemOf(whole.subarray(0, length)), 'none', `cut to ${length} bytes`);
  }
});

test('whatever bytes the guard accepts, decoding them does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const buffer = Buffer.from(bytes);
      if (guard(buffer).problem === null) unpack(buffer);
    }),
    { numRuns: 5_000 },
  );
});
