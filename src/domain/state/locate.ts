/**
 * Finds what a request names, in the order in which it names it. The first thing that does not exist is a 404, and
 * the message names the thing and its place.
 */
import { environmentOf, type FlagEnvironment } from '../flags/flag.ts';
import type { Strategy } from '../flags/strategy.ts';
import { didYouMean } from '../json/nearest-name.ts';
import type { FlagRecord } from './flag-record.ts';
import { invalid, isRefusal, notFound, type Refusal } from './refusal.ts';
import {
  type DirectoryState,
  type Environment,
  type PersonalToken,
  type ProjectState,
  projectEnvironments,
  type User,
  type World,
} from './world.ts';

export function locateProject(world: World, id: string): ProjectState | Refusal {
  return world.projects.get(id) ?? notFound(noProject(world, id));
}

/** The project, which has the environment. */
export function locateProjectEnvironment(
  world: World,
  id: string,
  environment: string,
): ProjectState | Refusal {
  const project = locateProject(world, id);
  return isRefusal(project) ? project : (refuseNoEnvironment(project, environment) ?? project);
}

function refuseNoEnvironment({ settings }: ProjectState, environment: string): Refusal | null {
  const { id, environments } = settings;
  if (environments.includes(environment)) return null;
  const advice = didYouMean(environment, environments);
  return notFound(`The project "${id}" has no environment "${environment}".${advice}`);
}

export interface LocatedFlag {
  readonly refused?: never;
  readonly project: ProjectState;
  readonly record: FlagRecord;
}

/** The message for a project id that names nothing, with the id that was probably meant. */
export function noProject(world: World, id: string): string {
  return `There is no project "${id}".${didYouMean(id, world.projects.keys())}`;
}

/** The message that there is no such environment of the service, with the nearest name. */
export function noEnvironment({ directory }: World, name: string): string {
  const known = directory.environments.map((one) => one.name);
  return `There is no environment "${name}".${didYouMean(name, known)}`;
}

/** A 400 at the first id in the field `projects` of the body that names nothing; `*` stands for every project. */
export function refuseUnknownProjects(world: World, projects: readonly string[]): Refusal | null {
  const index = projects.findIndex((id) => id !== '*' && !world.projects.has(id));
  return index === -1 ? null : invalid(noProject(world, projects[index] ?? ''), `/body/projects/${index}`);
}

/**
 * A flag that is requested under another project than its own is not found (docs/specification/flags.md#projects).
 */
export function locateFlag(world: World, projectId: string, name: string): LocatedFlag | Refusal {
  const project = world.projects.get(projectId);
  if (project === undefined) return notFound(noProject(world, projectId));
  const record = project.flags.get(name);
  if (record === undefined) {
    const advice = didYouMean(name, project.flags.keys());
    return notFound(`There is no flag "${name}" in the project "${projectId}".${advice}`);
  }
  return { project, record };
}

/** Returns each flag once, in the order of the request. Refuses at the first flag that the project does not have. */
export function locateFlags(
  world: World,
  { project, flags }: { readonly project: string; readonly flags: readonly string[] },
): LocatedFlag[] | Refusal {
  const located = new Map<string, LocatedFlag>();
  for (const [index, name] of flags.entries()) {
    const one = locateFlag(world, project, name);
    if (one.refused) {
      return one.at(`/body/features/${index}`);
    }
    located.set(name, one);
  }
  return [...located.values()];
}

/** Finds a flag by its name alone, which is unique in the whole service. */
export function locateFlagAnywhere(world: World, name: string): LocatedFlag | Refusal {
  const projectId = world.flagProjects.get(name);
  if (projectId === undefined)
    return notFound(`There is no flag "${name}".${didYouMean(name, world.flagProjects.keys())}`);
  return locateFlag(world, projectId, name);
}

export interface LocatedEnvironment extends LocatedFlag {
  readonly flagEnvironment: FlagEnvironment;
}

export function locateFlagEnvironment(
  world: World,
  projectId: string,
  name: string,
  environment: string,
): LocatedEnvironment | Refusal {
  const located = locateFlag(world, projectId, name);
  if (located.refused) return located;
  const { project, record } = located;
  const refusal = refuseNoEnvironment(project, environment);
  return refusal ?? { project, record, flagEnvironment: environmentOf(record.flag, environment) };
}

export interface LocatedStrategy extends LocatedEnvironment {
  readonly strategy: Strategy;
}

export function locateStrategy(
  world: World,
  projectId: string,
  name: string,
  environment: string,
  strategyId: string,
): LocatedStrategy | Refusal {
  const located = locateFlagEnvironment(world, projectId, name, environment);
  if (located.refused) return located;
  const strategy = located.flagEnvironment.strategies.find((one) => one.id === strategyId);
  if (strategy === undefined) return noStrategy(name, environment, strategyId);
  const { project, record, flagEnvironment } = located;
  return { project, record, flagEnvironment, strategy };
}

export function noStrategy(flag: string, environment: string, strategyId: string): Refusal {
  return notFound(`The flag "${flag}" has no strategy "${strategyId}" in the environment "${environment}".`);
}

export function locateUser(world: World, id: number): User | Refusal {
  return world.directory.users.get(id) ?? notFound(`There is no user ${id}.`);
}

/** Whether the user is a program. */
export const isService = (user: User): boolean => user.isService === true;

/** A user who is a person. */
export function locatePerson(world: World, id: number): User | Refusal {
  const user = world.directory.users.get(id);
  return user === undefined || isService(user) ? notFound(`There is no user ${id}.`) : user;
}

/** Users in order of creation, without service accounts. */
export function peopleOf({ users }: Pick<DirectoryState, 'users'>): User[] {
  return [...users.values()].filter((user) => !isService(user));
}

/**
 * The project's first environment in order, whose variants a flag shows
 * (docs/specification/variants.md#environments).
 */
export function firstEnvironment(world: World, project: ProjectState): string | undefined {
  return projectEnvironments(world, project)[0]?.name;
}

/**
 * The environment of a token or a request that could name one and does not: the one named `default`, or the
 * first in order; undefined where there are none.
 */
export function defaultEnvironment({ directory: { environments } }: World): string | undefined {
  return (environments.find(({ name }) => name === 'default') ?? environments[0])?.name;
}

export function locateEnvironment(world: World, name: string): Environment | Refusal {
  const environment = world.directory.environments.find((one) => one.name === name);
  return environment ?? notFound(noEnvironment(world, name));
}

/** Finds a user's token by its id. A token of another user is not found. */
export function locatePersonalToken(world: World, userId: number, id: number): PersonalToken | Refusal {
  for (const token of world.directory.personalTokens.values()) {
    if (token.id === id && token.userId === userId) return token;
  }
  return notFound(`The user ${userId} has no personal token ${id}.`);
}
