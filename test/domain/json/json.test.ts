import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkStorable,
  cloneJson,
  inspectJson,
  JSON_DEPTH_MAX,
  type JsonValue,
  jsonEqual,
  jsonGrowth,
  jsonSize,
} from '../../../src/domain/json/json.ts';
import { pack, unpack } from '../../../src/persistence/codec/message-pack.ts';

/** Names and numbers that have broken serialisers before, beside ordinary ones. */
const hostileKey = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'toJSON',
    '',
    '0',
    '-1',
  ),
  fc.constantFrom('\u0000', '\uFEFFx', '\uD800', 'a\uDC00b', '😀', 'ﬀ'),
);
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.integer(),
    hostileKey,
    fc.array(tie('value'), { maxLength: 4 }),
    // Own fields also for __proto__, as JSON.parse makes them.
    fc.array(fc.tuple(hostileKey, tie('value')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

test('a value that may be stored comes back equal from MessagePack and from JSON', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      fc.pre(checkStorable(value) === null);
      assert.deepEqual(unpack(pack(value)), withoutNegativeZero(value as JsonValue));
      assert.deepEqual(JSON.parse(JSON.stringify(value)), withoutNegativeZero(value as JsonValue));
    }),
  );
});

test('one walk finds the same issue, and the same size, as a check and a measurement by themselves', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const { issue, size } = inspectJson(value);
      assert.deepEqual(issue, checkStorable(value));
      if (issue === null) assert.equal(size, jsonSize(value));
    }),
  );
});

test('what would come back different is refused, at the place where it is', () => {
  const cases: [value: unknown, path: string, words: RegExp][] = [
    [JSON.parse('{"__proto__":1}'), '/__proto__', /__proto__/],
    [[{ a: JSON.parse('{"__proto__":{}}') }], '/0/a/__proto__', /__proto__/],
    ['\uD800', '', /surrogate/],
    [{ 'a/b': { '~': ['x', 'y\uDFFF'] } }, '/a~1b/~0/1', /surrogate/],
    [{ a: { '\uDC00': 1 } }, '/a', /name.*surrogate/],
    [[1, Number.POSITIVE_INFINITY], '/1', /range/],
    [{ a: Number.NaN }, '/a', /range/],
    [{ a: undefined }, '/a', /undefined/],
    [[1n], '/0', /bigint/],
    [() => 1, '', /function/],
    [{ at: new Date(0) }, '/at', /plain/],
    [new Map(), '', /plain/],
  ];
  for (const [value, path, words] of cases) {
    const issue = checkStorable(value);
    assert.equal(issue?.path, path);
    assert.match(issue.message, words);
    assert.match(issue.message, /^[A-Z].*\.$/);
  }
});

test('nesting is allowed up to the limit and refused one level beyond it', () => {
  assert.equal(checkStorable(nested(JSON_DEPTH_MAX)), null);
  assert.match(checkStorable(nested(JSON_DEPTH_MAX + 1))?.message ?? '', /64 levels/);
  assert.match(
    checkStorable(nested(1_000_000))?.message ?? '',
    /64 levels/,
    'a million levels do not overflow',
  );
});

test('two values are equal when their JSON is, whatever the order of their fields', () => {
  assert.ok(jsonEqual({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] }));
  assert.ok(jsonEqual(0, -0));
  const different: [JsonValue, JsonValue][] = [
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [null, {}],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1, b: 1 }, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    ['1', 1],
    [{ toString: 1 }, { valueOf: 1 }],
    [['a'], { 0: 'a' }],
  ];
  for (const [a, b] of different) {
    assert.equal(jsonEqual(a, b), false, `${JSON.stringify(a)} and ${JSON.stringify(b)}`);
    assert.equal(jsonEqual(b, a), false);
  }
});

test('a field that is only inherited makes no value equal to another', () => {
  assert.equal(jsonEqual({ toString: 1 }, { a: 1 }), false);
  assert.equal(jsonEqual({ constructor: {} }, { a: {} }), false);
});

test('a clone is equal to its original and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(checkStorable(value) === null);
      const original = value as JsonValue;
      const copy = cloneJson(original);
      assert.ok(jsonEqual(copy, original));
      const parts = partsOf(original);
      assert.ok([...partsOf(copy)].every((part) => !parts.has(part)));
    }),
  );
});

test('a clone never turns a field named __proto__ into a prototype', () => {
  assert.throws(() => cloneJson(JSON.parse('{"__proto__":{"polluted":true}}')), /got past/);
});

test('the depth and the size are exact', () => {
  const value = { name: 'variant-1', list: ['aaaa', 'bbbb', { deeper: [] }] };
  assert.deepEqual(inspectJson(value), { issue: null, depth: 4, size: JSON.stringify(value).length });
  assert.deepEqual(inspectJson('abc'), { issue: null, depth: 0, size: 5 });
  assert.equal(inspectJson(nested(10)).depth, 10);
});

function nested(levels: number): JsonValue {
  let value: JsonValue = 0;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Bodies never hold one (http/body/json-body.ts); JSON.stringify loses it, MessagePack does not. */
function withoutNegativeZero(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function partsOf(value: JsonValue, parts = new Set<object>()): Set<object> {
  if (typeof value === 'object' && value !== null) {
    parts.add(value);
    for (const part of Object.values(value)) partsOf(part as JsonValue, parts);
  }
  return parts;
}

test('the size of a text is that of its JSON as UTF-8, escapes and halves of pairs included', () => {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0x9f }),
    fc.integer({ min: 0xa0, max: 0xffff }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
  );
  const text = fc.array(unit, { maxLength: 60 }).map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(text, (any) => {
      assert.equal(jsonSize(any), Buffer.byteLength(JSON.stringify(any)));
    }),
  );
});

test('the size of any value is that of its JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (any) => {
      assert.equal(jsonSize(any), Buffer.byteLength(JSON.stringify(any)));
    }),
  );
});

test('growth is the difference of two sizes, whatever the versions share', () => {
  const versions = fc.tuple(fc.jsonValue(), fc.jsonValue(), fc.jsonValue()).map(([shared, one, other]) => [
    { shared, changed: one, ['only before']: one, constructor: other },
    { shared, changed: other, ['only after, by a long name']: true },
  ]);
  fc.assert(
    fc.property(fc.oneof(versions, fc.tuple(fc.jsonValue(), fc.jsonValue())), ([before, after]) => {
      assert.equal(jsonGrowth(before, after), jsonSize(after) - jsonSize(before));
    }),
  );
});
