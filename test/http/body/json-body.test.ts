import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkStorable, JSON_DEPTH_MAX, type JsonValue } from '../../../src/domain/json/json.ts';
import { parseJsonBody } from '../../../src/http/body/json-body.ts';
import { LIST_LENGTH_MAX, NAMES_MAX, VALUES_MAX } from '../../../src/http/body/json-shape.ts';

const encoder = new TextEncoder();

function parsed(text: string): JsonValue {
  const outcome = parseJsonBody(encoder.encode(text));
  assert.ok(outcome.ok, `${text}: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

function refused(body: string | Uint8Array): { message: string; path?: string } {
  const outcome = parseJsonBody(typeof body === 'string' ? encoder.encode(body) : body);
  assert.ok(!outcome.ok, `should have been refused: ${body}`);
  assert.match(outcome.message, /^[A-Z].*\.$/, 'a whole sentence');
  const { message, path } = outcome;
  return path === undefined ? { message } : { message, path };
}

/** JSON written with spaces, and with any character as an escape: as many forms as the grammar allows. */
const spelledJson = fc.letrec<{ json: string }>((tie) => {
  const space = fc.constantFrom('', ' ', '\n', '\t\r');
  const text = fc
    .array(
      fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2 }), fc.constantFrom(...':,[]{}"\\/')),
    )
    .chain((pieces) =>
      fc.tuple(...pieces.map((piece) => fc.constantFrom(quotedPiece(piece), escapedPiece(piece)))),
    )
    .map((pieces) => `"${pieces.join('')}"`);
  const scalar = fc.oneof(text, fc.constantFrom('null', 'true', 'false', '0', '1.5e3', '-7', '1E-2'));
  const items = fc.array(tie('json'), { maxLength: 4 }).map((list) => `[${list.join(',')}]`);
  const fields = fc
    .uniqueArray(fc.tuple(text, tie('json')), {
      maxLength: 4,
      selector: ([name]) => JSON.parse(name) as string,
    })
    .map((list) => `{${list.map(([name, value]) => `${name}:${value}`).join(',')}}`);
  const json = fc.oneof({ maxDepth: 4, depthSize: 'small' }, scalar, items, fields);
  return { json: fc.tuple(space, json, space).map((parts) => parts.join('')) };
}).json;

test('a body that is in order gives what JSON.parse gives, however it is spelled', () => {
  fc.assert(
    fc.property(spelledJson, (text) => {
      const expected: unknown = JSON.parse(text);
      fc.pre(checkStorable(expected) === null);
      assert.deepEqual(parsed(text), expected);
    }),
    { numRuns: 500 },
  );
});

test('any bytes at all are either refused or give a value that can be kept', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '1',
    '-0',
    'null',
    '\\ud83d',
    ' ',
  );
  const texts = fc.array(pieces, { maxLength: 12 }).map((list) => encoder.encode(list.join('')));
  let acceptedCount = 0;
  fc.assert(
    fc.property(fc.oneof(texts, fc.uint8Array({ maxLength: 20 })), (bytes) => {
      const outcome = parseJsonBody(bytes);
      if (outcome.ok) {
        acceptedCount++;
        assert.equal(checkStorable(outcome.value), null);
        assert.deepEqual(JSON.parse(JSON.stringify(outcome.value)), outcome.value);
      } else {
        assert.match(outcome.message, /^[A-Z].*\.$/);
        assert.doesNotMatch(outcome.message, /The body is not valid JSON\.$/, 'the place is always named');
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(acceptedCount > 0, 'some of them are JSON');
});

test('a name given twice in one object is refused with its path, however it is spelled', () => {
  const twice = (text: string, path: string) => {
    assert.equal(refused(text).path, path);
    assert.match(refused(text).message, /given more than once/);
  };
  twice('{"a":1,"a":1}', '/a');
  twice('{"a":1,"\\u0061":2}', '/a');
  twice('[0,{"x":{"b/c":1,"d":[],"b/c":2}}]', '/1/x/b~1c');
  twice('{"":1,"":2}', '/');
  twice('{"a":{"b":1,"b":2},"a":3}', '/a/b');
  twice('{"__proto__":1,"__proto__":2}', '/__proto__');
  assert.deepEqual(parsed('{"a":{"a":[{"a":1},{"a":2}]}}'), { a: { a: [{ a: 1 }, { a: 2 }] } });
});

test('colons, brackets and quotes inside strings count for nothing', () => {
  assert.deepEqual(parsed('{"a:\\"{[":":\\\\"}'), { 'a:"{[': ':\\' });
  assert.deepEqual(parsed(`["${'['.repeat(1000)}","\\\\","${'{'.repeat(1000)}"]`), [
    '['.repeat(1000),
    '\\',
    '{'.repeat(1000),
  ]);
});

test('nesting is read up to the limit and refused beyond it, also a million levels deep', () => {
  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}0${'}]'.repeat(levels / 2)}`;
  assert.equal(checkStorable(parsed(nested(JSON_DEPTH_MAX))), null);
  assert.match(refused(nested(JSON_DEPTH_MAX + 2)).message, /64 levels/);
  assert.match(refused(nested(1_000_000)).message, /64 levels/);
  assert.match(refused('['.repeat(1_000_000)).message, /64 levels/);
  assert.match(refused('{"a":'.repeat(1_000_000)).message, /64 levels/);
  assert.match(refused(`${']'.repeat(2000)}${'['.repeat(2000)}`).message, /column 1 there should be a value/);
  assert.deepEqual(
    (parsed(`[${'[],'.repeat(999)}[]]`) as JsonValue[]).length,
    1000,
    'side by side is not nesting',
  );
});

test('bytes that are not UTF-8 are refused', () => {
  const broken: Record<string, number[]> = {
    'a lone continuation byte': [0x80],
    'a cut sequence': [0xe2, 0x82],
    'an overlong slash': [0xc0, 0xaf],
    'an overlong NUL': [0xc0, 0x80],
    'a surrogate': [0xed, 0xa0, 0x80],
    'beyond Unicode': [0xf4, 0x90, 0x80, 0x80],
    'no UTF-8 byte at all': [0xff],
  };
  for (const [name, bytes] of Object.entries(broken)) {
    assert.match(refused(new Uint8Array([0x22, ...bytes, 0x22])).message, /UTF-8/, name);
  }
  assert.match(refused(new Uint8Array(Buffer.from('"x"', 'utf16le'))).message, /valid JSON/);
});

test('a byte order mark is refused at the start and kept inside a string', () => {
  assert.match(refused('\uFEFF{}').message, /byte order mark/);
  assert.equal(parsed('"\uFEFFx"'), '\uFEFFx');
});

test('what could not be kept is refused with its path', () => {
  assert.equal(refused('{"a":[{"__proto__":{"x":1}}]}').path, '/a/0/__proto__');
  assert.equal(refused('{"a":{"\\u005f_proto__":1}}').path, '/a/__proto__');
  assert.equal(refused('{"a":"\\ud800"}').path, '/a');
  assert.equal(refused('["x\\udc00y"]').path, '/0');
  assert.equal(refused('{"a":{"\\ud83d":1}}').path, '/a');
  assert.equal(refused('{"a":1e999}').path, '/a');
  assert.equal(refused('[-1e999]').path, '/0');
  assert.equal(refused('1e309').path, '');
  assert.equal(parsed('"\\ud83d\\ude00"'), '😀');
  assert.deepEqual(parsed('{"constructor":{"prototype":1}}'), { constructor: { prototype: 1 } });
});

test('a negative zero becomes zero wherever it stands', () => {
  for (const zero of ['-0', '-0.0', '-0e5', '-1e-999']) {
    const value = parsed(`{"a":[${zero},{"b":${zero}}],"c":${zero}}`);
    assert.deepEqual(value, { a: [0, { b: 0 }], c: 0 });
    assert.ok(Object.is(parsed(zero), 0));
  }
});

test('a body that is not JSON is told where it goes wrong', () => {
  const cases: [text: string, place: string][] = [
    ['{"a" 1}', 'line 1, column 6 there should be a colon'],
    ['{"a":1,}', 'line 1, column 8 there should be a field name in double quotes'],
    ['{a:1}', 'line 1, column 2 there should be a field name in double quotes'],
    ["{'a':1}", 'line 1, column 2 there should be a field name in double quotes'],
    ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3 there should be a comma or }'],
    ['[1 2]', 'line 1, column 4 there should be a comma or ]'],
    ['[1,]', 'line 1, column 4 there should be a value'],
    ['[01]', 'line 1, column 3 there should be a comma or ]'],
    ['[', 'line 1, column 2 there should be a value'],
    ['{"a":', 'line 1, column 6 there should be a value'],
    ['nul', 'line 1, column 1 there should be a value'],
    ['NaN', 'line 1, column 1 there should be a value'],
    ['+1', 'line 1, column 1 there should be a value'],
    ['.5', 'line 1, column 1 there should be a value'],
    ['1.', 'line 1, column 2 there should be the end'],
    ['{}{}', 'line 1, column 3 there should be the end'],
    ['{} // note', 'line 1, column 4 there should be the end'],
    ['"abc', 'line 1, column 5 there should be a closing quote'],
    ['"a\\"', 'line 1, column 5 there should be a closing quote'],
    ['"\\x41"', 'line 1, column 2 there should be a valid escape sequence'],
    ['"\\u12g4"', 'line 1, column 2 there should be a valid escape sequence'],
    ['"a\nb"', 'line 1, column 3 there should be no control character'],
    ['\u00a0{}', 'line 1, column 1 there should be a value'],
  ];
  for (const [text, place] of cases) {
    assert.equal(refused(text).message, `The body is not valid JSON: at ${place}.`, text);
  }
});

test('an empty body is called empty', () => {
  for (const text of ['', ' \r\n\t'])
    assert.equal(refused(text).message, 'The body is empty; it must be JSON.');
});

test('a message never repeats a long name whole', () => {
  const name = 'n'.repeat(100_000);
  assert.ok(refused(`{"${name}":1,"${name}":2}`).message.length < 200);
});

test('bytes in the middle of a larger buffer are read as they are', () => {
  const whole = encoder.encode('xx{"a":1}yy');
  assert.deepEqual(parseJsonBody(whole.subarray(2, 9)), { ok: true, value: { a: 1 } });
});

test('large bodies of every shape are read whole', () => {
  const count = LIST_LENGTH_MAX;
  assert.equal((parsed(`[${'0,'.repeat(count - 1)}0]`) as JsonValue[]).length, count);
  const fields = Array.from({ length: count - 1 }, (_, i) => `"k${i}":${i}`).join(',');
  assert.equal(Object.keys(parsed(`{${fields}}`) as object).length, count - 1);
  assert.equal(refused(`{${fields},"k5":0}`).path, '/k5');
  assert.equal((parsed(`"${'\\n'.repeat(count)}"`) as string).length, count);
  assert.match(refused(`[${'"a",'.repeat(count - 1)}`).message, /there should be a value/);
  assert.match(refused('1'.repeat(count)).message, /range/);
});

test('a list or an object beyond its limit is refused with its place, however deep', () => {
  const items = (count: number): string => `[${Array(count).fill('{}').join(',')}]`;
  const tooMany = items(LIST_LENGTH_MAX + 1);
  assert.deepEqual(refused(tooMany), {
    path: '',
    message: `The body must not have more than ${LIST_LENGTH_MAX} items.`,
  });
  assert.deepEqual(refused(`{"a":${items(3)}, "constraints" : [{}, {"x":"[,","values":${tooMany}}]}`), {
    path: '/constraints/1/values',
    message: `The field values must not have more than ${LIST_LENGTH_MAX} items.`,
  });
  const fields = Array.from({ length: LIST_LENGTH_MAX + 1 }, (_, i) => `"k${i}":${i}`).join(',');
  assert.deepEqual(refused(`[0,{${fields}}]`), {
    path: '/1',
    message: `Item 1 must not have more than ${LIST_LENGTH_MAX} fields.`,
  });
  const lists = Array(VALUES_MAX / 1000 + 1).fill(items(1000));
  assert.match(refused(`[${lists.join(',')}]`).message, new RegExp(`more than ${VALUES_MAX} values`));
});

test('more different names than the parser gets through in a moment are refused, and one name may come often', () => {
  const half = Array.from({ length: NAMES_MAX * 0.55 }, (_, at) => at);
  const halves = (nameOf: (at: number) => string): string =>
    JSON.stringify(['a', 'b'].map((which) => half.map((at) => ({ [which + nameOf(at)]: [`n${at}`] }))));
  assert.match(refused(halves(String)).message, new RegExp(`more than ${NAMES_MAX} different names`));
  assert.equal((parsed(halves((at) => String(at % 100))) as JsonValue[]).length, 2);
});

/** A text as JSON writes it, without escapes that it does not need. */
function quotedPiece(piece: string): string {
  return JSON.stringify(piece).slice(1, -1);
}

function escapedPiece(piece: string): string {
  return Array.from(
    { length: piece.length },
    (_, i) => `\\u${piece.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');
}
