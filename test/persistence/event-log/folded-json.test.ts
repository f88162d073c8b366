import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkStorable } from '../../../src/domain/json/json.ts';
import { guard, pack } from '../../../src/persistence/codec/message-pack.ts';
import { FoldedJson } from '../../../src/persistence/event-log/folded-json.ts';

const folded = new FoldedJson();

const textOf = (value: unknown): string | null =>
  folded.of(Buffer.from(pack(value)))?.toString('latin1') ?? null;

const byDefinition = (value: unknown): string => JSON.stringify(value).toLowerCase();

const EVENT = {
  name: 'Dark-Mode',
  enabled: true,
  note: null,
  list: [
    0,
    9,
    10,
    99,
    100,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2 ** 32 - 1,
    -1,
    -32,
    -33,
    -128,
    -129,
    -32_768,
    -32_769,
  ],
  fractions: [0.5, -1e-7, 1e21, 2 ** 40, -(2 ** 31) - 1, Number.MAX_VALUE],
  escapes: '"\\/\b\f\n\r\t\u0000\u001f\u007f',
  empty: ['', [], {}, [[]]],
};

test('what events are made of is turned into the text of the definition without being decoded', () => {
  assert.equal(textOf(EVENT), byDefinition(EVENT));
  for (const value of [
    null,
    true,
    false,
    0,
    -1,
    '',
    'ABC',
    [],
    {},
    'x'.repeat(300),
    Array(20).fill('A'),
    'y'.repeat(70_000),
  ]) {
    assert.equal(textOf(value), byDefinition(value));
  }
  assert.equal(
    textOf(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, n])))?.length,
    171 - 10,
  );
});

test('what only decoding can tell is not answered', () => {
  for (const value of [
    'é',
    { é: 1 },
    ['\u212a'],
    { 1: 'listed first' },
    { a: undefined },
    { '10x': 1 },
    'z'.repeat(300_000),
  ]) {
    assert.equal(textOf(value), null);
  }
});

test('any answer for any value is that of the definition', () => {
  const value = fc
    .jsonValue({ maxDepth: 4 })
    .filter((json) => checkStorable(json) === null && guard(Buffer.from(pack(json))).problem === null);
  let decided = 0;
  fc.assert(
    fc.property(value, (json) => {
      const text = textOf(json);
      if (text === null) return;
      decided++;
      assert.equal(text, byDefinition(json));
    }),
    { numRuns: 1000 },
  );
  assert(decided > 500, `only ${decided} of 1000 values were decided`);
});

test('bytes that are cut, continued or made up get no answer and do no harm', () => {
  const whole = Buffer.from(pack(EVENT));
  for (let length = 0; length < whole.length; length++)
    assert.equal(folded.of(whole.subarray(0, length)), null);
  assert.equal(folded.of(Buffer.concat([whole, Buffer.of(0xc0)])), null);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = folded.of(Buffer.from(bytes));
      assert(text === null || text.length > 0);
    }),
  );
  assert.equal(folded.of(Buffer.alloc(1000, 0x91)), null, 'nesting beyond the limit');
});
