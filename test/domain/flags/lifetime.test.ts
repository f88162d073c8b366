import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOfLife, stalenessOf } from '../../../src/domain/flags/lifetime.ts';
import { FLAG_TYPES, LIFETIME_DAYS } from '../../../src/domain/flags/metadata.ts';

const CREATED_MS = Date.UTC(2026, 0, 1);
const createdAt = new Date(CREATED_MS).toISOString();
const DAY_MS = 86_400_000;

test('experiments and releases live 40 days, operational flags 7, and the others for ever', () => {
  const days = FLAG_TYPES.map((type) => [
    type,
    (endOfLife({ type, createdAt }, LIFETIME_DAYS) - CREATED_MS) / DAY_MS,
  ]);
  assert.deepEqual(days, [
    ['release', 40],
    ['kill-switch', Number.POSITIVE_INFINITY],
    ['experiment', 40],
    ['operational', 7],
    ['permission', Number.POSITIVE_INFINITY],
  ]);
});

test('a flag becomes potentially stale at the very millisecond at which its lifetime ends', () => {
  const flag = { type: 'operational', createdAt, stale: false } as const;
  assert.equal(stalenessOf(flag, LIFETIME_DAYS, CREATED_MS + 7 * DAY_MS - 1), 'active');
  assert.equal(stalenessOf(flag, LIFETIME_DAYS, CREATED_MS + 7 * DAY_MS), 'potentially-stale');
});

test('a flag that somebody marked as stale is stale at any age', () => {
  const flag = { type: 'operational', createdAt, stale: true } as const;
  for (const days of [0, 8])
    assert.equal(stalenessOf(flag, LIFETIME_DAYS, CREATED_MS + days * DAY_MS), 'stale');
});
