/** Requests of add-ons to change flags, which are shown with those flags until they are carried out or closed. */
import { notFound, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** A strategy that a request adds or changes. */
export interface PendingStrategy {
  /** Absent for one that is not there yet. */
  readonly id?: string;
  readonly projectId: string;
  readonly featureName: string;
  readonly environment: string;
  readonly strategyName: string;
  readonly changeRequest: { readonly id: number; readonly title: string };
}

export interface PendingRequests {
  /** Id of the newest event about any of them; 0 before the first. */
  revision(world: World): number;
  /** Ids of the requests to change a flag in an environment. */
  ofFlag(world: World, project: string, flag: string, environment: string): readonly number[];
  /** Strategies with which each request would use a segment: an empty list for most, since there may be many requests. */
  ofSegment(world: World, id: number): Iterable<readonly PendingStrategy[]>;
  /** The state as it would be after an open request that is in the part `seen` of it; refused where the request could not be applied. */
  applied(states: { readonly seen: World; readonly whole: World }, id: string, at: Moment): Applied | Refusal;
}

/** The time, and the id of the newest event. */
export interface Moment {
  readonly nowMs: number;
  readonly lastId: number;
}

export interface Applied {
  readonly world: World;
  readonly project: string;
  readonly environment: string;
}

const NO_REQUESTS: PendingRequests = {
  revision: () => 0,
  ofFlag: () => [],
  ofSegment: () => [],
  applied: (_, id) => notFound(`There is no change request "${id}".`),
};

/** The requests of this server, in the same way from its start to its end. Each read of a flag asks them, so nothing stands in between. */
export let pendingRequests = NO_REQUESTS;

export function registerPendingRequests(pending: PendingRequests = NO_REQUESTS): void {
  pendingRequests = pending;
}
