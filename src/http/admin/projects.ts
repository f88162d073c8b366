/** Routes about projects, their environments, and lists of their flags (docs/specification/flags.md#overview). */

import * as v from 'valibot';
import { STALENESS, type Staleness } from '../../domain/flags/lifetime.ts';
import { RULES_INPUT_ENTRIES } from '../../domain/flags/project-rules.ts';
import { StrategyInputSchema } from '../../domain/flags/strategy.ts';
import { shown } from '../../domain/json/issues.ts';
import { described, lineOfText, list, TEXT_LENGTH_MAX, titled } from '../../domain/json/schema.ts';
import { textOrder } from '../../domain/state/directory-records.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import { FILTER_PARAMETERS, filterOf, isFiltering } from '../serving/flag-filter.ts';
import { piecesBytesMax } from '../serving/read-path.ts';
import {
  type QueryParameter,
  type ReadResponse,
  type RequestContext,
  readRoute,
  underTag,
  writeRoute,
} from '../serving/route.ts';
import { ProjectIdSchema } from './bodies.ts';
import {
  ProjectEnvironmentsSchema,
  ProjectSchema,
  ProjectSummaryOverviewSchema,
  ProjectsSchema,
} from './directory-schemas.ts';
import {
  callerFavorites,
  favoriteProjects,
  projectEnvironmentViews,
  projectSummaryView,
  projectView,
  settingsView,
} from './directory-views.ts';
import * as locate from './locators.ts';
import { projectFigures } from './project-figures.ts';
import { defaultStrategyIn, projectOverviewView } from './project-overview-view.ts';
import { filteredFlagList, flagList, type ListSources, projectOverview } from './render-project.ts';
import { listOf, listsResponse, PAGED, pinnedResponse, recorded } from './responses.ts';
import { DefaultStrategySchema, FlagListSchema, ProjectOverviewSchema } from './schemas.ts';
import { sortedInTurns } from './sorted-page.ts';

// The query parameter `state`, which narrows a list of flags to those that are active, potentially stale or stale.

const STATE_PARAMETER: Readonly<Record<'state', QueryParameter>> = {
  state: {
    description:
      'Lists flags in this state only: stale, potentially-stale (not stale, and older than the lifetime of their type) or active (neither).',
    schema: { type: 'string', enum: STALENESS },
  },
};

/** Null: any state. The refusal is a 400. */
function stateOf(context: Pick<RequestContext<unknown>, 'query'>): Staleness | null | Refusal {
  const text = context.query('state');
  if (text === '') return null;
  return (
    STALENESS.find((one) => one === text) ??
    invalid(
      `The query parameter state must be one of ${STALENESS.join(', ')}, not ${shown(text)}.`,
      '/query/state',
    )
  );
}

export function listSources(context: RequestContext<unknown>): ListSources {
  const { world, caller, usage, requester, now } = context;
  return {
    world,
    favorites: callerFavorites(world, caller),
    seen: usage.seen,
    requester,
    bytesMax: piecesBytesMax(context),
    now: now(),
  };
}

export const projectRoutes = underTag('Projects', [
  readRoute('GET /projects/:projectId', {
    operationId: 'getProjectOverview',
    summary: 'Read a project with its flags.',
    locate: locate.project,
    success: { status: 200, schema: ProjectOverviewSchema },
    read: (context, project) => projectOverview(listSources(context), project),
  }),
  readRoute('GET /projects/:projectId/overview', {
    operationId: 'getProjectOverviewWithoutFeatures',
    summary: 'Read a project without its flags, with their number by type.',
    locate: locate.project,
    success: { status: 200, schema: ProjectSummaryOverviewSchema },
    read: async (context, project) => {
      const favorites = favoriteProjects(context.world, context.caller);
      const { settings } = project;
      const view = await projectOverviewView(
        { ...listSources(context), favoriteProjects: favorites },
        project,
      );
      return pinnedResponse(context, settings, view);
    },
  }),
  readRoute('GET /projects/:projectId/features', {
    operationId: 'listFeatures',
    tag: 'Features',
    summary: "List a project's flags.",
    locate: locate.project,
    success: { status: 200, schema: FlagListSchema },
    refusals: ['ValidationError'],
    query: { ...FILTER_PARAMETERS, ...STATE_PARAMETER },
    read: (context, project) => {
      const filter = filterOf(context);
      if (isRefusal(filter)) return filter;
      const state = stateOf(context);
      if (state !== null && isRefusal(state)) return state;
      return isFiltering(filter) || state !== null
        ? filteredFlagList(listSources(context), project, { filter, state })
        : flagList(listSources(context), project);
    },
  }),
]);

// Routes that list, create, change and delete projects.

const PROJECTS = '/projects';
const PROJECT = '/projects/:projectId';

const NameSchema = lineOfText('a name', 1, TEXT_LENGTH_MAX);

const SETTINGS_FIELDS = {
  description: v.optional(v.nullable(v.string('a string or null'))),
  mode: v.optional(v.picklist(['open', 'protected', 'private'], 'one of open, protected, private')),
  defaultStickiness: v.optional(lineOfText('the name of a context field', 1, TEXT_LENGTH_MAX)),
  ...RULES_INPUT_ENTRIES,
} as const;

const CreateProjectBody = titled('CreateProject', {
  id: described(v.optional(ProjectIdSchema), 'Made from the name when it is not sent.'),
  name: NameSchema,
  environments: described(
    v.optional(list(v.string(), 'a list of environments')),
    'All environments that are enabled, when it is not sent or empty.',
  ),
  ...SETTINGS_FIELDS,
});

const UpdateProjectBody = titled('UpdateProject', { name: v.optional(NameSchema), ...SETTINGS_FIELDS });

const ProjectSettingsBody = titled('ProjectSettings', {
  mode: SETTINGS_FIELDS.mode,
  defaultStickiness: SETTINGS_FIELDS.defaultStickiness,
  ...RULES_INPUT_ENTRIES,
});

const byNameAndId = ({ settings: one }: ProjectState, { settings: other }: ProjectState): number =>
  textOrder(one.name, other.name) || textOrder(one.id, other.id);

/** All projects by name, as they are at the moment of the call: there may be thousands. */
async function projectList(context: RequestContext<unknown>): Promise<ReadResponse | Refusal> {
  const { world, caller, now, requester } = context;
  const favorites = new Set(favoriteProjects(world, caller));
  const projects = await sortedInTurns([...world.projects.values()], byNameAndId, requester);
  const figures = await projectFigures(projects, now(), requester);
  const listed = listOf({
    name: 'projects',
    items: projects.entries(),
    view: ([at, project]) =>
      projectSummaryView(world, project, {
        figures: figures[at]!,
        isFavorite: favorites.has(project.settings.id),
      }),
  });
  return listsResponse(context, [listed], { version: 1 });
}

const CHANGE = {
  permission: 'project:write',
  locate: locate.project,
  pinned: locate.pinnedProject,
} as const;

export const projectAdminRoutes = underTag('Projects', [
  readRoute(`GET ${PROJECTS}`, {
    operationId: 'getProjects',
    summary: 'List the projects by name.',
    ...PAGED,
    success: { status: 200, schema: ProjectsSchema },
    read: projectList,
  }),
  writeRoute(`POST ${PROJECTS}`, {
    operationId: 'createProject',
    summary: 'Create a project, of which a user who creates it becomes the Owner.',
    needs: ['CREATE_PROJECT'],
    body: CreateProjectBody,
    success: { status: 201, schema: ProjectSchema },
    refusals: ['NameExistsError'],
    command: ({ body: { id, environments, ...fields } }) => ({
      type: 'create-project',
      id,
      environments,
      fields,
    }),
    shows: (_, __, events) => settingsView(recorded(events, 'project-created').data),
  }),
  writeRoute(`PUT ${PROJECT}`, {
    operationId: 'updateProject',
    summary: "Change a project's settings.",
    ...CHANGE,
    needs: ['UPDATE_PROJECT'],
    body: UpdateProjectBody,
    success: { status: 200, schema: ProjectSchema },
    command: ({ params, body }) => ({ type: 'update-project', project: params.projectId, fields: body }),
    shows: ({ world }, project) => projectView(world, project),
  }),
  writeRoute(`PUT ${PROJECT}/settings`, {
    operationId: 'updateProjectEnterpriseSettings',
    summary: "Change a project's mode, default stickiness, and rules for new flags.",
    ...CHANGE,
    needs: ['PROJECT_SETTINGS_WRITE'],
    body: ProjectSettingsBody,
    command: ({ params, body }) => ({ type: 'update-project', project: params.projectId, fields: body }),
  }),
  writeRoute(`DELETE ${PROJECT}`, {
    operationId: 'deleteProject',
    summary: 'Delete a project with its archived flags.',
    ...CHANGE,
    needs: ['DELETE_PROJECT'],
    command: ({ params }) => ({ type: 'delete-project', project: params.projectId }),
  }),
]);

// Routes about the environments that a project has.

const ENVIRONMENTS = '/projects/:projectId/environments';

const AddEnvironmentBody = titled('AddProjectEnvironment', { environment: v.string() });

export const projectEnvironmentRoutes = underTag('Environments', [
  readRoute('GET /environments/project/:projectId', {
    operationId: 'getProjectEnvironments',
    summary: 'List the environments of a project.',
    locate: locate.project,
    success: { status: 200, schema: ProjectEnvironmentsSchema },
    shows: ({ world }, project) => ({ version: 1, environments: projectEnvironmentViews(world, project) }),
  }),
  writeRoute(`POST ${ENVIRONMENTS}`, {
    operationId: 'addEnvironmentToProject',
    summary: 'Add an environment to a project and all its flags.',
    ...CHANGE,
    needs: ['UPDATE_PROJECT'],
    body: AddEnvironmentBody,
    refusals: ['NameExistsError'],
    command: ({ params, body }) => ({
      type: 'add-project-environment',
      project: params.projectId,
      environment: body.environment,
    }),
  }),
  writeRoute(`DELETE ${ENVIRONMENTS}/:environment`, {
    operationId: 'removeEnvironmentFromProject',
    summary: 'Remove an environment in which no flag is enabled from a project and all its flags.',
    ...CHANGE,
    needs: ['UPDATE_PROJECT'],
    locate: locate.projectEnvironment,
    command: ({ params: { projectId, environment } }) => ({
      type: 'remove-project-environment',
      project: projectId,
      environment,
    }),
  }),
  writeRoute(`POST ${ENVIRONMENTS}/:environment/default-strategy`, {
    operationId: 'addDefaultStrategyToProjectEnvironment',
    summary: 'Set what forms offer first for a new strategy in an environment of a project.',
    ...CHANGE,
    needs: ['PROJECT_DEFAULT_STRATEGY_WRITE'],
    locate: locate.projectEnvironment,
    body: StrategyInputSchema,
    success: { status: 200, schema: DefaultStrategySchema },
    command: ({ params: { projectId, environment }, body }) => ({
      type: 'set-default-strategy',
      project: projectId,
      environment,
      strategy: body,
    }),
    shows: ({ world, params }, project) =>
      defaultStrategyIn(world, project, params.environment).defaultStrategy,
  }),
]);
