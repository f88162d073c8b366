/** Changes that can be tried: the events that they would record are listed, and none is. */
import type { DomainEvent } from '../../../domain/state/events.ts';
import { invalid, type Refusal } from '../../../domain/state/refusal.ts';
import type { QueryParameter, RequestContext } from '../../serving/route.ts';

export const DRY_RUN_PARAMETER: QueryParameter = {
  description: 'Whether to only list the events that would be recorded.',
  schema: { type: 'boolean', default: false },
};

export function dryRunIn(context: Pick<RequestContext<unknown>, 'query'>): boolean | Refusal {
  const dryRun = context.query('dryRun');
  if (dryRun === '' || dryRun === 'true' || dryRun === 'false') return dryRun === 'true';
  return invalid(`The parameter dryRun must be true or false, not "${dryRun}".`, '/query/dryRun');
}

/** An event, recorded or not: what no client knows of it before it is recorded is left out. */
export function plannedEventView({ type, environment, data, preData }: DomainEvent) {
  return { type, environment, data, preData };
}
