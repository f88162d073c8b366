/**
 * The switch of a flag in one environment (docs/specification/switches.md). This machine is its only definition:
 * - it can be enabled only when there is a strategy, since an enabled environment without strategies serves everybody;
 * - for the same reason it is disabled together with the last enabled strategy, when that is removed or disabled;
 * - enabling what is enabled and disabling what is disabled changes nothing and is not refused.
 */
import { setup } from 'xstate';
import { lookUp, tabulate } from './transition-table.ts';

export type SwitchEvent = 'ON' | 'OFF' | 'LAST_ENABLED_STRATEGY_GONE';

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
        LAST_ENABLED_STRATEGY_GONE: { target: 'disabled' },
      },
    },
    enabled: {
      on: {
        ON: { target: 'enabled' },
        OFF: { target: 'disabled' },
        LAST_ENABLED_STRATEGY_GONE: { target: 'disabled' },
      },
    },
  },
});

const TABLE = tabulate<SwitchState, SwitchEvent>(environmentSwitchMachine, (strategyCount) => ({
  strategyCount,
}));

export type SwitchOutcome = { readonly changed: boolean; readonly enabled: boolean } | 'refused';

/** `strategyCount` is the number of strategies in the environment at the moment of the event. */
export function nextSwitch(enabled: boolean, event: SwitchEvent, strategyCount: number): SwitchOutcome {
  const outcome = lookUp(TABLE, enabled ? 'enabled' : 'disabled', event, strategyCount);
  return outcome === 'refused' ? outcome : { changed: outcome.changed, enabled: outcome.state === 'enabled' };
}
