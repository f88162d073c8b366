/**
 * Decisions on who belongs to a project (docs/specification/membership.md#rules). A user, and a group, hold at most one
 * role of their own in a project, and a project keeps at least one Owner.
 */
import { OWNER_ROLE_ID, type Role } from '../access/roles.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { type DomainEvent, type GroupAccessData, inProject, type MembershipData } from '../state/events.ts';
import { locateProject, locateUser } from '../state/locate.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../state/refusal.ts';
import type { ProjectState, User, World } from '../state/world.ts';
import { locateProjectRole } from './role-commands.ts';
import { knownRole, locateGroup } from './roles-and-groups.ts';

interface NamesMembership {
  readonly project: string;
  readonly userId: number;
  readonly roleId: number;
}

export interface LocatedMembership {
  readonly refused?: never;
  readonly project: ProjectState;
  readonly user: User;
  readonly role: Role;
  /** The role that the user holds now; undefined when the user is not a member. */
  readonly held: number | undefined;
}

export interface AddMember extends NamesMembership {
  readonly type: 'add-member';
}

export function addMember(world: World, command: AddMember): Decision {
  const located = locateMembership(world, command);
  if (located.refused) return located;
  const { project, user, role, held } = located;
  if (held !== undefined) {
    return refuse('MembershipRuleError', `User already has access to project=${project.settings.id}`);
  }
  const data = membershipData(user, role);
  return [{ type: 'project-user-added', ...inProject(project.settings.id), data, preData: null }];
}

export interface ChangeMember extends NamesMembership {
  readonly type: 'change-member';
}

/**
 * Nothing happens for a user who is not a member or holds the role already (docs/specification/membership.md#rules).
 */
export function changeMember(world: World, command: ChangeMember): Decision {
  const located = locateMembership(world, command);
  if (located.refused) return located;
  const { project, user, role, held } = located;
  if (held === undefined || held === role.id) return UNCHANGED;
  if (isSoleOwner(project, { userId: user.id })) return NEEDS_OWNER;
  return memberSet(world, project, { userId: user.id, roleId: role.id });
}

export interface RemoveMember extends NamesMembership {
  readonly type: 'remove-member';
}

export function removeMember(world: World, command: RemoveMember): Decision {
  const located = locateMembership(world, command);
  if (located.refused) return located;
  const { project, user, role, held } = located;
  if (held !== role.id) {
    return notFound(`The user ${user.id} does not hold the role ${role.name} in "${project.settings.id}".`);
  }
  if (isSoleOwner(project, { userId: user.id })) return NEEDS_OWNER;
  return [memberRemoved(world, project, user.id)];
}

export const NEEDS_OWNER = refuse('MembershipRuleError', 'A project must have at least one owner');

/** An unknown project, user or role is not found, and neither is a root role, which nobody can hold in a project. */
export function locateMembership(world: World, names: NamesMembership): LocatedMembership | Refusal {
  const project = locateProject(world, names.project);
  if (isRefusal(project)) return project;
  const user = locateUser(world, names.userId);
  if (isRefusal(user)) return user;
  const role = locateProjectRole(world, names.roleId);
  if (isRefusal(role)) return role;
  return { project, user, role, held: project.members.get(user.id) };
}

interface NamesGroupMembership {
  readonly project: string;
  readonly groupId: number;
  readonly roleId: number;
}

/** Unknown things are not found here either. */
export function locateGroupMembership(
  world: World,
  { project: id, groupId, roleId }: NamesGroupMembership,
): ProjectState | Refusal {
  const project = locateProject(world, id);
  if (isRefusal(project)) return project;
  const group = locateGroup(world, groupId);
  if (isRefusal(group)) return group;
  const role = locateProjectRole(world, roleId);
  return isRefusal(role) ? role : project;
}

/** Whether the user or the group is the only Owner that the project has. */
export function isSoleOwner(
  { members, groups }: ProjectState,
  { userId, groupId }: { readonly userId?: number; readonly groupId?: number },
): boolean {
  let owns = false;
  for (const [id, roleId] of members) {
    if (roleId !== OWNER_ROLE_ID) continue;
    if (id !== userId) return false;
    owns = true;
  }
  for (const [id, roleId] of groups) {
    if (roleId !== OWNER_ROLE_ID) continue;
    if (id !== groupId) return false;
    owns = true;
  }
  return owns;
}

export function membershipData(user: User, role: Role): MembershipData {
  return { userId: user.id, roleId: role.id, roleName: role.name, email: user.email };
}

/** The event by which a user holds the role; none when that is so already. */
export function memberSet(
  world: World,
  project: ProjectState,
  { userId, roleId }: { readonly userId: number; readonly roleId: number },
): DomainEvent[] {
  const held = project.members.get(userId);
  if (held === roleId) return [];
  const user = knownUser(world, userId);
  const about = inProject(project.settings.id);
  const data = membershipData(user, knownRole(world, roleId));
  if (held === undefined) return [{ type: 'project-user-added', ...about, data, preData: null }];
  const preData = membershipData(user, knownRole(world, held));
  return [{ type: 'project-user-role-changed', ...about, data, preData }];
}

/** The event that removes a membership. The caller knows that it exists. */
export function memberRemoved(world: World, project: ProjectState, userId: number): DomainEvent {
  const roleId = project.members.get(userId);
  if (roleId === undefined) throw new Error(`the user ${userId} is no member of ${project.settings.id}`);
  const preData = membershipData(knownUser(world, userId), knownRole(world, roleId));
  return { type: 'project-user-removed', ...inProject(project.settings.id), data: null, preData };
}

/** The same for a group. */
export function groupSet(
  world: World,
  project: ProjectState,
  { groupId, roleId }: { readonly groupId: number; readonly roleId: number },
): DomainEvent[] {
  const held = project.groups.get(groupId);
  if (held === roleId) return [];
  const about = inProject(project.settings.id);
  const data = groupAccessData(world, groupId, roleId);
  if (held === undefined) return [{ type: 'project-group-added', ...about, data, preData: null }];
  const preData = groupAccessData(world, groupId, held);
  return [{ type: 'project-group-role-changed', ...about, data, preData }];
}

export function groupRemoved(world: World, project: ProjectState, groupId: number): DomainEvent {
  const roleId = project.groups.get(groupId);
  if (roleId === undefined) throw new Error(`the group ${groupId} has no role in ${project.settings.id}`);
  const preData = groupAccessData(world, groupId, roleId);
  return { type: 'project-group-removed', ...inProject(project.settings.id), data: null, preData };
}

function groupAccessData(world: World, groupId: number, roleId: number): GroupAccessData {
  const group = world.directory.groups.get(groupId);
  if (group === undefined) throw new Error(`the state names group ${groupId}, which does not exist`);
  return { groupId, groupName: group.name, roleId, roleName: knownRole(world, roleId).name };
}

function knownUser(world: World, userId: number): User {
  const user = world.directory.users.get(userId);
  if (user === undefined) throw new Error(`the state names user ${userId}, who does not exist`);
  return user;
}
