/** Rights of users by their ids: those that they have now, whoever asks, and by whichever token. */
import { type PermissionName, permissionByName } from '../../domain/access/permissions.ts';
import { peopleOf } from '../../domain/state/locate.ts';
import type { User, World } from '../../domain/state/world.ts';
import { callerOfUser, mayDo } from '../../http/serving/access.ts';
import { worldSeenBy } from '../../http/serving/visible-world.ts';
import type { Place } from './protection.ts';

/** Whether the user has the permission there. A user who is gone, a token or the server itself has none. */
export function userMay(
  world: World,
  userId: number,
  permission: PermissionName,
  { project, environment }: { readonly project: string; readonly environment: string | null },
): boolean {
  const user = world.directory.users.get(userId);
  if (user === undefined) return false;
  const caller = callerOfUser(world, user, Number.POSITIVE_INFINITY);
  if (!worldSeenBy(world, caller).projects.has(project)) return false;
  const right = permissionByName(permission)!.within;
  return mayDo(
    world,
    caller,
    { permission: right, needs: [permission] },
    { projectId: project, environment },
  );
}

/** People who may approve requests there. Service accounts are no people: somebody else holds their tokens. */
export const reviewersOf = (world: World, place: Place): readonly User[] =>
  peopleOf(world.directory).filter(({ id }) => userMay(world, id, 'APPROVE_CHANGE_REQUEST', place));

/** By state: lists ask about the same few people for each of their requests. */
const reviews = new WeakMap<World, Map<string, boolean>>();

export function mayReview(world: World, userId: number, { project, environment }: Place): boolean {
  const user = world.directory.users.get(userId);
  if (user === undefined || user.isService === true) return false;
  let known = reviews.get(world);
  if (known === undefined) {
    known = new Map();
    reviews.set(world, known);
  }
  const key = `${userId} ${project} ${environment}`;
  let may = known.get(key);
  if (may === undefined) {
    may = userMay(world, userId, 'APPROVE_CHANGE_REQUEST', { project, environment });
    known.set(key, may);
  }
  return may;
}
