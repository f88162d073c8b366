/** What the paths of the routes name, and how it is found. */

import { locateMembership } from '../../domain/decide/membership-commands.ts';
import {
  locateFlag,
  locateFlagEnvironment,
  locateProject,
  locateStrategy,
  locateUser,
} from '../../domain/locate.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/refusal.ts';
import type { World } from '../../domain/world.ts';
import type { Params } from '../route.ts';

export const project = (world: World, { projectId }: Params) => locateProject(world, projectId);

export const flag = (world: World, { projectId, featureName }: Params) =>
  locateFlag(world, projectId, featureName);

export const childFlag = (world: World, { projectId, child }: Params) => locateFlag(world, projectId, child);

export const flagEnvironment = (world: World, { projectId, featureName, environment }: Params) =>
  locateFlagEnvironment(world, projectId, featureName, environment);

export const strategy = (world: World, { projectId, featureName, environment, strategyId }: Params) =>
  locateStrategy(world, projectId, featureName, environment, strategyId);

export const membership = (world: World, params: Params) => locateMembership(world, membershipIds(params));

export function membershipIds({ projectId, userId, roleId }: Params) {
  return { project: projectId, userId: numericId(userId), roleId: numericId(roleId) };
}

/** A user by the id in the path; one that is no number names nobody. */
export function user(world: World, { id }: Params) {
  const located = locateUser(world, numericId(id));
  return isRefusal(located) ? notFound(`There is no user "${id}".`) : located;
}

/** At most nine digits without a sign: anything else is an id that nothing has, -1. */
export function numericId(text: string): number {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
}

/** What was located a moment ago, in the same synchronous step, is still there. */
export function present<T extends object>(located: T | Refusal): T {
  if (isRefusal(located)) throw new Error(`what the path names is gone: ${located.message}`);
  return located;
}
