/** Decisions on several of those who belong to a project at once: users and groups. */
import { OWNER_ROLE_ID } from '../access/roles.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { locateProject, locateUser } from '../state/locate.ts';
import { isRefusal, type Refusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import {
  type Holder,
  type Holding,
  holdingsOf,
  NEEDS_OWNER,
  roleSet,
  rolesOf,
  roleTaken,
} from './membership-commands.ts';
import { locateProjectRole } from './role-commands.ts';
import { locateGroup } from './roles-and-groups.ts';

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
  const wanted = holdingsIn(world, command);
  if (isRefusal(wanted)) return wanted;
  if (!hasOwner(wanted)) return NEEDS_OWNER;
  const staying = new Set(wanted.map(keyOf));
  return [
    ...wanted.flatMap((one) => roleSet(world, project, one)),
    ...holdingsOf(project)
      .filter((one) => !staying.has(keyOf(one)))
      .map((one) => roleTaken(world, project, one)),
  ];
}

export interface GrantProjectAccess extends Granted {
  readonly type: 'grant-project-access';
}

/** Gives roles as `set-project-access` does, but that the others keep theirs. */
export function grantProjectAccess(world: World, command: GrantProjectAccess): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const wanted = holdingsIn(world, command);
  if (isRefusal(wanted)) return wanted;
  const after = new Map([...holdingsOf(project), ...wanted].map((one) => [keyOf(one), one]));
  return (
    refuseOwnerless(project, [...after.values()]) ?? wanted.flatMap((one) => roleSet(world, project, one))
  );
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
  const holder: Holder =
    'userId' in from ? { kind: 'user', id: from.userId } : { kind: 'group', id: from.groupId };
  if (!rolesOf(project, holder).has(holder.id)) return UNCHANGED;
  const left = holdingsOf(project).filter((one) => keyOf(one) !== keyOf(holder));
  return refuseOwnerless(project, left) ?? [roleTaken(world, project, holder)];
}

/** A project that has an Owner must keep one. */
const refuseOwnerless = (project: ProjectState, left: readonly Holding[]): Refusal | null =>
  hasOwner(holdingsOf(project)) && !hasOwner(left) ? NEEDS_OWNER : null;

const hasOwner = (holdings: readonly Holding[]): boolean =>
  holdings.some(({ roleId }) => roleId === OWNER_ROLE_ID);

const keyOf = ({ kind, id }: Holder): string => `${kind} ${id}`;

/** The roles that the request gives; refuses the first that names what does not exist. */
function holdingsIn(world: World, { members, groups }: Granted): readonly Holding[] | Refusal {
  const sent = [
    ...members.map(({ userId, ...rest }) => ({ kind: 'user', id: userId, ...rest }) as const),
    ...groups.map(({ groupId, ...rest }) => ({ kind: 'group', id: groupId, ...rest }) as const),
  ];
  for (const { kind, id, roleId, path } of sent) {
    const holder = kind === 'user' ? locateUser(world, id) : locateGroup(world, id);
    const located = isRefusal(holder) ? holder : locateProjectRole(world, roleId);
    if (!isRefusal(located)) continue;
    const detail = { message: located.message };
    return { ...located, details: [path === undefined ? detail : { ...detail, path }] };
  }
  return sent;
}
