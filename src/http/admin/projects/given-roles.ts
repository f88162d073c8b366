/** Which roles in a project a caller may give (docs/specification/membership.md#rules). */
import { type Refusal, refuse } from '../../../domain/state/refusal.ts';
import type { World } from '../../../domain/state/world.ts';
import { type Caller, mayDo, rolesIn } from '../../dispatch/access.ts';

interface GivenRoles {
  readonly project: string;
  readonly members: readonly { readonly userId: number; readonly roleId: number }[];
  readonly groups: readonly { readonly groupId: number; readonly roleId: number }[];
}

/**
 * Why the caller may not give a role that is new to somebody; null when they may give all of them. Whoever changes members by a
 * permission of a custom role gives no other roles than their own: they could make themselves Owner otherwise.
 */
export function refuseForeignRoles(
  { world, caller }: { readonly world: World; readonly caller: Caller },
  { project: projectId, members, groups }: GivenRoles,
): Refusal | null {
  const project = world.projects.get(projectId);
  if (project === undefined) return null;
  if (mayDo(world, caller, { permission: 'project:write' }, { projectId, environment: null })) return null;
  const held = new Set([...caller.roles, ...rolesIn(world, caller, project)].map(({ id }) => id));
  const given = [
    ...members.filter(({ userId, roleId }) => project.members.get(userId) !== roleId),
    ...groups.filter(({ groupId, roleId }) => project.groups.get(groupId) !== roleId),
  ];
  const foreign = given.find(({ roleId }) => !held.has(roleId));
  if (foreign === undefined) return null;
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" may give no role in the project "${projectId}" but those that they hold there, and the role ${foreign.roleId} is none of them; ask an Admin or an Owner of the project for it.`,
  );
}
