import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import * as v from 'valibot';
import { issuesOf } from '../../../src/domain/json/issues.ts';
import { checkStorable, JSON_DEPTH_MAX, type JsonValue, jsonEqual } from '../../../src/domain/json/json.ts';
import {
  applyPatch,
  PATCH_OPERATIONS_MAX,
  PATCH_SIZE_MAX,
  type PatchOperation,
  PatchSchema,
} from '../../../src/domain/json/json-patch.ts';
import { pointerToken } from '../../../src/domain/json/json-pointer.ts';

function patched(document: JsonValue, ...operations: PatchOperation[]): JsonValue {
  const outcome = applyPatch(document, operations);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.document;
}

function refused(document: JsonValue, ...operations: PatchOperation[]) {
  const outcome = applyPatch(document, operations);
  assert.ok(!outcome.ok, `should have been refused: ${JSON.stringify(operations)}`);
  return outcome;
}

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value });
const replace = (path: string, value: unknown): PatchOperation => ({ op: 'replace', path, value });
const expectValue = (path: string, value: unknown): PatchOperation => ({ op: 'test', path, value });
const remove = (path: string): PatchOperation => ({ op: 'remove', path });
const move = (from: string, path: string): PatchOperation => ({ op: 'move', from, path });
const copy = (from: string, path: string): PatchOperation => ({ op: 'copy', from, path });

test('each operation does what RFC 6902 says', () => {
  const cases: [name: string, before: JsonValue, PatchOperation[], after: JsonValue][] = [
    ['add a field', { a: 1 }, [add('/b', 2)], { a: 1, b: 2 }],
    ['add over a field replaces it', { a: 1 }, [add('/a', null)], { a: null }],
    ['add an item before another', ['a', 'c'], [add('/1', 'b')], ['a', 'b', 'c']],
    ['add an item at the start', ['b'], [add('/0', 'a')], ['a', 'b']],
    ['add an item at the end by its position', ['a'], [add('/1', 'b')], ['a', 'b']],
    ['add an item at the end by a dash', { list: ['a'] }, [add('/list/-', ['b'])], { list: ['a', ['b']] }],
    ['add replaces the whole document', { a: 1 }, [add('', [1])], [1]],
    ['add a field with an empty name', {}, [add('/', 1)], { '': 1 }],
    ['add a field named like a position', {}, [add('/0', 1), add('/-', 2)], { 0: 1, '-': 2 }],
    ['add below what was just added', {}, [add('/a', {}), add('/a/b', 1)], { a: { b: 1 } }],
    ['remove a field', { a: 1, b: 2 }, [remove('/b')], { a: 1 }],
    ['remove an item, closing the gap', ['a', 'b', 'c'], [remove('/1')], ['a', 'c']],
    ['remove the whole document leaves null', { a: 1 }, [remove('')], null],
    ['replace a field, also by null', { a: 1 }, [replace('/a', null)], { a: null }],
    ['replace an item', ['a', 'b'], [replace('/1', 'x')], ['a', 'x']],
    ['replace the whole document', { a: 1 }, [replace('', { b: 2 })], { b: 2 }],
    ['move a field', { a: { x: 1 }, b: {} }, [move('/a/x', '/b/y')], { a: {}, b: { y: 1 } }],
    ['move an item to a later place', [1, 2, 3, 4], [move('/1', '/3')], [1, 3, 4, 2]],
    ['move an item to an earlier place', [1, 2, 3, 4], [move('/3', '/0')], [4, 1, 2, 3]],
    ['move over a field replaces it', { a: 1, b: 2 }, [move('/a', '/b')], { b: 1 }],
    ['move to the place it comes from changes nothing', { a: 1 }, [move('/a', '/a')], { a: 1 }],
    ['move a part over the whole document', { a: { b: 1 } }, [move('/a', '')], { b: 1 }],
    ['move to a name that the source is the start of', { a: 1 }, [move('/a', '/ab')], { ab: 1 }],
    ['copy a field', { a: [1] }, [copy('/a', '/b')], { a: [1], b: [1] }],
    ['copy the whole document into itself', { a: 1 }, [copy('', '/b')], { a: 1, b: { a: 1 } }],
    ['copy a part over the whole document', { a: { b: 1 } }, [copy('/a', '')], { b: 1 }],
    [
      'test a value with its fields in another order',
      { a: { b: 1, c: [2] } },
      [expectValue('/a', { c: [2], b: 1 })],
      { a: { b: 1, c: [2] } },
    ],
    ['test null', { a: null }, [expectValue('/a', null)], { a: null }],
    ['test the whole document', [1], [expectValue('', [1])], [1]],
    [
      'escapes in names',
      { 'a/b': 1, 'm~n': 2, '~1': 3 },
      [expectValue('/a~1b', 1), expectValue('/m~0n', 2), remove('/~01')],
      { 'a/b': 1, 'm~n': 2 },
    ],
    [
      'a field that only looks inherited',
      {},
      [add('/toString', 1), add('/hasOwnProperty', 2), expectValue('', { toString: 1, hasOwnProperty: 2 })],
      { toString: 1, hasOwnProperty: 2 },
    ],
    ['no operations', { a: 1 }, [], { a: 1 }],
  ];
  for (const [name, before, operations, after] of cases) {
    assert.deepEqual(patched(before, ...operations), after, name);
  }
});

test('fields beyond those of its operation are ignored', () => {
  const operations = v.parse(PatchSchema, [{ op: 'remove', path: '/a', value: 1, xyz: 2 }]);
  assert.deepEqual(patched({ a: 1 }, ...operations), {});
});

test('a path that leads to nothing is refused with the operation that has it', () => {
  const document = { a: { b: 1 }, list: [1, 2], text: 'x', nothing: null };
  const cases: PatchOperation[] = [
    remove('/x'),
    remove('/a/x'),
    remove('/list/2'),
    remove('/list/-'),
    replace('/x', 1),
    replace('/list/2', 1),
    replace('/list/-', 1),
    replace('/text/0', 'y'),
    expectValue('/x', 1),
    expectValue('/nothing/x', null),
    add('/x/y', 1),
    add('/list/3', 1),
    add('/text/0', 'y'),
    add('/text/length', 1),
    add('/nothing/x', 1),
    add('/list/2/x', 1),
    move('/x', '/y'),
    move('/a/b', '/x/y'),
    move('/list/0', '/list/2'),
    copy('/x', '/y'),
    copy('/list/-', '/y'),
    copy('/a', '/list/4'),
  ];
  for (const operation of cases) {
    const { kind, index, message } = refused(document, expectValue('/text', 'x'), operation);
    assert.equal(kind, 'invalid', JSON.stringify(operation));
    assert.equal(index, 1);
    assert.match(message, new RegExp(`^Operation 1 \\(${operation.op}\\) cannot be applied: .*\\.$`));
  }
});

test('a misspelt field in a path is refused with the path that was meant', () => {
  const document = { description: 'x', list: [{ weight: 1 }] };
  for (const [path, meant] of [
    ['/descripton', '/description'],
    ['/list/0/wieght', '/list/0/weight'],
    ['/lists/0/weight', '/list/0/weight'],
  ] as const) {
    const { message } = refused(document, replace(path, 'y'));
    assert.match(message, new RegExp(`there is nothing at "${path}" \\(did you mean "${meant}"\\?\\)\\.$`));
  }
  assert.match(refused(document, remove('/other')).message, /there is nothing at "\/other"\.$/);
});

test('a position in a list is only what is written as one', () => {
  for (const token of ['01', '00', '-0', '+1', '1e0', '1.0', ' 1', '', '0x0', 'length', '4294967296', '１']) {
    refused({ list: [1, 2] }, expectValue(`/list/${token}`, 1));
    refused({ list: [1, 2] }, add(`/list/${token}`, 1));
    refused({ list: [1, 2] }, remove(`/list/${token}`));
  }
});

test('moving a value into itself is refused', () => {
  refused({ a: { b: {} } }, move('/a', '/a/b'));
  refused({ a: { b: {} } }, move('/a', '/a/b/c'));
  refused([[1]], move('/0', '/0/0'));
  refused([[1], [2]], move('/0', '/0/0')); // Once the first is taken out, there is a place /0/0: that of the second.
  refused({ a: 1 }, move('', '/a'));
});

test('a test that does not hold is told apart from a patch that is wrong', () => {
  const { kind, index, message } = refused({ a: 1 }, add('/b', 1), expectValue('/a', '1'));
  assert.equal(kind, 'test-failed');
  assert.equal(index, 1);
  assert.equal(message, 'Operation 1 (test) does not hold: at "/a" there is 1, not "1".');
  for (const value of [2, null, [1], {}, true])
    assert.equal(refused({ a: 1 }, expectValue('/a', value)).kind, 'test-failed');
  assert.equal(refused([1, 2], expectValue('', [2, 1])).kind, 'test-failed');
  assert.equal(refused({ a: {} }, expectValue('/a', [])).kind, 'test-failed');
});

const HOSTILE = ['__proto__', 'constructor', 'prototype'];

/** Every path of up to four tokens that has the hostile one in each of its positions, before and after real names. */
function pathsWith(token: string): string[] {
  const around = ['a', 'list', '0', '-'];
  const paths = [`/${token}`];
  for (const one of around) {
    paths.push(`/${token}/${one}`, `/${one}/${token}`);
    for (const other of around) {
      paths.push(`/${token}/${one}/${other}`, `/${one}/${token}/${other}`, `/${one}/${other}/${token}`);
      paths.push(`/a/${token}/${one}/${other}`, `/a/${one}/${token}/${other}`, `/a/${one}/${other}/${token}`);
    }
  }
  return [...paths, ...HOSTILE.map((other) => `/${token}/${other}`)];
}

test('no operation may name the way to a prototype, in any position of path or from', () => {
  // The document has such fields of its own, so that only the name can be what is refused.
  const inner = () => JSON.parse('{"constructor":{"prototype":{}},"prototype":{},"list":[{}]}');
  const document: JsonValue = { ...inner(), a: inner(), list: [inner()] };
  let refusedCount = 0;
  for (const token of HOSTILE) {
    for (const path of pathsWith(token)) {
      const attempts = [add(path, 1), replace(path, 1), remove(path), expectValue(path, 1)];
      attempts.push(move(path, '/b'), move('/list', path), copy(path, '/b'), copy('/list', path));
      for (const attempt of attempts) {
        const outcome = refused(document, attempt);
        assert.equal(outcome.kind, 'invalid');
        assert.ok(outcome.message.includes(`must not contain`), outcome.message);
        refusedCount++;
      }
    }
  }
  assert.ok(refusedCount > 2000, `${refusedCount} attempts`);
});

test('nothing inherited can be read, moved, tested or built upon', () => {
  const inherited = [
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__defineGetter__',
    '__lookupGetter__',
    'isPrototypeOf',
  ];
  for (const name of [...inherited, 'length', 'push', 'at']) {
    for (const place of ['', '/object', '/list', '/text', '/number']) {
      const document = { object: {}, list: [1], text: 'x', number: 5 };
      const path = `${place}/${name}`;
      const attempts = [
        copy(path, '/b'),
        move(path, '/b'),
        expectValue(path, 1),
        remove(path),
        replace(path, 1),
      ];
      for (const attempt of [...attempts, add(`${path}/polluted`, 1), add(`${path}/call/x`, 1)]) {
        assert.equal(refused(document, attempt).kind, 'invalid', JSON.stringify(attempt));
      }
    }
  }
});

test('the library alone would be led to the prototype of all objects, the guard is not', () => {
  const attack: PatchOperation[] = [copy('/constructor', '/x'), add('/x/prototype/polluted', true)];
  try {
    jsonPatch.applyPatch({}, structuredClone(attack) as jsonPatch.Operation[]);
    assert.equal(({} as { polluted?: boolean }).polluted, true, 'without the guard this attack must succeed');
  } finally {
    delete (Object.prototype as { polluted?: boolean }).polluted;
  }
  assert.equal(refused({}, ...attack).index, 0);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('a value that could not be kept is refused', () => {
  for (const value of [
    JSON.parse('{"__proto__":{"a":1}}'),
    '\uD800',
    [Number.POSITIVE_INFINITY],
    undefined,
  ]) {
    for (const operation of [add('/b', value), replace('/a', value), expectValue('/a', value)]) {
      assert.match(
        refused({ a: 1 }, operation).message,
        /^Operation 0 \(\w+\) cannot be applied: its value cannot be kept\. .*\.$/,
      );
    }
  }
});

test('the result may be nested up to the limit and not one level deeper, however it got there', () => {
  let chain: JsonValue = {};
  for (let level = 1; level < JSON_DEPTH_MAX - 1; level++) chain = { a: chain };
  const bottom = '/a'.repeat(JSON_DEPTH_MAX - 2);
  assert.equal(checkStorable(patched(chain, add(`${bottom}/b`, []))), null);
  assert.match(refused(chain, add(`${bottom}/b`, [[]])).message, /64 levels/);
  assert.match(refused({ chain, b: {} }, move('/chain', '/b/c')).message, /64 levels/);
  assert.match(refused(chain, copy('', `${bottom}/b`)).message, /64 levels/);
  assert.match(refused(chain, copy('/a', `${bottom}/b`)).message, /64 levels/);
});

test('copying the document into itself again and again is stopped before it fills the memory', () => {
  const operations = Array.from({ length: 100 }, (_, i) => copy('', `/c${i % 10}`));
  const { index, message } = refused({ text: 'x'.repeat(1000) }, ...operations);
  assert.ok(index < 20, `stopped at operation ${index}`);
  assert.match(message, /exceed 2097152 bytes/);
});

test('copying a large value over the same place a thousand times is stopped, as its cost is counted', () => {
  const large = 'x'.repeat(100_000);
  const { index } = refused({ large }, ...Array.from({ length: 1000 }, () => copy('/large', '/b')));
  assert.equal(index, Math.floor(PATCH_SIZE_MAX / 100_002));
});

test('a refused patch leaves nothing behind, whichever operation is at fault', () => {
  const document = { a: { b: [1, 2] }, c: 'x' };
  const before = structuredClone(document);
  const good = [add('/d', 1), remove('/c'), move('/a/b/0', '/e'), replace('/a/b', []), copy('/a', '/f')];
  for (let length = 0; length <= good.length; length++) {
    assert.equal(refused(document, ...good.slice(0, length), remove('/none')).index, length);
    assert.deepEqual(document, before);
  }
});

const smallJson = fc.jsonValue({ maxDepth: 3 }).filter((value) => checkStorable(value) === null);

/** Pointers into the document, next to it and anywhere, so that many operations apply and many do not. */
function pointerInto(document: JsonValue): fc.Arbitrary<string> {
  const wild = fc
    .array(fc.constantFrom('a', '0', '1', '-', '01', '', '__proto__', 'constructor', 'toString', 'length'), {
      maxLength: 3,
    })
    .map((tokens) => tokens.map((token) => `/${token}`).join(''));
  return fc.oneof({ arbitrary: fc.constantFrom(...pointersOf(document)), weight: 3 }, wild);
}

function pointersOf(value: JsonValue, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at];
  const below = Object.entries(value).flatMap(([key, part]) =>
    pointersOf(part as JsonValue, `${at}/${pointerToken(key)}`),
  );
  return [at, ...below, Array.isArray(value) ? `${at}/-` : `${at}/new`];
}

/** Objects as JSON.parse makes them. */
const PLAIN = { noNullPrototype: true } as const;

const documentAndPatch = smallJson.chain((document) => {
  const path = pointerInto(document as JsonValue);
  const operation: fc.Arbitrary<PatchOperation> = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value: smallJson }, PLAIN),
    fc.record({ op: fc.constant('remove'), path }, PLAIN),
    fc.record({ op: fc.constantFrom('move', 'copy'), from: path, path }, PLAIN),
  );
  return fc.tuple(fc.constant(document as JsonValue), fc.array(operation, { maxLength: 6 }));
});

test('whatever the patch, its input is unchanged, its result shares only fields that nothing wrote to, and no prototype is touched', () => {
  const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype];
  const before = prototypes.map((prototype) => Reflect.ownKeys(prototype));
  fc.assert(
    fc.property(documentAndPatch, ([document, operations]) => {
      const copies = structuredClone([document, operations]);
      const outcome = applyPatch(deepFreeze(document), deepFreeze(operations));
      assert.deepEqual([document, operations], copies);
      if (outcome.ok) {
        const given = new Set([...objectsIn(document), ...objectsIn(operations)]);
        const { written } = outcome;
        const untouched = written === null || Array.isArray(document) ? [] : Object.entries(document ?? {});
        const kept = untouched
          .filter(([field]) => !written?.has(field))
          .flatMap(([, value]) => objectsIn(value));
        for (const object of kept) given.delete(object);
        const made = objectsIn(outcome.document);
        assert.equal(new Set(made).size, made.length, 'no object appears twice in the result');
        assert.ok(made.every((object) => !given.has(object)));
        assert.equal(checkStorable(outcome.document), null);
      }
      assert.deepEqual(
        prototypes.map((prototype) => Reflect.ownKeys(prototype)),
        before,
      );
    }),
    { numRuns: 1000 },
  );
});

test('the library agrees on the result of every patch that is accepted', () => {
  let acceptedCount = 0;
  fc.assert(
    fc.property(documentAndPatch, ([document, operations]) => {
      const outcome = applyPatch(document, operations);
      if (!outcome.ok) return;
      acceptedCount += operations.length;
      const given = structuredClone(operations) as jsonPatch.Operation[];
      const theirs: unknown = jsonPatch.applyPatch(structuredClone(document), given).newDocument;
      assert.ok(jsonEqual(outcome.document, theirs), JSON.stringify({ ours: outcome.document, theirs }));
    }),
    { numRuns: 1000 },
  );
  assert.ok(acceptedCount > 100, `only ${acceptedCount} operations were accepted`);
});

test('a patch that adds and then removes gives back the document', () => {
  fc.assert(
    fc.property(smallJson, smallJson, fc.string(), (document, value, key) => {
      fc.pre(typeof document === 'object' && document !== null && !HOSTILE.includes(key));
      const path = Array.isArray(document) ? `/${document.length}` : `/new${pointerToken(key)}`;
      fc.pre(!Object.hasOwn(document as object, path.slice(1)));
      const result = patched(document as JsonValue, add(path, value), expectValue(path, value), remove(path));
      assert.deepEqual(result, document);
    }),
  );
});

test('a malformed operation is refused with its position and what is missing', () => {
  const issues = (patch: unknown) => issuesOf(v.safeParse(PatchSchema, patch).issues ?? []);
  const first = { op: 'remove', path: '/a' };
  const cases: [operation: unknown, path: string, words: RegExp][] = [
    [{ op: 'delete', path: '/a' }, '/1/op', /one of add, remove, replace, move, copy, test, not "delete"/],
    [{ path: '/a' }, '/1/op', /required/],
    [{ op: 'remove' }, '/1/path', /required/],
    [{ op: 'remove', path: 5 }, '/1/path', /a JSON pointer, not 5/],
    [{ op: 'add', path: '/a' }, '/1/value', /required/],
    [{ op: 'test', path: '/a' }, '/1/value', /required/],
    [{ op: 'move', path: '/a' }, '/1/from', /required/],
    [{ op: 'copy', path: '/a', from: null }, '/1/from', /a JSON pointer, not null/],
    [{ op: ['add'], path: '/a', value: 1 }, '/1/op', /one of add/],
    [{ op: null, path: '/a', value: 1 }, '/1/op', /one of add/],
    [[], '/1/op', /required/],
    ['remove', '/1', /a JSON Patch operation/],
    [null, '/1', /a JSON Patch operation/],
  ];
  for (const [operation, path, words] of cases) {
    const [issue, ...more] = issues([first, operation]);
    assert.equal(issue?.path, path, JSON.stringify(operation));
    assert.match(issue.message, words);
    assert.equal(more.length, 0);
  }
  assert.deepEqual(
    issues({ op: 'remove', path: '/a' }).map(({ path }) => path),
    [''],
  );
});

test('a value of null is a value', () => {
  assert.ok(v.safeParse(PatchSchema, [{ op: 'add', path: '/a', value: null }]).success);
});

test('a path that is no pointer is refused by its operation', () => {
  for (const path of ['a', 'a/b', '/~', '/~2', '#/a']) {
    assert.match(refused({ a: 1 }, remove(path)).message, /not a valid pointer/);
    assert.match(refused({ a: 1 }, copy(path, '/b')).message, /its from .* not a valid pointer/);
  }
});

test('a patch may have as many operations as the limit, and not one more', () => {
  const operations = (count: number) =>
    Array.from({ length: count }, () => ({ op: 'test', path: '', value: 0 }));
  const most = v.parse(PatchSchema, operations(PATCH_OPERATIONS_MAX));
  assert.equal(patched(0, ...most), 0);
  const [issue] = issuesOf(v.safeParse(PatchSchema, operations(PATCH_OPERATIONS_MAX + 1)).issues ?? []);
  assert.equal(issue?.message, 'The value must be a list of at most 1000 operations, not a list of 1001.');
});

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

function deepFreeze<T>(value: T): T {
  for (const object of objectsIn(value)) Object.freeze(object);
  return value;
}
