/**
 * What `If-Match` pins on writes to other things than flags: the part of the state that the write changes, as the read of it names it
 * in its ETag.
 */
import { isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../../domain/state/world.ts';
import type { Params } from '../../serving/params.ts';
import * as locate from './locators.ts';

export const { contextField, environment, segment } = locate;

export function project(world: World, params: Params): object | Refusal {
  const located = locate.project(world, params);
  return isRefusal(located) ? located : located.settings;
}

/** Who belongs to the project, all together. */
export function access(world: World, params: Params): object | Refusal {
  const located = locate.project(world, params);
  return isRefusal(located) ? located : accessOf(located);
}

export const accessOf = ({ members, groups }: ProjectState) => ({
  members: [...members],
  groups: [...groups],
});
