import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contextIssue,
  contextLength,
  contextOf,
  contextReader,
} from '../../../../src/addons/sdk/evaluation/context.ts';

test('fields that SDKs do not know are properties, and win over those below properties', () => {
  const context = contextOf({ userId: '7', plan: 'beta', properties: { plan: 'free', region: 'eu' } });
  assert.deepEqual(context, {
    userId: '7',
    properties: new Map([
      ['plan', 'beta'],
      ['region', 'eu'],
    ]),
  });
});

test('numbers and booleans become texts; null, lists and objects are left out', () => {
  const context = contextOf({
    userId: 7,
    sessionId: null,
    appName: ['web'],
    properties: { paying: true, age: 4.5, address: { city: 'Oslo' } },
  });
  assert.deepEqual(context, {
    userId: '7',
    properties: new Map([
      ['paying', 'true'],
      ['age', '4.5'],
    ]),
  });
});

test('properties that are no object are no properties', () => {
  for (const properties of [null, [], 'x', 7]) {
    assert.deepEqual(contextOf({ userId: '7', properties }), { userId: '7', properties: new Map() });
  }
});

test('a property stands in for a field that was not given', () => {
  const read = contextReader('userId');
  assert.equal(read(contextOf({ properties: { userId: '7' } })), '7');
  assert.equal(read(contextOf({ userId: '', properties: { userId: '7' } })), '');
  assert.equal(contextReader('toString')(contextOf({})), undefined);
});

test('a context with too many characters in all is named as such', () => {
  const filled = (length: number) =>
    contextLength(contextOf({ userId: 'x'.repeat(length), properties: { ab: 'cd' } }));
  assert.equal(contextIssue(filled(16_380)), null);
  assert.equal(
    contextIssue(filled(16_381)),
    'The context must have at most 16384 characters in all its names and values, not 16385.',
  );
});
