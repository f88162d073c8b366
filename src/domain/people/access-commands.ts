/** Decisions on several of those who belong to a project at once: users and groups. */
import { OWNER_ROLE_ID } from '../access/roles.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import type { DomainEvent } from '../state/events.ts';
import { locateProject } from '../state/locate.ts';
import { isRefusal, type Refusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import {
  groupRemoved,
  groupSet,
  locateGroupMembership,
  locateMembership,
  memberRemoved,
  memberSet,
  NEEDS_OWNER,
} from './membership-commands.ts';

export interface Member {
  readonly userId: number;
  readonly roleId: number;
  /** JSON pointer of where the request names the member, for refusals. */
  readonly path?: string;
}

export interface MemberGroup {
  readonly groupId: number;
  readonly roleId: number;
  readonly path?: string;
}

/** Roles for users and groups. Holds each user and each group at most once. */
interface Granted {
  readonly project: string;
  readonly members: readonly Member[];
  readonly groups: readonly MemberGroup[];
}

export interface SetProjectAccess extends Granted {
  readonly type: 'set-project-access';
}

/** Records one event for each user and group that is added, changed or removed. At least one must be an Owner. */
export function setProjectAccess(world: World, command: SetProjectAccess): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const { members, groups } = command;
  const unknown = refuseUnknown(world, command);
  if (unknown !== null) return unknown;
  if ([...members, ...groups].every(({ roleId }) => roleId !== OWNER_ROLE_ID)) return NEEDS_OWNER;
  const staying = new Set(members.map(({ userId }) => userId));
  const stayingGroups = new Set(groups.map(({ groupId }) => groupId));
  return [
    ...granted(world, project, command),
    ...[...project.members.keys()]
      .filter((userId) => !staying.has(userId))
      .map((userId) => memberRemoved(world, project, userId)),
    ...[...project.groups.keys()]
      .filter((groupId) => !stayingGroups.has(groupId))
      .map((groupId) => groupRemoved(world, project, groupId)),
  ];
}

export interface GrantProjectAccess extends Granted {
  readonly type: 'grant-project-access';
}

/** Gives roles as `set-project-access` does, but that the others keep theirs. */
export function grantProjectAccess(world: World, command: GrantProjectAccess): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const unknown = refuseUnknown(world, command);
  if (unknown !== null) return unknown;
  const roles = new Map([...project.members].map(([id, role]): [string, number] => [`user ${id}`, role]));
  for (const [id, role] of project.groups) roles.set(`group ${id}`, role);
  for (const { userId, roleId } of command.members) roles.set(`user ${userId}`, roleId);
  for (const { groupId, roleId } of command.groups) roles.set(`group ${groupId}`, roleId);
  return refuseOwnerless(project, [...roles.values()]) ?? granted(world, project, command);
}

export interface RevokeProjectAccess {
  readonly type: 'revoke-project-access';
  readonly project: string;
  readonly from: { readonly userId: number } | { readonly groupId: number };
}

/** Nothing happens where no role is held. */
export function revokeProjectAccess(world: World, { project: id, from }: RevokeProjectAccess): Decision {
  const project = locateProject(world, id);
  if (isRefusal(project)) return project;
  const isMember = 'userId' in from ? project.members.has(from.userId) : project.groups.has(from.groupId);
  if (!isMember) return UNCHANGED;
  const left = [
    ...[...project.members].filter(([userId]) => !('userId' in from && userId === from.userId)),
    ...[...project.groups].filter(([groupId]) => !('groupId' in from && groupId === from.groupId)),
  ].map(([, roleId]) => roleId);
  const refusal = refuseOwnerless(project, left);
  if (refusal !== null) return refusal;
  return [
    'userId' in from
      ? memberRemoved(world, project, from.userId)
      : groupRemoved(world, project, from.groupId),
  ];
}

/** A project that has an Owner must keep one. */
function refuseOwnerless({ members, groups }: ProjectState, left: readonly number[]): Refusal | null {
  const hasOwner = [...members.values(), ...groups.values()].includes(OWNER_ROLE_ID);
  return hasOwner && !left.includes(OWNER_ROLE_ID) ? NEEDS_OWNER : null;
}

function granted(world: World, project: ProjectState, { members, groups }: Granted): DomainEvent[] {
  return [
    ...members.flatMap((member) => memberSet(world, project, member)),
    ...groups.flatMap((group) => groupSet(world, project, group)),
  ];
}

function refuseUnknown(world: World, { project, members, groups }: Granted): Refusal | null {
  for (const { userId, roleId, path } of members) {
    const located = locateMembership(world, { project, userId, roleId });
    if (located.refused) return at(located, path);
  }
  for (const { groupId, roleId, path } of groups) {
    const located = locateGroupMembership(world, { project, groupId, roleId });
    if (isRefusal(located)) return at(located, path);
  }
  return null;
}

function at(refusal: Refusal, path: string | undefined): Refusal {
  const detail = { message: refusal.message };
  return { ...refusal, details: [path === undefined ? detail : { ...detail, path }] };
}
