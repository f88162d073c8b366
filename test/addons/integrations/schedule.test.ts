import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterFailure,
  DUE,
  PARKED_AFTER_MS,
  type Progress,
  pauseMs,
  retryAfterMs,
} from '../../../src/addons/integrations/schedule.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const HOUR_MS = 3_600_000;

test('pauses grow from 1 s to 1 h, half of each by chance', () => {
  const bounds = Array.from({ length: 14 }, (_, at) => [pauseMs(at + 1, 0), pauseMs(at + 1, 1)]);
  assert.deepEqual(bounds.slice(0, 3), [
    [1_000, 2_000],
    [2_000, 4_000],
    [4_000, 8_000],
  ]);
  assert.deepEqual(bounds.slice(-3), Array(3).fill([HOUR_MS / 2, HOUR_MS]));
  assert.equal(pauseMs(10_000, 1), HOUR_MS);
});

test('a receiver that stays away is tried for three days and then parked, whatever the chance', () => {
  for (const seed of [1, 2, 3, 4]) {
    const random = seededRandom(seed);
    let progress: Progress = DUE;
    let nowMs = 1_700_000_000_000;
    const begunMs = nowMs;
    while (progress.dueMs !== null) {
      nowMs = Math.max(nowMs, progress.dueMs);
      const before = nowMs;
      progress = afterFailure(progress, nowMs, random.next());
      assert(progress.dueMs === null || progress.dueMs >= before + 1_000, 'a pause is 1 s at least');
      assert(progress.dueMs === null || progress.dueMs <= before + HOUR_MS, 'a pause is 1 h at most');
    }
    assert(nowMs - begunMs >= PARKED_AFTER_MS && nowMs - begunMs <= PARKED_AFTER_MS + HOUR_MS);
    assert(progress.failures > 72 && progress.failures < 200, `${progress.failures} attempts`);
  }
});

test('the three days go on over a restart, which forgets the count', () => {
  const restarted = { ...DUE, failingSinceMs: 1_000 };
  assert.equal(afterFailure(restarted, 1_000 + PARKED_AFTER_MS, 0.5).dueMs, null);
  assert.notEqual(afterFailure(restarted, 999 + PARKED_AFTER_MS, 0.5).dueMs, null);
});

test('a clock that was set back begins the three days at the new time', () => {
  assert.equal(afterFailure({ ...DUE, failingSinceMs: 5_000 }, 1_000, 0).failingSinceMs, 1_000);
});

test('a pause that the receiver asks for makes the own one longer, up to an hour', () => {
  const dueMs = (askedMs: number) => afterFailure(DUE, 1_000, 1, askedMs).dueMs;
  assert.deepEqual([0, 500, 30_000, 9 * HOUR_MS].map(dueMs), [3_000, 3_000, 31_000, 1_000 + HOUR_MS]);
});

test('a receiver that is gone is parked at once', () => {
  assert.equal(afterFailure(DUE, 1_000, 0, Number.POSITIVE_INFINITY).dueMs, null);
});

test('Retry-After is read in seconds and as a date, and is 0 where it is neither', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const read = (header: string) => retryAfterMs(header, nowMs);
  assert.deepEqual(
    ['120', 'Thu, 01 Jan 2026 00:00:30 GMT', 'Wed, 31 Dec 2025 00:00:00 GMT', 'soon', ''].map(read),
    [...[120_000, 30_000, 0, 0, 0]],
  );
});
