import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../../../src/addons/integrations/pace.ts';

class Clock {
  atMs = 0;
  share = 0;
  readonly paused: number[] = [];

  nowMs = (): number => this.atMs;
  busyShare = (): number => this.share;
  pause = async (pauseMs: number): Promise<void> => {
    this.paused.push(pauseMs);
    this.atMs += pauseMs;
  };
}

test('while the server is idle, attempts begin at once', async () => {
  const clock = new Clock();
  const pace = new Pace(clock);
  for (let at = 0; at < 1_000; at += 1) await pace.turn();
  assert.deepEqual(clock.paused, []);
});

test('while the server is busy, at most 50 attempts begin in a second, and the first at once', async () => {
  const clock = new Clock();
  clock.share = 0.9;
  const pace = new Pace(clock);
  await pace.turn();
  assert.equal(clock.atMs, 0);
  for (let at = 0; at < 50; at += 1) await pace.turn();
  assert(clock.atMs >= 980 && clock.atMs <= 1_000, `${clock.atMs} ms`);
  clock.share = 0.1;
  clock.atMs += 100;
  const paused = clock.paused.length;
  for (let at = 0; at < 50; at += 1) await pace.turn();
  assert.equal(clock.paused.length, paused);
});
