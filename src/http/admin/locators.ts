/** Finds what the paths of the routes name. */
import { locateDependency } from '../../domain/decide/dependency-commands.ts';
import { noLink } from '../../domain/decide/flag-commands.ts';
import { hasTag } from '../../domain/decide/tag-commands.ts';
import { type IdOf, type ManagedKindName, managedKindOf, type RecordOf } from '../../domain/kinds/kinds.ts';
import { locateMembership } from '../../domain/people/membership-commands.ts';
import { locateRecord } from '../../domain/state/directory-records.ts';
import {
  isService,
  locateEnvironment,
  locateFlag,
  locateFlagAnywhere,
  locateFlagEnvironment,
  locatePersonalToken,
  locateProject,
  locateProjectEnvironment,
  locateStrategy,
} from '../../domain/state/locate.ts';
import { isRefusal, notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState, User, World } from '../../domain/state/world.ts';
import { type Caller, digestOf } from '../serving/access.ts';
import type { Params } from '../serving/params.ts';

export const project = (world: World, { projectId }: Params) => locateProject(world, projectId);

export const flag = (world: World, { projectId, featureName }: Params) =>
  locateFlag(world, projectId, featureName);

/** The flag that the path names, as commands name it. */
export const flagIn = ({ projectId, featureName }: Params) => ({ project: projectId, flag: featureName });

export const flagEnvironmentIn = ({ projectId, featureName, environment }: Params) => ({
  project: projectId,
  flag: featureName,
  environment,
});

export const childFlag = (world: World, { projectId, child }: Params) => locateFlag(world, projectId, child);

export function link(world: World, params: Params) {
  const located = flag(world, params);
  if (located.refused || located.record.flag.links.some(({ id }) => id === params.linkId)) return located;
  return noLink(params.featureName, params.linkId);
}

export const flagEnvironment = (world: World, { projectId, featureName, environment }: Params) =>
  locateFlagEnvironment(world, projectId, featureName, environment);

export const strategy = (world: World, { projectId, featureName, environment, strategyId }: Params) =>
  locateStrategy(world, projectId, featureName, environment, strategyId);

/** The refusal of an id that is not a number repeats it as the path spells it. */
export function membership(world: World, params: Params) {
  const { projectId, userId, roleId } = params;
  const named = locateProject(world, projectId);
  if (isRefusal(named)) return named;
  if (numericId(userId) === NO_ID) return notFound(`There is no user "${userId}".`);
  if (numericId(roleId) === NO_ID) return notFound(`There is no role "${roleId}".`);
  return locateMembership(world, membershipIds(params));
}

export function membershipIds({ projectId, userId, roleId }: Params) {
  return { project: projectId, userId: numericId(userId), roleId: numericId(roleId) };
}

/** A flag whose project is not in the path. */
export const flagAnywhere = (world: World, { featureName }: Params) => locateFlagAnywhere(world, featureName);

export function tag(world: World, params: Params) {
  const located = flagAnywhere(world, params);
  if (located.refused) return located;
  const named = tagOf(params);
  if (hasTag(located.record.flag, named)) return located;
  return notFound(`The flag "${params.featureName}" has no tag "${named.type}:${named.value}".`);
}

export const tagOf = (params: Params) => ({ type: params.type, value: params.value });

export const dependency = (world: World, params: Params) =>
  locateDependency(world, params.projectId, params.child, params.parent);

export const environment = (world: World, params: Params) => locateEnvironment(world, params.name);

export const projectEnvironment = (world: World, { projectId, environment: name }: Params) =>
  locateProjectEnvironment(world, projectId, name);

/** The path names what is kept under a digest by its secret or by that; no secret looks like a digest. */
export function secretDigest(kept: ReadonlyMap<string, unknown>, { token }: Params): string {
  return kept.has(token) ? token : digestOf(token);
}

export const tokenOf = (locateOwner: typeof user) => (world: World, params: Params) => {
  const owner = locateOwner(world, params);
  return isRefusal(owner) ? owner : personalTokenOf(world, owner.id, params.tokenId);
};

export function personalTokenOf(world: World, userId: number, id: string) {
  const located = locatePersonalToken(world, userId, numericId(id));
  return isRefusal(located) ? notFound(`The user ${userId} has no personal token "${id}".`) : located;
}

/** Finds the record of a kind that the path names. The refusal of an id that is not a number repeats it as the path spells it. */
export function recordOf<Name extends ManagedKindName>(kind: Name) {
  const { noun, lastId } = managedKindOf(kind);
  return (world: World, params: Params): RecordOf<Name> | Refusal => {
    const located = locateRecord(world, kind, recordIdOf(kind, params));
    if (lastId === undefined || !isRefusal(located)) return located;
    return notFound(`There is no ${noun} "${textOf(kind, params)}".`);
  };
}

export function recordIdOf<Name extends ManagedKindName>(kind: Name, params: Params): IdOf<Name> {
  const text = textOf(kind, params);
  return (managedKindOf(kind).lastId === undefined ? text : numericId(text)) as IdOf<Name>;
}

const textOf = (kind: ManagedKindName, params: Params): string =>
  params[managedKindOf(kind).routes.param as keyof Params];

export const segment = recordOf('segments');
export const contextField = recordOf('contextFields');
export const strategyType = recordOf('strategyTypes');
export const group = recordOf('groups');

/** Finds a user by the id in the path. An id that is not a number names no user. */
const userOf =
  (noun: 'user' | 'service account') =>
  ({ directory }: World, { id }: Pick<Params, 'id'>): User | Refusal => {
    const found = directory.users.get(numericId(id));
    const isFound = found !== undefined && isService(found) === (noun === 'service account');
    return isFound ? found : notFound(`There is no ${noun} "${id}".`);
  };

export const user = userOf('user');
export const serviceAccount = userOf('service account');

/** The caller of a route for users only. */
export function callingUser({ caller: { user } }: { readonly caller: Caller }): User {
  if (user === null) throw new Error('a caller who is no user got past the rights of this route');
  return user;
}

/** An id that nothing has. */
const NO_ID = -1;

/** Accepts at most nine digits, without sign and leading zeros, so that a resource has one spelling. */
export function numericId(text: string): number {
  return /^(?:0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : NO_ID;
}

// The part of the state that `If-Match` pins on a write to something other than a flag: the part that the write changes, as the
// ETag of its read names it.

export function pinnedProject(world: World, params: Params): object | Refusal {
  const located = project(world, params);
  return isRefusal(located) ? located : located.settings;
}

/** The members and groups of the project, all together. */
export function pinnedAccess(world: World, params: Params): object | Refusal {
  const located = project(world, params);
  return isRefusal(located) ? located : accessOf(located);
}

export const accessOf = ({ members, groups }: ProjectState) => ({
  members: [...members],
  groups: [...groups],
});
