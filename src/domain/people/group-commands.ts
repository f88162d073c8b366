/** Decisions on groups of users (docs/specification/membership.md#groups). */
import { refuseLargerThan, relatedEvents } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import { GROUP_BYTES_MAX, GROUP_USERS_MAX, GROUPS_MAX, type Group, withoutUser } from '../kinds/group.ts';
import { withFields } from '../kinds/kind.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../state/events.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { projectsLeft } from './membership-commands.ts';
import { refuseRootRole } from './role-commands.ts';
import { groupsOf, locateGroup } from './roles-and-groups.ts';

interface GroupFields {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly rootRole?: number | null | undefined;
  readonly mappingsSSO?: readonly string[] | undefined;
  /** Ids. */
  readonly users?: readonly number[] | undefined;
}

interface CreateGroup {
  readonly fields: GroupFields;
}

export function createGroup(world: World, { fields }: CreateGroup, context: DecideContext): Decision {
  const { groups, lastGroupId } = world.directory;
  if (groups.size >= GROUPS_MAX) {
    return invalidOperation(`There are ${GROUPS_MAX} groups, and there cannot be more.`);
  }
  const data: Group = {
    id: lastGroupId + 1,
    name: fields.name,
    description: fields.description ?? null,
    rootRole: fields.rootRole ?? null,
    mappingsSSO: fields.mappingsSSO ?? [],
    users: usersOf(fields),
    createdAt: context.now,
    createdBy: context.actor.name,
  };
  return refuseGroup(world, data) ?? [{ type: 'group-created', ...ABOUT_NOTHING, data, preData: null }];
}

interface UpdateGroup {
  readonly id: number;
  /** A field that is absent keeps its value. */
  readonly fields: GroupFields;
}

export function updateGroup(world: World, { id, fields }: UpdateGroup): Decision {
  const preData = locateGroup(world, id);
  if (isRefusal(preData)) return preData;
  const users = fields.users === undefined ? preData.users : usersOf(fields);
  const data = { ...withFields(preData, fields), users };
  if (jsonEqual(data, preData)) return UNCHANGED;
  return refuseGroup(world, data) ?? [{ type: 'group-updated', ...ABOUT_NOTHING, data, preData }];
}

/** Deleting a group takes its roles in projects away. It is refused for the only Owner of a project. */
export function deleteGroup(world: World, { id }: { readonly id: number }): Decision {
  const preData = locateGroup(world, id);
  if (isRefusal(preData)) return preData;
  const left = projectsLeft(world, { kind: 'group', id });
  return isRefusal(left) ? left : [...left, { type: 'group-deleted', ...ABOUT_NOTHING, data: null, preData }];
}

/** The events by which a user leaves all groups. */
export function groupsLeft(world: World, userId: number): DomainEvent[] {
  return relatedEvents(groupsOf(world.directory, userId), (preData) => ({
    type: 'group-updated',
    ...ABOUT_NOTHING,
    data: withoutUser(preData, userId),
    preData,
  }));
}

const usersOf = ({ users = [] }: GroupFields): readonly number[] => [...new Set(users)].sort((a, b) => a - b);

function refuseGroup(world: World, group: Group): Refusal | null {
  const { name, rootRole, users } = group;
  const { directory } = world;
  for (const other of directory.groups.values()) {
    if (other.id !== group.id && other.name.toLowerCase() === name.toLowerCase())
      return nameExists(`A group named "${name}" exists already.`);
  }
  const unknown = users.find((id) => !directory.users.has(id));
  if (unknown !== undefined) return invalid(`There is no user ${unknown}.`, '/body/users');
  if (users.length > GROUP_USERS_MAX) {
    return invalid(`A group has at most ${GROUP_USERS_MAX} users, not ${users.length}.`, '/body/users');
  }
  return (
    (rootRole === null ? null : refuseRootRole(world, rootRole)) ??
    refuseLargerThan(GROUP_BYTES_MAX, `The group "${name}"`, group)
  );
}
