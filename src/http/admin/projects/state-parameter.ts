/** The query parameter `state`, which narrows a list of flags to those that are active, potentially stale or stale. */
import { STALENESS, type Staleness } from '../../../domain/flags/lifetime.ts';
import { shown } from '../../../domain/json/issues.ts';
import { invalid, type Refusal } from '../../../domain/state/refusal.ts';
import type { QueryParameter, RequestContext } from '../../serving/route.ts';

export const STATE_PARAMETER: Readonly<Record<'state', QueryParameter>> = {
  state: {
    description:
      'Lists flags in this state only: stale, potentially-stale (not stale, and older than the lifetime of their type) or active (neither).',
    schema: { type: 'string', enum: STALENESS },
  },
};

/** Null: any state. The refusal is a 400. */
export function stateOf(context: Pick<RequestContext<unknown>, 'query'>): Staleness | null | Refusal {
  const text = context.query('state');
  if (text === '') return null;
  return (
    STALENESS.find((one) => one === text) ??
    invalid(
      `The query parameter state must be one of ${STALENESS.join(', ')}, not ${shown(text)}.`,
      '/query/state',
    )
  );
}
