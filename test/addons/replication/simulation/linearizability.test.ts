/** The checker of histories: what it takes, and what it finds wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLinearizable, type Operation } from './linearizability.ts';

const NEVER = Number.POSITIVE_INFINITY;
const read = (value: string | null, begun: number, ended: number): Operation => ({
  ...{ kind: 'read', register: 'r', value, expected: null, begun, ended },
});
const write = (expected: string | null, value: string, begun: number, ended: number): Operation => ({
  ...{ kind: 'write', register: 'r', value, expected, begun, ended },
});

const CASES: readonly (readonly [what: string, isFine: boolean, history: readonly Operation[]])[] = [
  ['nothing', true, []],
  ['writes that follow each other', true, [write(null, 'a', 1, 2), write('a', 'b', 3, 4), read('b', 5, 6)]],
  ['a read during a write, of the old value', true, [write(null, 'a', 1, 4), read(null, 2, 3)]],
  ['a read during a write, of the new value', true, [write(null, 'a', 1, 4), read('a', 2, 3)]],
  ['the new value and then the old one', false, [write(null, 'a', 1, 6), read('a', 2, 3), read(null, 4, 5)]],
  ['an old value after the write was answered', false, [write(null, 'a', 1, 2), read(null, 3, 4)]],
  ['two writes on the same condition', false, [write(null, 'a', 1, 3), write(null, 'b', 2, 4)]],
  ['one of two that was not answered', true, [write(null, 'a', 1, 3), write(null, 'b', 2, NEVER)]],
  ['a write without an answer that is seen', true, [write(null, 'a', 1, NEVER), read('a', 2, 3)]],
  ['one that is seen and taken back', false, [write(null, 'a', 1, NEVER), read('a', 2, 3), read(null, 4, 5)]],
  ['a value that nobody wrote', false, [read('a', 1, 2)]],
];

for (const [what, isFine, history] of CASES)
  test(`${isFine ? 'takes' : 'finds'} ${what}`, () => assert.equal(isLinearizable(history), isFine));
