/**
 * The part of the state that `If-Match` pins on a write to something other than a flag: the part that the write changes, as the
 * ETag of its read names it.
 */
import { isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../../domain/state/world.ts';
import type { Params } from '../../serving/params.ts';
import * as locate from './locators.ts';

export const { environment } = locate;

export function project(world: World, params: Params): object | Refusal {
  const located = locate.project(world, params);
  return isRefusal(located) ? located : located.settings;
}

/** The members and groups of the project, all together. */
export function access(world: World, params: Params): object | Refusal {
  const located = locate.project(world, params);
  return isRefusal(located) ? located : accessOf(located);
}

export const accessOf = ({ members, groups }: ProjectState) => ({
  members: [...members],
  groups: [...groups],
});
