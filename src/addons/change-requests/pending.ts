/** The requests that wait to change a flag: those that were sent to review and are not closed. */
import type { PendingRequests } from '../../domain/state/pending-requests.ts';
import { CLOSED, requestsOf, type StoredRequest } from './kind.ts';
import { featuresOf } from './views.ts';

type Ids = ReadonlyMap<string, readonly number[]>;

const known = new WeakMap<readonly StoredRequest[], Ids>();

const keyOf = (flag: string, environment: string): string => `${environment}/${flag}`;

function idsOf(requests: readonly StoredRequest[]): Ids {
  const ids = new Map<string, number[]>();
  for (const request of requests) {
    if (request.state === 'Draft' || CLOSED.includes(request.state)) continue;
    for (const flag of featuresOf(request)) {
      const key = keyOf(flag, request.environment);
      const list = ids.get(key);
      if (list === undefined) ids.set(key, [request.id]);
      else list.push(request.id);
    }
  }
  return ids;
}

export const pendingChangeRequests: PendingRequests = (world, project, flag, environment) => {
  const requests = requestsOf(world, project);
  let ids = known.get(requests);
  if (ids === undefined) {
    ids = idsOf(requests);
    known.set(requests, ids);
  }
  return ids.get(keyOf(flag, environment)) ?? [];
};
