import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor } from 'xstate';
import {
  type ArchiveEvent,
  type ArchiveState,
  archiveSwitchMachine,
  nextArchiveState,
} from '../../../src/domain/decide/archive-switch.ts';
import type { Outcome } from '../../../src/domain/flags/transition-table.ts';

const STATES: ArchiveState[] = ['active', 'archived', 'deleted'];
const EVENTS: ArchiveEvent[] = ['ARCHIVE', 'REVIVE', 'DELETE'];

test('the table says the same as the interpreter for every state, event and count of children', () => {
  assert.deepEqual(Object.keys(archiveSwitchMachine.states), STATES);
  assert.deepEqual(new Set(archiveSwitchMachine.events), new Set(EVENTS));
  for (const state of STATES) {
    for (const event of EVENTS) {
      for (const childCount of [0, 1, 2, 30]) {
        const told = nextArchiveState(state, event, childCount);
        assert.deepEqual(told, interpreted(state, event, childCount), `${state} ${event} ${childCount}`);
      }
    }
  }
});

function interpreted(state: ArchiveState, type: ArchiveEvent, childCount: number): Outcome<ArchiveState> {
  const snapshot = archiveSwitchMachine.resolveState({ value: state, context: { childCount } });
  const actor = createActor(archiveSwitchMachine, { snapshot, input: { childCount } }).start();
  if (!actor.getSnapshot().can({ type })) return 'refused';
  actor.send({ type });
  const after = actor.getSnapshot().value;
  actor.stop();
  return { changed: after !== state, state: after };
}
