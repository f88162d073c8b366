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
