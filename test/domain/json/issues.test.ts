import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ISSUES_MAX, issuesOf, shown } from '../../../src/domain/json/issues.ts';

const Schema = v.object({
  name: v.string(),
  kind: v.optional(v.picklist(['a', 'b'])),
  weight: v.optional(v.pipe(v.number('an integer'), v.integer('an integer'), v.maxValue(5, 'at most 5'))),
  values: v.optional(v.array(v.string())),
  'a/b': v.optional(v.object({ on: v.boolean() })),
});

function messages(value: unknown): [path: string, message: string][] {
  const parsed = v.safeParse(Schema, value);
  return issuesOf(parsed.issues ?? []).map(({ path, message }) => [path, message]);
}

test('an issue names the field, what would be right and the value given', () => {
  assert.deepEqual(messages({ name: 5 }), [['/name', 'The field name must be a string, not 5.']]);
  assert.deepEqual(messages({ name: 'x', kind: 'c' }), [
    ['/kind', 'The field kind must be one of a, b, not "c".'],
  ]);
  assert.deepEqual(messages({ name: 'x', values: ['y', null] }), [
    ['/values/1', 'Item 1 of the field values must be a string, not null.'],
  ]);
  assert.deepEqual(messages({ name: 'x', 'a/b': { on: 'yes' } }), [
    ['/a~1b/on', 'The field on must be true or false, not "yes".'],
  ]);
  assert.deepEqual(messages({ name: 'x', 'a/b': '' }), [
    ['/a~1b', 'The field a/b must be an object, not "".'],
  ]);
});

test('a field that was not sent is called required', () => {
  assert.deepEqual(messages({}), [['/name', 'The field name is required.']]);
});

test('a value that is wrong as a whole has the empty path', () => {
  assert.deepEqual(messages('x'), [['', 'The value must be an object, not "x".']]);
  const [issue] = issuesOf(v.safeParse(Schema, null).issues ?? [], 'The body');
  assert.equal(issue?.message, 'The body must be an object, not null.');
});

test('a field with several faults is reported once, by the first of them', () => {
  assert.deepEqual(messages({ name: 'x', weight: 7.5 }), [
    ['/weight', 'The field weight must be an integer, not 7.5.'],
  ]);
});

test('an item of a list that is the whole value is named by its position', () => {
  const parsed = v.safeParse(v.array(v.number()), [1, 'x']);
  assert.deepEqual(issuesOf(parsed.issues ?? []), [
    { path: '/1', message: 'Item 1 must be a number, not "x".' },
  ]);
});

test('a schema that gives a whole sentence is quoted word for word', () => {
  const parsed = v.safeParse(v.pipe(v.string(), v.minLength(3, 'Think of something longer.')), 'ab');
  assert.deepEqual(issuesOf(parsed.issues ?? []), [{ path: '', message: 'Think of something longer.' }]);
});

test('no more issues are reported than the limit, however many there are', () => {
  assert.equal(messages({ name: 'x', values: Array.from({ length: 1000 }, () => 0) }).length, ISSUES_MAX);
});

test('a given value is repeated on one line, cut to a length that names it', () => {
  assert.equal(shown('line\n"quoted"'), '"line\\n\\"quoted\\""');
  assert.equal(shown('x'.repeat(1000)).length, 63);
  assert.equal(shown([1, 2, 3]), 'a list of 3');
  assert.equal(shown([]), 'an empty list');
  assert.equal(shown({ secret: 'x' }), 'an object');
  assert.equal(shown(null), 'null');
});
