import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Life, stagesOf } from '../../../src/domain/flags/lifecycle.ts';

const AT = Date.UTC(2026, 0, 1);
const day = (number: number): string => new Date(AT + number * 86_400_000).toISOString();
const LIFE: Life = {
  createdAt: day(0),
  archivedAt: null,
  completion: null,
  firstSeen: new Map(),
  isProduction: (name) => name.startsWith('production'),
};
const seenOn = (days: Readonly<Record<string, number>>): Life['firstSeen'] =>
  new Map(Object.entries(days).map(([name, number]) => [name, Date.parse(day(number))]));
const shown = (life: Partial<Life>) =>
  stagesOf({ ...LIFE, ...life }).map(({ stage, status, enteredStageAt }) => {
    const entered = (Date.parse(enteredStageAt) - AT) / 86_400_000;
    return [stage, entered, ...(status === undefined ? [] : [status])];
  });

test('a flag enters a stage when a report of such an environment first tells of it', () => {
  assert.deepEqual(shown({}), [['initial', 0]]);
  assert.deepEqual(shown({ firstSeen: seenOn({ staging: 3, development: 2, production: 4 }) }), [
    ['initial', 0],
    ['pre-live', 2],
    ['live', 4],
  ]);
  assert.deepEqual(shown({ firstSeen: seenOn({ 'production-eu': 5, 'production-us': 6 }) }), [
    ['initial', 0],
    ['live', 5],
  ]);
});

test('a flag that is completed and archived is in the later of both stages, and has been in all', () => {
  const completion = { flag: 'a', status: 'kept', statusValue: 'blue', at: day(7) } as const;
  assert.deepEqual(shown({ completion, archivedAt: day(8), firstSeen: seenOn({ development: 1 }) }), [
    ['initial', 0],
    ['pre-live', 1],
    ['completed', 7, 'kept'],
    ['archived', 8],
  ]);
});
