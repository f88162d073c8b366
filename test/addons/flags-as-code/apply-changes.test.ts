/** The decision on changes of files: what one call of the largest size looks at, which nothing interrupts. */
import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { applyChanges } from '../../../src/addons/flags-as-code/apply-changes.ts';
import type { Change } from '../../../src/addons/flags-as-code/flag-file.ts';
import { IMPORT_EVENTS_MAX, TRANSFER_FLAGS_MAX } from '../../../src/addons/transfer/import-issues.ts';
import { ownCommand } from '../../../src/domain/decide/decide.ts';
import { isRefusal } from '../../../src/domain/state/refusal.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';

const ENVIRONMENTS = ['development', 'production'] as const;

function newFlags(count: number, strategies: number): readonly Change[] {
  const strategy = { ...DEFAULT_STRATEGY, segments: ['segment-1'] };
  return Array.from({ length: count }, (_, at) => `flag-${at}`).flatMap((flag): readonly Change[] => [
    { flag, environment: null, field: 'presence', before: 'absent', after: 'active' },
    ...ENVIRONMENTS.flatMap((environment): readonly Change[] => [
      { flag, environment, field: 'strategies', before: [], after: Array(strategies).fill(strategy) },
      { flag, environment, field: 'enabled', before: false, after: true },
    ]),
  ]);
}

/** The decision on the changes, and how often segments were walked through for it. */
function decided(changes: readonly Change[]) {
  const state = new TestWorld();
  const fields = { name: 'segment-1', description: null, project: null, constraints: [] };
  state.given({ type: 'create-record', kind: 'segments', fields });
  const { mock: walks } = mock.method(state.world.directory.segments, 'values');
  const decision = state.decide(ownCommand({ sent: { project: 'default', changes }, decide: applyChanges }));
  return { decision, walks: walks.callCount() };
}

it('one call walks through the segments as often for the most flags as for one', () => {
  const one = decided(newFlags(1, 1));
  const most = decided(newFlags(Math.floor(IMPORT_EVENTS_MAX / 5) - 1, 1));
  assert(!isRefusal(one.decision) && !isRefusal(most.decision));
  assert.equal(one.decision.length, 6);
  assert(most.decision.length > IMPORT_EVENTS_MAX - 10 && most.decision.length <= IMPORT_EVENTS_MAX);
  assert(one.walks > 0);
  assert.equal(most.walks, one.walks);
});

it('one call that would record more events than an import is refused as a whole', () => {
  const { decision } = decided(newFlags(TRANSFER_FLAGS_MAX, 2));
  assert(isRefusal(decision));
  assert.match(decision.message, /would record 1751 events; one call can record 1200\./);
});
