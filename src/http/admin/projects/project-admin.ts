/** Routes that list, create, change and delete projects. */
import * as v from 'valibot';
import { each, inTurns } from '../../../actors/turn.ts';
import { RULES_INPUT_ENTRIES } from '../../../domain/flags/project-rules.ts';
import { described, list, titled } from '../../../domain/json/schema.ts';
import { textOrder } from '../../../domain/state/directory-records.ts';
import type { ProjectSettings } from '../../../domain/state/world.ts';
import { JSON_HEADERS, jsonResponse } from '../../serving/json-response.ts';
import {
  type ReadResponse,
  type RequestContext,
  readRoute,
  underTag,
  writeRoute,
} from '../../serving/route.ts';
import { lineOfText, ProjectIdSchema, TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';
import { ProjectSchema, ProjectsSchema } from '../schemas/directory-schemas.ts';
import { favoriteProjects, projectSummaryView, projectView, settingsView } from '../views/directory-views.ts';
import { projectFigures } from '../views/project-figures.ts';
import { recorded } from '../views/responses.ts';
import { sortedInTurns } from '../views/sorted-page.ts';

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

interface ProjectHead {
  readonly settings: ProjectSettings;
}

const byNameAndId = ({ settings: one }: ProjectHead, { settings: other }: ProjectHead): number =>
  textOrder(one.name, other.name) || textOrder(one.id, other.id);

/** All projects by name, as they are at the moment of the call: there may be thousands. */
async function projectList(context: RequestContext<unknown>): Promise<ReadResponse> {
  const { engine, world, caller, now, requester } = context;
  const { lastId } = engine;
  const favorites = new Set(favoriteProjects(world, caller));
  const heads = await sortedInTurns(
    [...world.projects.values()].map((project) => ({
      project,
      settings: project.settings,
      memberCount: project.members.size,
    })),
    byNameAndId,
    requester,
  );
  const projects = heads.map(({ project }) => project);
  const figures = await projectFigures(projects, now(), requester);
  const texts: string[] = [];
  const add = (head: (typeof heads)[number]): void => {
    const isFavorite = favorites.has(head.settings.id);
    const view = projectSummaryView(world, head, { figures: figures[texts.length]!, isFavorite });
    texts.push(JSON.stringify(view));
  };
  await inTurns(each(heads, add), requester);
  const body = `{"version":1,"projects":[${texts.join(',')}]}`;
  return { revision: lastId, response: { status: 200, headers: JSON_HEADERS, body } };
}

export const projectAdminRoutes = underTag('Projects', [
  readRoute(`GET ${PROJECTS}`, {
    operationId: 'getProjects',
    summary: 'List the projects by name.',
    success: { status: 200, schema: ProjectsSchema },
    read: projectList,
  }),
  writeRoute(`POST ${PROJECTS}`, {
    operationId: 'createProject',
    summary: 'Create a project, of which a user who creates it becomes the Owner.',
    permission: 'project:create',
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
    respond: (_, events) => jsonResponse(201, settingsView(recorded(events, 'project-created').data)),
  }),
  writeRoute(`PUT ${PROJECT}`, {
    operationId: 'updateProject',
    summary: "Change a project's settings.",
    permission: 'project:write',
    needs: ['UPDATE_PROJECT'],
    locate: locate.project,
    pinned: pins.project,
    body: UpdateProjectBody,
    success: { status: 200, schema: ProjectSchema },
    command: ({ params, body }) => ({ type: 'update-project', project: params.projectId, fields: body }),
    respond: ({ world, params }) =>
      jsonResponse(200, projectView(world, locate.present(locate.project(world, params)))),
  }),
  writeRoute(`PUT ${PROJECT}/settings`, {
    operationId: 'updateProjectEnterpriseSettings',
    summary: "Change a project's mode, default stickiness, and rules for new flags.",
    permission: 'project:write',
    needs: ['PROJECT_SETTINGS_WRITE'],
    locate: locate.project,
    pinned: pins.project,
    body: ProjectSettingsBody,
    command: ({ params, body }) => ({ type: 'update-project', project: params.projectId, fields: body }),
  }),
  writeRoute(`DELETE ${PROJECT}`, {
    operationId: 'deleteProject',
    summary: 'Delete a project with its archived flags.',
    permission: 'project:write',
    needs: ['DELETE_PROJECT'],
    locate: locate.project,
    pinned: pins.project,
    command: ({ params }) => ({ type: 'delete-project', project: params.projectId }),
  }),
]);
