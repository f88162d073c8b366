/**
 * Decisions on who belongs to a project (docs/specification/membership.md#rules). A user, and a group, hold at most one
 * role of their own in a project, and a project keeps at least one Owner.
 */
import { OWNER_ROLE_ID, type Role } from '../access/roles.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { type DomainEvent, type GroupAccessData, inProject, type MembershipData } from '../state/events.ts';
import { locateProject, locateUser } from '../state/locate.ts';
import { invalidOperation, isRefusal, notFound, type Refusal, refuse } from '../state/refusal.ts';
import type { ProjectState, User, World } from '../state/world.ts';
import { locateProjectRole } from './role-commands.ts';
import { knownRole, locateGroup } from './roles-and-groups.ts';

export interface NamesMembership {
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

/** A decision on one user and one role in a project. */
const onMember =
  (decide: (world: World, located: LocatedMembership) => Decision) =>
  (world: World, command: NamesMembership): Decision => {
    const located = locateMembership(world, command);
    return located.refused ? located : decide(world, located);
  };

export const addMember = onMember((world, { project, user, role, held }) =>
  held === undefined
    ? roleSet(world, project, { kind: 'user', id: user.id, roleId: role.id })
    : refuse('MembershipRuleError', `User already has access to project=${project.settings.id}`),
);

/** Nothing happens for a user who is not a member or holds the role already (docs/specification/membership.md#rules). */
export const changeMember = onMember((world, { project, user, role, held }) => {
  if (held === undefined || held === role.id) return UNCHANGED;
  if (isSoleOwner(project, { kind: 'user', id: user.id })) return NEEDS_OWNER;
  return roleSet(world, project, { kind: 'user', id: user.id, roleId: role.id });
});

export const removeMember = onMember((world, { project, user, role, held }) => {
  if (held !== role.id) {
    return notFound(`The user ${user.id} does not hold the role ${role.name} in "${project.settings.id}".`);
  }
  if (isSoleOwner(project, { kind: 'user', id: user.id })) return NEEDS_OWNER;
  return [roleTaken(world, project, { kind: 'user', id: user.id })];
});

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

const HOLDER_KINDS = ['user', 'group'] as const;

/** A user or a group that may hold a role in a project. */
interface Holder {
  readonly kind: (typeof HOLDER_KINDS)[number];
  readonly id: number;
}

export interface Holding extends Holder {
  readonly roleId: number;
  /** JSON pointer of where the request names the holder, for refusals. */
  readonly path?: string;
}

/** The roles that holders of the kind have in the project, by their ids. */
export const rolesOf = ({ members, groups }: ProjectState, { kind }: Pick<Holder, 'kind'>) =>
  kind === 'user' ? members : groups;

/** Users come first. */
export function holdingsOf(project: ProjectState): Holding[] {
  return HOLDER_KINDS.flatMap((kind) =>
    Array.from(rolesOf(project, { kind }), ([id, roleId]) => ({ kind, id, roleId })),
  );
}

/** Whether the user or the group is the only Owner that the project has. */
function isSoleOwner(project: ProjectState, holder: Holder): boolean {
  let owns = false;
  for (const kind of HOLDER_KINDS) {
    for (const [id, roleId] of rolesOf(project, { kind })) {
      if (roleId !== OWNER_ROLE_ID) continue;
      if (kind !== holder.kind || id !== holder.id) return false;
      owns = true;
    }
  }
  return owns;
}

const EVENTS = {
  user: {
    added: 'project-user-added',
    changed: 'project-user-role-changed',
    removed: 'project-user-removed',
  },
  group: {
    added: 'project-group-added',
    changed: 'project-group-role-changed',
    removed: 'project-group-removed',
  },
} as const;

/** The event by which a user or a group holds the role; none when that is so already. */
export function roleSet(world: World, project: ProjectState, holding: Holding): DomainEvent[] {
  const held = rolesOf(project, holding).get(holding.id);
  if (held === holding.roleId) return [];
  const { added, changed } = EVENTS[holding.kind];
  const type = held === undefined ? added : changed;
  const preData = held === undefined ? null : accessData(world, holding, held);
  const data = accessData(world, holding, holding.roleId);
  return [{ type, ...inProject(project.settings.id), data, preData } as DomainEvent];
}

/** The event by which a role is taken away. The caller knows that one is held. */
export function roleTaken(world: World, project: ProjectState, holder: Holder): DomainEvent {
  const { settings } = project;
  const roleId = rolesOf(project, holder).get(holder.id);
  if (roleId === undefined) throw new Error(`the ${holder.kind} ${holder.id} has no role in ${settings.id}`);
  const preData = accessData(world, holder, roleId);
  const type = EVENTS[holder.kind].removed;
  return { type, ...inProject(settings.id), data: null, preData } as DomainEvent;
}

/** The events by which it loses its roles in all projects; refused for the only Owner of one, because nobody could repair that. */
export function projectsLeft(world: World, holder: Holder): readonly DomainEvent[] | Refusal {
  const projects = [...world.projects.values()].filter((project) => rolesOf(project, holder).has(holder.id));
  const owned = projects.filter((project) => isSoleOwner(project, holder));
  if (owned.length === 0) return projects.map((project) => roleTaken(world, project, holder));
  const names = owned.map(({ settings }) => `"${settings.id}"`).join(', ');
  return invalidOperation(
    `The ${holder.kind} ${holder.id} is the only Owner of ${names}; give each of these projects another Owner first.`,
  );
}

function accessData(
  { directory }: World,
  { kind, id }: Holder,
  roleId: number,
): MembershipData | GroupAccessData {
  const role = knownRole({ directory }, roleId);
  if (kind === 'user') return membershipData(present(directory.users.get(id), 'user', id), role);
  const { name: groupName } = present(directory.groups.get(id), 'group', id);
  return { groupId: id, groupName, roleId, roleName: role.name };
}

function present<T>(record: T | undefined, noun: string, id: number): T {
  if (record === undefined) throw new Error(`the state names the ${noun} ${id}, which does not exist`);
  return record;
}

export function membershipData(user: User, role: Role): MembershipData {
  return { userId: user.id, roleId: role.id, roleName: role.name, email: user.email };
}

/** Roles for users and groups. Holds each user and each group at most once. */
interface Granted {
  readonly project: string;
  readonly holdings: readonly Holding[];
}

/** Records one event for each user and group that is added, changed or removed. At least one must be an Owner. */
export function setProjectAccess(world: World, { project: id, holdings: wanted }: Granted): Decision {
  const project = locateProject(world, id);
  if (isRefusal(project)) return project;
  const refusal = refuseUnknown(world, wanted);
  if (refusal !== null) return refusal;
  if (!hasOwner(wanted)) return NEEDS_OWNER;
  const staying = new Set(wanted.map(keyOf));
  return [
    ...wanted.flatMap((one) => roleSet(world, project, one)),
    ...holdingsOf(project)
      .filter((one) => !staying.has(keyOf(one)))
      .map((one) => roleTaken(world, project, one)),
  ];
}

/** Gives roles as `set-project-access` does, but that the others keep theirs. */
export function grantProjectAccess(world: World, { project: id, holdings: wanted }: Granted): Decision {
  const project = locateProject(world, id);
  if (isRefusal(project)) return project;
  const after = new Map([...holdingsOf(project), ...wanted].map((one) => [keyOf(one), one]));
  return (
    refuseUnknown(world, wanted) ??
    refuseOwnerless(project, [...after.values()]) ??
    wanted.flatMap((one) => roleSet(world, project, one))
  );
}

interface RevokeProjectAccess {
  readonly project: string;
  readonly groupId: number;
}

/** Nothing happens where the group holds no role. */
export function revokeProjectAccess(world: World, { project: id, groupId }: RevokeProjectAccess): Decision {
  const project = locateProject(world, id);
  if (isRefusal(project)) return project;
  const holder: Holder = { kind: 'group', id: groupId };
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

/** Refuses the first that names what does not exist. */
function refuseUnknown(world: World, wanted: readonly Holding[]): Refusal | null {
  for (const { kind, id, roleId, path } of wanted) {
    const holder = kind === 'user' ? locateUser(world, id) : locateGroup(world, id);
    const located = isRefusal(holder) ? holder : locateProjectRole(world, roleId);
    if (!isRefusal(located)) continue;
    return path === undefined ? located : located.at(path);
  }
  return null;
}
