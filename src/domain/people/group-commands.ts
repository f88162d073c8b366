/** Rules of groups beyond those of their row (docs/specification/membership.md#groups). */
import { relatedEvents } from '../growth/refuse-size.ts';
import { type Group, withoutUser } from '../kinds/group.ts';
import { type DomainEvent, recordChange } from '../state/events.ts';
import { invalid, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { projectsLeft } from './membership-commands.ts';
import { refuseRootRole } from './role-commands.ts';
import { groupsOf } from './roles-and-groups.ts';

/** Deleting a group takes its roles in projects away. It is refused for the only Owner of a project. */
export const endsWithGroup = (world: World, { id }: Group): readonly DomainEvent[] | Refusal =>
  projectsLeft(world, { kind: 'group', id });

/** The events by which a user leaves all groups. */
export function groupsLeft(world: World, userId: number): DomainEvent[] {
  return relatedEvents(groupsOf(world.directory, userId), (group) =>
    recordChange('groups', group, withoutUser(group, userId)),
  );
}

export function refuseGroup(world: World, { rootRole, users }: Group): Refusal | null {
  const unknown = users.find((id) => !world.directory.users.has(id));
  if (unknown !== undefined) return invalid(`There is no user ${unknown}.`, '/body/users');
  return rootRole === null ? null : refuseRootRole(world, rootRole);
}
