/** Approvals of a request that count now, and the state that they put it in. */
import type { World } from '../../domain/state/world.ts';
import type { State, StoredRequest } from './kind.ts';
import { requiredApprovals } from './protection.ts';
import { mayReview } from './rights.ts';

/** Approvals of the present version by people who wrote nothing of it and may approve it now. Each person has at most one. */
export const countingApprovals = (world: World, request: StoredRequest): StoredRequest['approvals'] =>
  request.approvals.filter(
    ({ userId, version }) =>
      version === request.version && !request.authors.includes(userId) && mayReview(world, userId, request),
  );

export function stateOf(world: World, request: StoredRequest): State {
  if (request.state !== 'In review') return request.state;
  const isApproved = countingApprovals(world, request).length >= requiredApprovals(world, request);
  return isApproved ? 'Approved' : 'In review';
}
