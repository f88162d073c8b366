/** The requests that wait to change a flag: those that were sent to review and are not closed. */
import type { StrategyInput } from '../../domain/flags/strategy.ts';
import { findAddonRecord } from '../../domain/state/addon-records.ts';
import type { PendingRequests, PendingStrategy } from '../../domain/state/pending-requests.ts';
import { invalidOperation, isRefusal, notFound } from '../../domain/state/refusal.ts';
import { numericId } from '../../http/admin/locators.ts';
import { worldAfter } from './apply-request.ts';
import { CLOSED, isOrphan, REQUEST, requestsIn, type StoredRequest } from './kind.ts';
import { findRequests, flagKey } from './request-index.ts';

const isPending = ({ state }: StoredRequest): boolean => state !== 'Draft' && !CLOSED.includes(state);

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
  revision: ({ addonRecords }) => addonRecords.get(REQUEST.name)?.revision ?? 0,
  ofFlag: (world, project, flag, environment) =>
    findRequests(world, flagKey(project, flag)).flatMap((request) =>
      request.environment === environment && isPending(request) ? request.id : [],
    ),
  *ofSegment(world, id) {
    for (const request of requestsIn(world)) yield isPending(request) ? usesIn(request, id) : [];
  },
  applied({ seen, whole }, id, at) {
    const request = findAddonRecord(seen, REQUEST, numericId(id))?.data;
    if (request === undefined || isOrphan(seen, request))
      return notFound(`There is no change request "${id}".`);
    if (CLOSED.includes(request.state))
      return invalidOperation(`The change request ${id} is ${request.state.toLowerCase()}.`);
    const world = worldAfter(whole, request, at);
    return isRefusal(world) ? world : { world, project: request.project, environment: request.environment };
  },
};
