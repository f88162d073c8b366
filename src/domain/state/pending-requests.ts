/** Requests of add-ons to change flags, which are shown with those flags until they are carried out or closed. */
import type { World } from './world.ts';

/** Ids of the requests to change a flag in an environment. */
export type PendingRequests = (
  world: World,
  project: string,
  flag: string,
  environment: string,
) => readonly number[];

/** The finders of this server, which are the same from its start to its end. */
let registered: readonly PendingRequests[] = [];

export function registerPendingRequests(pending: readonly PendingRequests[]): void {
  registered = pending;
}

export const pendingRequests: PendingRequests = (...about) => registered.flatMap((find) => find(...about));
