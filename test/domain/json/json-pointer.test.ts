import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrayIndex, parsePointer, pointerToken } from '../../../src/domain/json/json-pointer.ts';

test('a pointer written from tokens is read back as the same tokens', () => {
  const token = fc.string().filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text));
  fc.assert(
    fc.property(fc.array(fc.oneof(token, fc.constantFrom('~', '/', '~1', '~0', '~01', ''))), (tokens) => {
      const pointer = tokens.map((one) => `/${pointerToken(one)}`).join('');
      assert.deepEqual(parsePointer(pointer), { ok: true, tokens });
    }),
  );
});

test('the examples of RFC 6901 are read as it says', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['/', ['']],
    ['/foo/0', ['foo', '0']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['/ ', [' ']],
    ['//', ['', '']],
  ];
  for (const [pointer, tokens] of cases) assert.deepEqual(parsePointer(pointer), { ok: true, tokens });
});

test('a pointer that does not start with a slash, or with a stray tilde, is refused', () => {
  for (const pointer of ['a', 'a/b', '#/a', ' ', '/~', '/a~', '/~2', '/a/~b', '/~~0']) {
    assert.equal(parsePointer(pointer).ok, false, pointer);
  }
});

test('the names that lead to a prototype are refused in every position', () => {
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    for (const pointer of [`/${name}`, `/a/${name}`, `/${name}/a`, `/0/${name}/-`, `//${name}`]) {
      const parsed = parsePointer(pointer);
      assert.ok(!parsed.ok && parsed.reason.includes(name), pointer);
    }
  }
});

test('a position is only what is written as a position', () => {
  assert.equal(arrayIndex('0'), 0);
  assert.equal(arrayIndex('10'), 10);
  const others = [
    '',
    '-',
    '-0',
    '-1',
    '+1',
    '01',
    '00',
    '1e0',
    '1.0',
    '0x1',
    ' 1',
    '1 ',
    'NaN',
    'Infinity',
    'length',
  ];
  for (const token of [...others, '9007199254740993', '１'])
    assert.equal(arrayIndex(token), undefined, token);
});
