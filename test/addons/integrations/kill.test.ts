import { test } from 'node:test';
import { runIntegrationKills } from './kills.ts';

test('over kills of the process each event is delivered, in order, and only what was under way is repeated', (t) =>
  runIntegrationKills(t, { rounds: 3, seed: 1 }));
