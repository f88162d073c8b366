/** The caller: who it is, and what it may do. */

import * as v from 'valibot';
import { inTurns } from '../../actors/turn.ts';
import { type Need, PERMISSIONS, type PermissionInfo } from '../../domain/access/permissions.ts';
import { ADMIN_ROLE_ID } from '../../domain/access/roles.ts';
import { described, Integer, NullableTimestamp, titled } from '../../domain/json/schema.ts';
import { knownRole } from '../../domain/people/roles-and-groups.ts';
import { refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { type Asked, type Caller, mayDo } from '../serving/access.ts';
import { jsonResponse } from '../serving/json-response.ts';
import { readRoute, underTag } from '../serving/route.ts';
import { LIST_BYTES_MAX, textsResponse } from './responses.ts';
import { shown } from './shown.ts';
import { NAMES, roleView, type SignInsOf, userFields } from './views.ts';

const MeUserSchema = titled('MeUser', {
  id: Integer,
  isAPI: v.boolean(),
  ...NAMES,
  email: v.exactOptional(v.string()),
  imageUrl: v.nullable(v.string()),
  seenAt: NullableTimestamp,
  loginAttempts: Integer,
  createdAt: NullableTimestamp,
  accountType: v.string(),
});

const MeSchema = titled('Me', {
  user: MeUserSchema,
  permissions: v.array(
    titled('GrantedPermission', {
      permission: v.string(),
      project: v.exactOptional(v.string()),
      environment: v.exactOptional(v.string()),
    }),
  ),
  feedback: v.array(v.unknown()),
  splash: v.object({}),
});

/** Shows an API token as a user with its name, because clients expect a user. */
function callerView({ user, actor, kind }: Caller, signIns: SignInsOf) {
  if (user !== null) return shown(MeUserSchema, userFields(user, signIns));
  return {
    id: actor.userId,
    isAPI: kind !== 'anyone',
    name: actor.name,
    username: actor.name,
    imageUrl: null,
    seenAt: null,
    loginAttempts: 0,
    createdAt: null,
    accountType: kind === 'anyone' ? 'User' : 'Service Account',
  };
}

const ProfileSchema = titled('Profile', {
  rootRole: v.object({
    id: Integer,
    type: v.string(),
    name: v.string(),
    description: v.string(),
    project: v.nullable(v.string()),
  }),
  projects: v.array(v.string()),
  features: v.array(v.unknown()),
  subscriptions: described(v.array(v.string()), 'Always empty: the server sends no mail.'),
});

/** API tokens, and everybody where authentication is off, have the root role Admin and no projects. */
function profileView(world: World, caller: Caller) {
  return {
    rootRole: roleView(knownRole(world, caller.user?.rootRole ?? ADMIN_ROLE_ID)),
    projects: projectsOf(world, caller),
    features: [],
    subscriptions: [],
  };
}

/** Projects in which the caller, or one of the caller's groups, holds a role. */
function projectsOf({ projects }: World, { user, groups }: Caller): string[] {
  if (user === null) return [];
  return [...projects.values()]
    .filter((project) => project.members.has(user.id) || groups.some((id) => project.groups.has(id)))
    .map((project) => project.settings.id);
}

/** A right in the terms that clients of this interface know, so that they can hide what would be refused. Only access.ts decides that. */
interface GrantedPermission {
  readonly permission: string;
  /** `*` for every project; absent for rights that belong to no project. */
  readonly project?: string;
  /** `*` for every environment; absent for rights that belong to none. */
  readonly environment?: string;
}

/** The permissions that are listed: all but reading, which needs none. */
const LISTED = PERMISSIONS.filter(({ within }) => within !== 'read');

/** The permissions that Admins have only by another role. */
const LISTED_FOR_ADMINS = LISTED.filter(({ within }) => within === 'guard:skip');

const NOWHERE = { projectId: null, environment: null };

const TOO_MANY_RIGHTS = refuse(
  'PayloadTooLargeError',
  `You hold single permissions in so many environments and projects that a list of them would take more than ${LIST_BYTES_MAX / 2 ** 20} MiB. Ask an Admin for a role that holds them in all environments, or in all projects.`,
);

/** The permissions as JSON, in steps: somebody may hold something in thousands of projects with 50 environments each. Null for too many. */
function* grantedPermissions(world: World, caller: Caller): Generator<void, readonly string[] | null> {
  const isAdmin = mayDo(world, caller, { permission: 'admin' }, NOWHERE);
  const texts = isAdmin ? [JSON.stringify({ permission: 'ADMIN' })] : [];
  let length = 0;
  for (const info of isAdmin ? LISTED_FOR_ADMINS : LISTED) {
    for (const granted of grantedOf(world, caller, info)) {
      const text = granted.map((one) => JSON.stringify(one)).join();
      length += text.length;
      if (length > LIST_BYTES_MAX) return null;
      if (text !== '') texts.push(text);
      yield;
    }
  }
  return texts;
}

/** All at once where the caller holds the permission everywhere, else by project. */
function* grantedOf(
  world: World,
  caller: Caller,
  { name: permission, kind, within }: PermissionInfo,
): Generator<readonly GrantedPermission[]> {
  const may = (place: Asked, needs: Need['needs'] = [permission]): boolean =>
    mayDo(world, caller, { permission: within, needs }, place);
  const everywhere = kind === 'environment' ? { environment: '*' } : {};
  const project = kind === 'root' ? {} : { project: '*' };
  if (may(NOWHERE)) return yield [{ permission, ...project, ...everywhere }];
  if (kind === 'root') return;
  for (const { settings } of world.projects.values()) {
    const { id: projectId, environments } = settings;
    const here = { permission, project: projectId };
    const hasRight = may({ projectId, environment: null }, []);
    if (hasRight) yield [{ ...here, ...everywhere }];
    else if (kind === 'project') yield may({ projectId, environment: null }) ? [here] : [];
    else
      yield environments
        .filter((environment) => may({ projectId, environment }))
        .map((environment) => ({ ...here, environment }));
  }
}

export const profileRoutes = underTag('Users', [
  readRoute('GET /user/profile', {
    operationId: 'getProfile',
    summary: "Read the caller's profile.",
    permission: 'self',
    success: { status: 200, schema: ProfileSchema },
    read: ({ world, caller }) => ({
      revision: world.directory.accessRevision,
      response: jsonResponse(200, profileView(world, caller)),
    }),
  }),
]);

export const meRoutes = underTag('Users', [
  readRoute('GET /user', {
    operationId: 'getMe',
    summary: 'Read who the caller is and what the caller may do.',
    permission: 'self',
    success: { status: 200, schema: MeSchema },
    refusals: ['PayloadTooLargeError'],
    read: async (context) => {
      const { world, caller, requester, usage } = context;
      const granted = await inTurns(grantedPermissions(world, caller), requester);
      if (granted === null) return TOO_MANY_RIGHTS;
      const user = JSON.stringify(callerView(caller, usage.signIns));
      const around = [`{"user":${user},"permissions":[`, '],"feedback":[],"splash":{}}'] as const;
      return textsResponse(context, around, granted, (text) => text);
    },
  }),
]);
