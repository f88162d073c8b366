/** Routes about projects, their environments, and lists of their flags (docs/specification/flags.md#overview). */

import * as v from 'valibot';
import { ENVIRONMENTS_MAX } from '../../domain/decide/environment-commands.ts';
import { STALENESS } from '../../domain/flags/lifetime.ts';
import { RULES_INPUT_ENTRIES } from '../../domain/flags/project-rules.ts';
import {
  described,
  Integer,
  lineOfText,
  list,
  listUpTo,
  Percent,
  TEXT_LENGTH_MAX,
  Timestamp,
  titled,
  Version,
} from '../../domain/json/schema.ts';
import { textOrder } from '../../domain/state/directory-records.ts';
import { isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { ProjectState } from '../../domain/state/world.ts';
import { projectEnvironments, type World } from '../../domain/state/world.ts';
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
import { ProjectIdSchema, RequiredApprovalsSchema } from './bodies.ts';
import { callerFavorites } from './favorites.ts';
import * as locate from './locators.ts';
import { healthOf, type ProjectFigures, projectFigures } from './project-figures.ts';
import { ProjectSummaryOverviewSchema, projectOverviewView } from './project-overview-view.ts';
import { choiceIn } from './query-parameters.ts';
import { filteredFlagList, flagList, type ListSources, projectOverview } from './render-project.ts';
import { listOf, listsResponse, PAGED, pinnedResponse, recorded } from './responses.ts';
import { FlagListSchema, ProjectOverviewSchema } from './schemas.ts';
import { shown } from './shown.ts';
import { sortedInTurns } from './sorted-page.ts';

const PROJECT_FIELDS = {
  id: v.string(),
  name: v.string(),
  description: v.exactOptional(v.string()),
  mode: v.picklist(['open', 'protected', 'private']),
  defaultStickiness: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  environments: described(v.array(v.string()), 'Names, in order.'),
} as const;

const ProjectSchema = titled('Project', PROJECT_FIELDS);

const ProjectsSchema = titled('Projects', {
  version: Version,
  projects: v.array(
    titled('ProjectSummary', {
      ...PROJECT_FIELDS,
      health: Percent,
      featureCount: Integer,
      staleFeatureCount: Integer,
      memberCount: Integer,
      favorite: v.boolean(),
    }),
  ),
});

function projectView(world: World, project: Pick<ProjectState, 'settings'>) {
  const environments = projectEnvironments(world, project).map(({ name }) => name);
  return shown(ProjectSchema, { ...project.settings, environments });
}

function projectSummaryView(
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

// The query parameter `state`, which narrows a list of flags to those that are active, potentially stale or stale.

const STATE_PARAMETER: Readonly<Record<'state', QueryParameter>> = {
  state: {
    description:
      'Lists flags in this state only: stale, potentially-stale (not stale, and older than the lifetime of their type) or active (neither).',
    schema: { type: 'string', enum: STALENESS },
  },
};

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
      const { settings } = project;
      return pinnedResponse(context, settings, await projectOverviewView(listSources(context), project));
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
      const state = choiceIn(context, 'state', STALENESS, null);
      if (isRefusal(state)) return state;
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

const ProtectedEnvironmentSchema = v.object({
  name: v.string(),
  requiredApprovals: v.optional(RequiredApprovalsSchema),
});

const CreateProjectBody = titled('CreateProject', {
  id: described(v.optional(ProjectIdSchema), 'Made from the name when it is not sent.'),
  name: NameSchema,
  environments: described(
    v.optional(list(v.string(), 'a list of environments')),
    'All environments that are enabled, when it is not sent or empty.',
  ),
  changeRequestEnvironments: described(
    v.optional(listUpTo(ENVIRONMENTS_MAX, 'environments', ProtectedEnvironmentSchema)),
    'Environments of the project that take changes by change request alone, besides those with `requiredApprovals` of their own.',
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
  const favorites = new Set(callerFavorites(world, caller)?.projects);
  const projects = await sortedInTurns([...world.projects.values()], byNameAndId, requester);
  const figures = await projectFigures(projects, { world, now: now() }, requester);
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

export const CHANGE = {
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
    command: ({
      body: { id, environments, changeRequestEnvironments: protectedEnvironments, ...fields },
    }) => ({
      type: 'create-project',
      id,
      environments,
      protectedEnvironments,
      fields,
    }),
    shows: (_, __, events) => shown(ProjectSchema, recorded(events, 'project-created').data),
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
