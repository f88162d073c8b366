/** Decisions that create, change and delete projects, and that add and remove their environments. */
import { OWNER_ROLE_ID } from '../access/roles.ts';
import { type RulesInput, rulesAfter } from '../flags/project-rules.ts';
import { defaultStrategyOf, type StrategyInput, strategyIssue } from '../flags/strategy.ts';
import { urlNameFrom } from '../flags/url-name.ts';
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual, jsonSize } from '../json/json.ts';
import { membershipData } from '../people/membership-commands.ts';
import { knownRole } from '../people/roles-and-groups.ts';
import { tokensOfProjectChanged } from '../people/token-commands.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { inProject, inProjectEnvironment, newEvent } from '../state/events.ts';
import {
  locateEnvironment,
  locateProject,
  locateProjectEnvironment,
  noEnvironment,
} from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import { DEFAULT_PROJECT } from '../state/seed-events.ts';
import type { ProjectSettings, World } from '../state/world.ts';
import { flagDeleted } from './archive-commands.ts';
import { recordsOfProjectDeleted } from './kind-commands.ts';
import { type ProtectedEnvironment, protectedProject } from './new-project.ts';
import { refuseUnknownReferences } from './strategy-commands.ts';

/** The settings that a client may send. An absent one keeps its value, or gets its default in a new project. */
interface ProjectFields extends RulesInput {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly mode?: ProjectSettings['mode'] | undefined;
  readonly defaultStickiness?: string | undefined;
}

interface CreateProject {
  /** Made from the name when absent. */
  readonly id?: string | undefined;
  readonly fields: ProjectFields & { readonly name: string };
  /** All enabled environments when absent or empty. */
  readonly environments?: readonly string[] | undefined;
  readonly protectedEnvironments?: readonly ProtectedEnvironment[] | undefined;
}

/** The most bytes of the settings of a project, its description and its rules among them. Lists show those of all projects. */
export const PROJECT_BYTES_MAX = 64 * 1024;

/** Refuses growth alone: settings that are there already are never too large. */
function refuseLarge(after: ProjectSettings, before: ProjectSettings | null): Refusal | null {
  if (before !== null && jsonSize(after) <= jsonSize(before)) return null;
  return refuseLargerThan(PROJECT_BYTES_MAX, `The settings of the project "${after.id}"`, after);
}

/** The user who creates a project is its first Owner. An API token is not a user, so its project has no members. */
export function createProject(world: World, command: CreateProject, context: DecideContext): Decision {
  const { fields } = command;
  const isTaken = (id: string) => world.projects.has(id);
  const id = command.id ?? urlNameFrom(fields.name, 'project', isTaken);
  if (isTaken(id)) return nameExists(`A project with the id "${id}" exists already.`);
  const environments = newProjectEnvironments(world, command.environments);
  if (isRefusal(environments)) return environments;
  const data: ProjectSettings = {
    id,
    name: fields.name,
    description: fields.description ?? null,
    mode: fields.mode ?? 'open',
    defaultStickiness: fields.defaultStickiness ?? 'default',
    createdAt: context.now,
    updatedAt: context.now,
    environments,
    ...rulesAfter({}, fields),
  };
  const refusal = refuseLarge(data, null);
  if (refusal !== null) return refusal;
  const protections = protectedProject(world, data, command.protectedEnvironments ?? []);
  if (isRefusal(protections)) return protections;
  const created = newEvent('project-created', inProject(id), { data });
  const creator = world.directory.users.get(context.actor.userId);
  if (creator === undefined) return [created, ...protections];
  const owner = membershipData(creator, knownRole(world, OWNER_ROLE_ID));
  return [created, newEvent('project-user-added', inProject(id), { data: owner }), ...protections];
}

/** Environments in the order of the service, regardless of their order in the request. */
function newProjectEnvironments(
  world: World,
  wanted: readonly string[] | undefined,
): readonly string[] | Refusal {
  const { environments } = world.directory;
  if (wanted === undefined || wanted.length === 0)
    return environments.filter((one) => one.enabled).map((one) => one.name);
  const known = new Set(environments.map((one) => one.name));
  const unknown = wanted.findIndex((name) => !known.has(name));
  if (unknown >= 0) {
    return invalid(noEnvironment(world, wanted[unknown] ?? ''), `/body/environments/${unknown}`);
  }
  return environments.map((one) => one.name).filter((name) => wanted.includes(name));
}

interface UpdateProject {
  readonly project: string;
  readonly fields: ProjectFields;
}

export function updateProject(world: World, command: UpdateProject, context: DecideContext): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const preData = project.settings;
  const { fields } = command;
  const changed = {
    name: fields.name ?? preData.name,
    description: fields.description === undefined ? preData.description : fields.description,
    mode: fields.mode ?? preData.mode,
    defaultStickiness: fields.defaultStickiness ?? preData.defaultStickiness,
  };
  const { featureNaming: _, featureLimit: __, linkTemplates: ___, lifetimes: ____, ...others } = preData;
  const data: ProjectSettings = { ...others, ...changed, ...rulesAfter(preData, fields) };
  if (jsonEqual(data, preData)) return UNCHANGED;
  const after = { ...data, updatedAt: context.now };
  const updated = newEvent('project-updated', inProject(data.id), { data: after, preData });
  return refuseLarge(after, preData) ?? [updated];
}

/** Archived flags that are deleted with their project: as many as a request for many flags may name, and for the same reason. */
export const FLAGS_DELETED_WITH_PROJECT_MAX = 500;

/** Also deletes its archived flags, its memberships, and the tokens that are valid for it alone. */
export function deleteProject(world: World, command: { readonly project: string }): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const { settings } = project;
  if (settings.id === DEFAULT_PROJECT) {
    return invalidOperation(`The project "${DEFAULT_PROJECT}" is always there and cannot be deleted.`);
  }
  const { activeCount, size } = project.flags;
  if (activeCount > 0) {
    return invalidOperation(
      `The project "${settings.id}" has flags that are not archived: ${activeCount}. Archive them before deleting it.`,
    );
  }
  if (size > FLAGS_DELETED_WITH_PROJECT_MAX) {
    return invalidOperation(
      `The project "${settings.id}" has ${size} archived flags; at most ${FLAGS_DELETED_WITH_PROJECT_MAX} are deleted with a project. Delete others before it, up to 1000 in each POST to /api/admin/projects/${settings.id}/delete.`,
    );
  }
  return [
    ...[...project.flags.values()].map((record) => flagDeleted(world, { project, record })),
    ...tokensOfProjectChanged(world, settings.id),
    ...recordsOfProjectDeleted(world, settings.id),
    { type: 'project-deleted', ...inProject(settings.id), data: null, preData: settings },
  ];
}

interface NamesProjectEnvironment {
  readonly project: string;
  readonly environment: string;
}

/** All flags of the project have it from then on, disabled and without strategies. */
export function addProjectEnvironment(world: World, command: NamesProjectEnvironment): Decision {
  const project = locateProject(world, command.project);
  if (isRefusal(project)) return project;
  const environment = locateEnvironment(world, command.environment);
  if (isRefusal(environment)) return environment.at('/body/environment');
  const { id, environments } = project.settings;
  if (environments.includes(environment.name)) {
    return nameExists(`The project "${id}" has the environment "${environment.name}" already.`);
  }
  return [newEvent('project-environment-added', inProjectEnvironment(id, environment.name))];
}

/** All flags of the project lose their configuration in it. That includes archived flags, which nobody evaluates. */
export function removeProjectEnvironment(world: World, command: NamesProjectEnvironment): Decision {
  const { project: id, environment } = command;
  const project = locateProjectEnvironment(world, id, environment);
  if (isRefusal(project)) return project;
  const enabledCount = project.flags.enabledCount(environment);
  if (enabledCount > 0) {
    return invalidOperation(
      `The project "${id}" has flags that are enabled in "${environment}": ${enabledCount}. Disable them before removing it.`,
    );
  }
  return [newEvent('project-environment-removed', inProjectEnvironment(id, environment))];
}

/** The most bytes of a default strategy. Pages read those of all environments at once. */
export const DEFAULT_STRATEGY_BYTES_MAX = 64 * 1024;

interface SetDefaultStrategy extends NamesProjectEnvironment {
  readonly strategy: StrategyInput;
}

/** Sets the strategy that forms offer first for a new strategy in the environment. No flag gets it by itself. */
export function setDefaultStrategy(world: World, command: SetDefaultStrategy): Decision {
  const { project: id, environment } = command;
  const project = locateProjectEnvironment(world, id, environment);
  if (isRefusal(project)) return project;
  const preData = project.defaultStrategies.get(environment) ?? null;
  const data = defaultStrategyOf(command.strategy);
  const issue = strategyIssue(data, preData);
  if (issue !== null) return invalid(issue.message, `/body${issue.path}`);
  const what = `The default strategy of the project "${id}" in "${environment}"`;
  const refusal =
    refuseUnknownReferences(world, { flag: { project: id }, before: preData, after: data }) ??
    refuseLargerThan(DEFAULT_STRATEGY_BYTES_MAX, what, data);
  if (refusal !== null) return refusal;
  if (jsonEqual(data, preData)) return UNCHANGED;
  return [{ type: 'default-strategy-updated', ...inProjectEnvironment(id, environment), data, preData }];
}
