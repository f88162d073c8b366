/** Responses about projects as a whole, environments, tokens and the caller, which are not cached. */
import type { UsageView } from '../../actors/usage-view.ts';
import { canBeInProject } from '../../domain/access/roles.ts';
import { allRoles } from '../../domain/people/roles-and-groups.ts';
import { favoritesOf } from '../../domain/state/favorites.ts';
import {
  ALL,
  type ApiToken,
  type DirectoryState,
  type Environment,
  type Favorites,
  type PersonalToken,
  type ProjectSettings,
  type ProjectState,
  projectEnvironments,
  type World,
} from '../../domain/state/world.ts';
import type { Caller } from '../serving/access.ts';
import { MeUserSchema, PersonalTokenSchema, ProjectSchema } from './directory-schemas.ts';
import { healthOf, type ProjectFigures } from './project-figures.ts';
import { defaultStrategyIn } from './project-overview-view.ts';
import { listOf } from './responses.ts';
import { shown } from './shown.ts';
import {
  bareGroupView,
  companionUserView,
  groupSummaryView,
  roleView,
  type SignInsOf,
  timeOrNull,
  userFields,
} from './views.ts';

type TokensSeen = Pick<UsageView['seen'], 'token'>;

export function projectView(world: World, project: Pick<ProjectState, 'settings'>) {
  const environments = projectEnvironments(world, project).map(({ name }) => name);
  return settingsView({ ...project.settings, environments });
}

export const settingsView = (settings: ProjectSettings) => shown(ProjectSchema, settings);

/** Ids; empty for a caller who is no user. */
export const favoriteProjects = (world: World, { user }: Caller): readonly string[] =>
  user === null ? [] : favoritesOf(world, user.id).projects;

/** The caller's favorites; null for a caller without any. */
export function callerFavorites(world: World, { user }: Caller): Favorites | null {
  const favorites = user === null ? undefined : world.directory.favorites.get(user.id);
  return favorites ?? null;
}

export function projectSummaryView(
  world: World,
  project: ProjectState,
  { figures, isFavorite }: { readonly figures: ProjectFigures; readonly isFavorite: boolean },
) {
  return {
    ...projectView(world, project),
    health: healthOf(figures),
    featureCount: figures.flagCount,
    staleFeatureCount: figures.staleCount,
    memberCount: project.members.size,
    favorite: isFavorite,
  };
}

type Holding = readonly [id: number, roleId: number];

const heldView = (roleId: number) => ({ roleId, roles: [roleId] });

const memberView = ({ users }: DirectoryState, [id, roleId]: Holding, signIns: SignInsOf) => ({
  ...companionUserView(users.get(id)!, signIns),
  ...heldView(roleId),
});

/** The users and groups of the project, as they are now. */
export function projectAccessLists(world: World, { members, groups }: ProjectState, signIns: SignInsOf) {
  const { directory } = world;
  return [
    listOf({ name: 'users', items: members, view: (one) => memberView(directory, one, signIns) }),
    listOf({
      name: 'groups',
      items: groups,
      view: ([id, roleId]) => ({
        ...bareGroupView(directory, directory.groups.get(id)!),
        ...heldView(roleId),
      }),
    }),
  ];
}

/** A response to a write, which is made at once: without the users of the groups. */
export function projectAccessView(world: World, { members, groups }: ProjectState, signIns: SignInsOf) {
  const { directory } = world;
  return {
    version: 1,
    users: [...members].map((one) => memberView(directory, one, signIns)),
    groups: [...groups].map(([id, roleId]) => ({
      ...groupSummaryView(directory.groups.get(id)!),
      ...heldView(roleId),
    })),
    roles: projectRolesView(world),
  };
}

export const projectRolesView = (world: World) => allRoles(world).filter(canBeInProject).map(roleView);

/** The projects that have an environment, and the flags that are switched on in it, in all of them. */
interface EnvironmentUse {
  readonly projectCount: number;
  readonly enabledToggleCount: number;
}

export function environmentView(
  world: World,
  environment: Environment,
  { projectCount, enabledToggleCount }: EnvironmentUse,
) {
  const apiTokenCount = countTokens(world, (token) => token.environment === environment.name);
  return { ...environment, projectCount, apiTokenCount, enabledToggleCount };
}

export function projectEnvironmentViews(world: World, project: ProjectState) {
  const isForProject = ({ projects }: ApiToken) =>
    projects.includes(project.settings.id) || projects.includes(ALL);
  return projectEnvironments(world, project).map((environment) => ({
    ...environment,
    projectApiTokenCount: countTokens(
      world,
      (token) => token.environment === environment.name && isForProject(token),
    ),
    projectEnabledToggleCount: project.flags.enabledCount(environment.name),
    ...defaultStrategyIn(world, project, environment.name),
  }));
}

function countTokens(world: World, isCounted: (token: ApiToken) => boolean): number {
  return [...world.directory.apiTokens.values()].filter(isCounted).length;
}

/** Clients insist on the field secret: where it is not known, its digest stands there. */
export function apiTokenView({ seed: _, ...token }: ApiToken, seen: TokensSeen, secret = token.digest) {
  const { tokenName, projects, digest } = token;
  return {
    ...token,
    username: tokenName,
    project: projects.join(','),
    secret,
    secure: true,
    seenAt: timeOrNull(seen.token(digest)),
    alias: null,
  };
}

export const personalTokenView = (token: PersonalToken, seen: TokensSeen) =>
  shown(PersonalTokenSchema, { ...token, seenAt: timeOrNull(seen.token(token.digest)) });

/** Shows an API token as a user with its name, because clients expect a user. */
export function callerView({ user, actor, kind }: Caller, signIns: SignInsOf) {
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
