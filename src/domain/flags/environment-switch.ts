/**
 * The switch of a flag in one environment. The machine is its only definition:
 * - it goes on only where there is a strategy, since an enabled environment without strategies serves everyone;
 * - for the same reason it goes off by itself with the last strategy;
 * - on when on and off when off change nothing and are not refused.
 */
import { setup } from 'xstate';
import { lookUp, tabulate } from './transition-table.ts';

export type SwitchEvent = 'ON' | 'OFF' | 'LAST_STRATEGY_REMOVED';

type SwitchState = 'disabled' | 'enabled';

export const environmentSwitchMachine = setup({
  types: {
    context: {} as { strategyCount: number },
    input: {} as { strategyCount: number },
    events: {} as { type: SwitchEvent },
  },
  guards: { hasStrategies: ({ context }) => context.strategyCount > 0 },
}).createMachine({
  id: 'environment-switch',
  context: ({ input }) => ({ strategyCount: input.strategyCount }),
  initial: 'disabled',
  states: {
    disabled: {
      on: {
        ON: { guard: 'hasStrategies', target: 'enabled' },
        OFF: { target: 'disabled' },
        LAST_STRATEGY_REMOVED: { target: 'disabled' },
      },
    },
    enabled: {
      on: {
        ON: { target: 'enabled' },
        OFF: { target: 'disabled' },
        LAST_STRATEGY_REMOVED: { target: 'disabled' },
      },
    },
  },
});

const TABLE = tabulate<SwitchState, SwitchEvent>(environmentSwitchMachine, (strategyCount) => ({
  strategyCount,
}));

export type SwitchOutcome = { readonly changed: boolean; readonly enabled: boolean } | 'refused';

/** `strategyCount` is that of the environment at the moment of the event. */
export function nextSwitch(enabled: boolean, event: SwitchEvent, strategyCount: number): SwitchOutcome {
  const outcome = lookUp(TABLE, enabled ? 'enabled' : 'disabled', event, strategyCount);
  return outcome === 'refused' ? outcome : { changed: outcome.changed, enabled: outcome.state === 'enabled' };
}
