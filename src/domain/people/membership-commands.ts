/**
 * Decisions that add, change and remove members of a project (docs/specification/membership.md#rules). A user holds
 * at most one role in a project, and a project keeps at least one Owner.
 */

import { knownRole, OWNER_ROLE_ID, type Role, roleById } from '../access/roles.ts';
import { type Decision, UNCHANGED } from '../decision/decision.ts';
import { inProject, type MembershipData } from '../state/events.ts';
import { locateProject, locateUser } from '../state/locate.ts';
import { isRefusal, notFound, type Refusal, refuse } from '../state/refusal.ts';
import type { ProjectState, User, World } from '../state/world.ts';

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
  if (isSoleOwner(project, user.id)) return NEEDS_OWNER;
  const data = membershipData(user, role);
  const preData = membershipData(user, knownRole(held));
  return [{ type: 'project-user-role-changed', ...inProject(project.settings.id), data, preData }];
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
  if (isSoleOwner(project, user.id)) return NEEDS_OWNER;
  const preData = membershipData(user, role);
  return [{ type: 'project-user-removed', ...inProject(project.settings.id), data: null, preData }];
}

export const NEEDS_OWNER = refuse('MembershipRuleError', 'A project must have at least one owner');

/** An unknown project, user or role is not found, and neither is a root role, which nobody can hold in a project. */
export function locateMembership(world: World, names: NamesMembership): LocatedMembership | Refusal {
  const project = locateProject(world, names.project);
  if (isRefusal(project)) return project;
  const user = locateUser(world, names.userId);
  if (isRefusal(user)) return user;
  const role = roleById(names.roleId);
  if (role === undefined) return notFound(`There is no role ${names.roleId}.`);
  if (role.type !== 'project') {
    return notFound(
      `The role ${role.id} (${role.name}) is a root role; in a project, 4 (Owner) and 5 (Member) exist.`,
    );
  }
  return { project, user, role, held: project.members.get(user.id) };
}

export function isSoleOwner(project: ProjectState, userId: number): boolean {
  if (project.members.get(userId) !== OWNER_ROLE_ID) return false;
  for (const [id, roleId] of project.members) if (id !== userId && roleId === OWNER_ROLE_ID) return false;
  return true;
}

export function membershipData(user: User, role: Role): MembershipData {
  return { userId: user.id, roleId: role.id, roleName: role.name, email: user.email };
}
