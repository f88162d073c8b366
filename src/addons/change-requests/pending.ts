/** The requests that wait to change a flag: those that were sent to review and are not closed. */
import type { StrategyInput } from '../../domain/flags/strategy.ts';
import type { PendingRequests, PendingStrategy } from '../../domain/state/pending-requests.ts';
import { CLOSED, requestsOf, type StoredRequest } from './kind.ts';
import { featuresOf } from './views.ts';

type Ids = ReadonlyMap<string, readonly number[]>;

const known = new WeakMap<readonly StoredRequest[], Ids>();

const keyOf = (flag: string, environment: string): string => `${environment}/${flag}`;

const isPending = ({ state }: StoredRequest): boolean => state !== 'Draft' && !CLOSED.includes(state);

function idsOf(requests: readonly StoredRequest[]): Ids {
  const ids = new Map<string, number[]>();
  for (const request of requests) {
    if (!isPending(request)) continue;
    for (const flag of featuresOf(request)) {
      const key = keyOf(flag, request.environment);
      const list = ids.get(key);
      if (list === undefined) ids.set(key, [request.id]);
      else list.push(request.id);
    }
  }
  return ids;
}

/** The strategies that the request leaves, where they use the segment. */
function usesIn(request: StoredRequest, segment: number): readonly PendingStrategy[] {
  const { id: requestId, title, project, environment } = request;
  return request.changes.flatMap(({ feature, action, payload, defaultStrategy }) => {
    const isStrategy = action === 'addStrategy' || action === 'updateStrategy';
    const sent = (isStrategy ? payload : defaultStrategy) as (StrategyInput & { id?: string }) | undefined;
    if (feature === null || sent?.segments?.includes(segment) !== true) return [];
    const { id, name } = sent;
    return {
      ...(id === undefined ? {} : { id }),
      ...{ projectId: project, featureName: feature, environment, strategyName: name },
      changeRequest: { id: requestId, title },
    };
  });
}

export const pendingChangeRequests: PendingRequests = {
  ofFlag(world, project, flag, environment) {
    const requests = requestsOf(world, project);
    let ids = known.get(requests);
    if (ids === undefined) {
      ids = idsOf(requests);
      known.set(requests, ids);
    }
    return ids.get(keyOf(flag, environment)) ?? [];
  },
  *ofSegment(world, id) {
    for (const project of world.projects.keys())
      for (const request of requestsOf(world, project)) yield isPending(request) ? usesIn(request, id) : [];
  },
};
