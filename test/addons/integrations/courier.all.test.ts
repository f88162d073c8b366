import { test } from 'node:test';
import { crashWhileSending, sendToFlaky, takeOverWhileSending } from './courier-scenarios.ts';
import { runIntegrationKills } from './kills.ts';

const SEEDS = [1, 2, 3];

for (const seed of SEEDS) {
  test(`10,000 events reach five receivers that fail in ways of their own, in order and without loss (seed ${seed})`, () =>
    sendToFlaky({ events: 10_000, seed }));
  test(`over 50 crashes only what was under way is repeated (seed ${seed})`, () =>
    crashWhileSending({ crashes: 50, seed }));
  test(`over 20 take-overs only what was under way is repeated (seed ${seed})`, () =>
    takeOverWhileSending({ takeOvers: 20, seed }));
}

test('over 50 kills of the process each event is delivered, in order, and only what was under way is repeated', (t) =>
  runIntegrationKills(t, { rounds: 50, seed: 2 }));
