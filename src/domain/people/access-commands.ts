/** The decision that replaces all members of a project at once. */

import { knownRole, OWNER_ROLE_ID } from '../access/roles.ts';
import type { Decision } from '../decision/decision.ts';
import { type DomainEvent, inProject } from '../state/events.ts';
import { locateProject } from '../state/locate.ts';
import { isRefusal, type Refusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import { locateMembership, membershipData, NEEDS_OWNER } from './membership-commands.ts';

export interface Member {
  readonly userId: number;
  readonly roleId: number;
  /** JSON pointer of where the request names the member, for refusals. */
  readonly path?: string;
}

export interface SetProjectAccess {
  readonly type: 'set-project-access';
  readonly project: string;
  /** Holds each user at most once. */
  readonly members: readonly Member[];
}

/** Records one event for each membership that is added, changed or removed. At least one member must be an Owner. */
export function setProjectAccess(world: World, command: SetProjectAccess): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const unknown = refuseUnknown(world, command);
  if (unknown !== null) return unknown;
  if (command.members.every(({ roleId }) => roleId !== OWNER_ROLE_ID)) return NEEDS_OWNER;
  const staying = new Set(command.members.map(({ userId }) => userId));
  const leaving = [...project.members.keys()].filter((userId) => !staying.has(userId));
  return [
    ...command.members.flatMap((member) => memberSet(world, project, member)),
    ...leaving.map((userId) => memberRemoved(world, project, userId)),
  ];
}

function refuseUnknown(world: World, { project, members }: SetProjectAccess): Refusal | null {
  for (const member of members) {
    const { userId, roleId } = member;
    const located = locateMembership(world, { project, userId, roleId });
    if (!located.refused) continue;
    const detail = { message: located.message };
    return { ...located, details: [member.path === undefined ? detail : { ...detail, path: member.path }] };
  }
  return null;
}

function memberSet(world: World, project: ProjectState, { userId, roleId }: Member): DomainEvent[] {
  const held = project.members.get(userId);
  if (held === roleId) return [];
  const user = knownUser(world, userId);
  const about = inProject(project.settings.id);
  const data = membershipData(user, knownRole(roleId));
  if (held === undefined) return [{ type: 'project-user-added', ...about, data, preData: null }];
  const preData = membershipData(user, knownRole(held));
  return [{ type: 'project-user-role-changed', ...about, data, preData }];
}

/** The event that removes a membership. The caller knows that it exists. */
export function memberRemoved(world: World, project: ProjectState, userId: number): DomainEvent {
  const roleId = project.members.get(userId);
  if (roleId === undefined) throw new Error(`the user ${userId} is no member of ${project.settings.id}`);
  const preData = membershipData(knownUser(world, userId), knownRole(roleId));
  return { type: 'project-user-removed', ...inProject(project.settings.id), data: null, preData };
}

function knownUser(world: World, userId: number) {
  const user = world.directory.users.get(userId);
  if (user === undefined) throw new Error(`the state names user ${userId}, who does not exist`);
  return user;
}
