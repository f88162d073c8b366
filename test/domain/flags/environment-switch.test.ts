import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createActor } from 'xstate';
import {
  environmentSwitchMachine,
  nextSwitch,
  type SwitchEvent,
  type SwitchOutcome,
} from '../../../src/domain/flags/environment-switch.ts';

const EVENTS: SwitchEvent[] = ['ON', 'OFF', 'LAST_ENABLED_STRATEGY_GONE'];

test('the table says the same as the interpreter for every state, event and count of strategies', () => {
  let compared = 0;
  for (const enabled of [false, true]) {
    for (const event of EVENTS) {
      for (const strategyCount of [0, 1, 2, 30]) {
        const told = nextSwitch(enabled, event, strategyCount);
        assert.deepEqual(
          told,
          interpreted(enabled, event, strategyCount),
          `${enabled} ${event} ${strategyCount}`,
        );
        compared++;
      }
    }
  }
  assert.equal(
    compared,
    2 * environmentSwitchMachine.events.length * 4,
    'no event of the machine is left out',
  );
});

test('the table is the one that was decided', () => {
  const stays = (enabled: boolean): SwitchOutcome => ({ changed: false, enabled });
  const goes = (enabled: boolean): SwitchOutcome => ({ changed: true, enabled });
  const decided: [enabled: boolean, SwitchEvent, strategyCount: number, SwitchOutcome][] = [
    [false, 'ON', 0, 'refused'],
    [false, 'ON', 1, goes(true)],
    [false, 'OFF', 0, stays(false)],
    [false, 'OFF', 1, stays(false)],
    [false, 'LAST_ENABLED_STRATEGY_GONE', 0, stays(false)],
    [true, 'ON', 0, stays(true)],
    [true, 'ON', 1, stays(true)],
    [true, 'OFF', 0, goes(false)],
    [true, 'OFF', 1, goes(false)],
    [true, 'LAST_ENABLED_STRATEGY_GONE', 0, goes(false)],
  ];
  for (const [enabled, event, strategyCount, outcome] of decided) {
    assert.deepEqual(
      nextSwitch(enabled, event, strategyCount),
      outcome,
      `${enabled} ${event} ${strategyCount}`,
    );
  }
});

test('the machine starts disabled', () => {
  const actor = createActor(environmentSwitchMachine, { input: { strategyCount: 3 } });
  assert.equal(actor.getSnapshot().value, 'disabled');
});

function interpreted(enabled: boolean, type: SwitchEvent, strategyCount: number): SwitchOutcome {
  const state = enabled ? 'enabled' : 'disabled';
  const snapshot = environmentSwitchMachine.resolveState({ value: state, context: { strategyCount } });
  const actor = createActor(environmentSwitchMachine, { snapshot, input: { strategyCount } }).start();
  if (!actor.getSnapshot().can({ type })) return 'refused';
  actor.send({ type });
  const after = actor.getSnapshot().value;
  actor.stop();
  return { changed: after !== state, enabled: after === 'enabled' };
}
