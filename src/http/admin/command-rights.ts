/**
 * Rights that a command needs beyond those of its route, by kind of command: they depend on its body and on the
 * state. Checked in the turn of each command, with the rights that the caller has then.
 */
import type { Command } from '../../domain/decide/decide.ts';
import { type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../domain/state/world.ts';
import { type Caller, mayDo, rolesIn } from '../serving/access.ts';
import { refuseMove } from './flags/move.ts';
import { refuseImport } from './flags/transfer.ts';
import { refuseToken } from './users/api-tokens.ts';

// The roles in a project that a caller may give and take away (docs/specification/membership.md#rules).

type MemberCommand = Extract<
  Command,
  {
    readonly type:
      | 'add-member'
      | 'change-member'
      | 'remove-member'
      | 'set-project-access'
      | 'grant-project-access'
      | 'revoke-project-access';
  }
>;

/** Ids of roles by the id of their holder; undefined for a holder who has none afterwards. */
type Wanted = ReadonlyMap<number, number | undefined>;

/**
 * Why the caller may not give a role that is new to somebody, or take one away; null when they may. Whoever changes members by a
 * permission of a custom role handles no other roles than their own: they could make themselves the only Owner otherwise.
 */
function refuseForeignRoles(world: World, caller: Caller, command: MemberCommand): Refusal | null {
  const { project: projectId } = command;
  const project = world.projects.get(projectId);
  if (project === undefined) return null;
  if (mayDo(world, caller, { permission: 'project:write' }, { projectId, environment: null })) return null;
  const held = new Set([...caller.roles, ...rolesIn(world, caller, project)].map(({ id }) => id));
  const { members, groups } = wantedRoles(project, command);
  const changed = [...changedRoles(project.members, members), ...changedRoles(project.groups, groups)];
  const foreign = changed.find((roleId) => !held.has(roleId));
  if (foreign === undefined) return null;
  return refuse(
    'NoAccessError',
    `The user "${caller.actor.name}" may give and take no role in the project "${projectId}" but those that they hold there, and the role ${foreign} is none of them; ask an Admin or an Owner of the project for it.`,
  );
}

/** The roles that holders lose or get. */
function changedRoles(before: ReadonlyMap<number, number>, after: Wanted): readonly number[] {
  return [...after]
    .filter(([holder, roleId]) => before.get(holder) !== roleId)
    .flatMap(([holder, roleId]) => [before.get(holder), roleId])
    .filter((roleId) => roleId !== undefined);
}

/** The roles that the command's users and groups are to hold afterwards. */
function wantedRoles(project: ProjectState, command: MemberCommand): { members: Wanted; groups: Wanted } {
  const nobody: Wanted = new Map();
  switch (command.type) {
    case 'add-member':
    case 'change-member':
      return { members: new Map([[command.userId, command.roleId]]), groups: nobody };
    case 'remove-member':
      return { members: new Map([[command.userId, undefined]]), groups: nobody };
    case 'revoke-project-access': {
      const { from } = command;
      return 'userId' in from
        ? { members: new Map([[from.userId, undefined]]), groups: nobody }
        : { members: nobody, groups: new Map([[from.groupId, undefined]]) };
    }
    case 'grant-project-access':
    case 'set-project-access': {
      const members = new Map<number, number | undefined>();
      const groups = new Map<number, number | undefined>();
      if (command.type === 'set-project-access') {
        for (const userId of project.members.keys()) members.set(userId, undefined);
        for (const groupId of project.groups.keys()) groups.set(groupId, undefined);
      }
      for (const { userId, roleId } of command.members) members.set(userId, roleId);
      for (const { groupId, roleId } of command.groups) groups.set(groupId, roleId);
      return { members, groups };
    }
  }
}

type Rights = {
  readonly [Type in Command['type']]?: (
    world: World,
    caller: Caller,
    command: Extract<Command, { readonly type: Type }>,
  ) => Refusal | null;
};

const RIGHTS: Rights = {
  'move-flag': refuseMove,
  'import-flags': refuseImport,
  'add-member': refuseForeignRoles,
  'change-member': refuseForeignRoles,
  'remove-member': refuseForeignRoles,
  'set-project-access': refuseForeignRoles,
  'grant-project-access': refuseForeignRoles,
  'revoke-project-access': refuseForeignRoles,
  'create-api-token': refuseToken,
  'update-api-token': refuseToken,
  'delete-api-token': refuseToken,
};

export function refuseCommand(world: World, caller: Caller, command: Command): Refusal | null {
  const refusal = RIGHTS[command.type] as
    | ((world: World, caller: Caller, command: Command) => Refusal | null)
    | undefined;
  return refusal?.(world, caller, command) ?? null;
}
