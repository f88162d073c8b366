/** The environments that a project has. */

import * as v from 'valibot';
import { StrategyInputSchema } from '../../domain/flags/strategy.ts';
import { Integer, titled, Version } from '../../domain/json/schema.ts';
import { ALL, type ProjectState, projectEnvironments, type World } from '../../domain/state/world.ts';
import { readRoute, underTag, writeRoute } from '../serving/route.ts';
import { ENVIRONMENT_FIELDS, environmentView } from './environments.ts';
import * as locate from './locators.ts';
import { defaultStrategyIn } from './project-overview-view.ts';
import { CHANGE } from './projects.ts';
import { DefaultStrategySchema } from './schemas.ts';

const ProjectEnvironmentsSchema = titled('ProjectEnvironments', {
  version: Version,
  environments: v.array(
    titled('ProjectEnvironment', {
      ...ENVIRONMENT_FIELDS,
      projectApiTokenCount: Integer,
      projectEnabledToggleCount: Integer,
      defaultStrategy: v.exactOptional(DefaultStrategySchema),
    }),
  ),
});

function projectEnvironmentViews(world: World, project: ProjectState) {
  const tokens = [...world.directory.apiTokens.values()].filter(
    ({ projects }) => projects.includes(project.settings.id) || projects.includes(ALL),
  );
  return projectEnvironments(world, project).map((environment) => ({
    ...environmentView(environment),
    projectApiTokenCount: tokens.filter((token) => token.environment === environment.name).length,
    projectEnabledToggleCount: project.flags.enabledCount(environment.name),
    ...defaultStrategyIn(world, project, environment.name),
  }));
}

export const ENVIRONMENTS = '/projects/:projectId/environments';

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
