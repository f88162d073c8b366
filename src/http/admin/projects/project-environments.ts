/** Routes about the environments that a project has. */
import * as v from 'valibot';
import { StrategyInputSchema } from '../../../domain/flags/strategy.ts';
import { titled } from '../../../domain/json/schema.ts';
import { jsonResponse } from '../../serving/json-response.ts';
import { readRoute, underTag, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import * as pins from '../requests/pins.ts';
import { ProjectEnvironmentsSchema } from '../schemas/directory-schemas.ts';
import { DefaultStrategySchema } from '../schemas/schemas.ts';
import { projectEnvironmentViews } from '../views/directory-views.ts';
import { projectFigures } from '../views/project-figures.ts';
import { defaultStrategyIn } from '../views/project-overview-view.ts';
import { settledResponse } from '../views/responses.ts';

const ENVIRONMENTS = '/projects/:projectId/environments';

const AddEnvironmentBody = titled('AddProjectEnvironment', { environment: v.string() });

export const projectEnvironmentRoutes = underTag('Environments', [
  readRoute('GET /environments/project/:projectId', {
    operationId: 'getProjectEnvironments',
    summary: 'List the environments of a project.',
    locate: locate.project,
    success: { status: 200, schema: ProjectEnvironmentsSchema },
    read: async (context, project) => {
      const { world, now, requester } = context;
      const [figures] = await projectFigures([project], now(), requester);
      const environments = projectEnvironmentViews(world, project, figures!);
      return settledResponse(context, { version: 1, environments });
    },
  }),
  writeRoute(`POST ${ENVIRONMENTS}`, {
    operationId: 'addEnvironmentToProject',
    summary: 'Add an environment to a project and all its flags.',
    permission: 'project:write',
    needs: ['UPDATE_PROJECT'],
    locate: locate.project,
    pinned: pins.project,
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
    permission: 'project:write',
    needs: ['UPDATE_PROJECT'],
    locate: locate.projectEnvironment,
    pinned: pins.project,
    command: ({ params: { projectId, environment } }) => ({
      type: 'remove-project-environment',
      project: projectId,
      environment,
    }),
  }),
  writeRoute(`POST ${ENVIRONMENTS}/:environment/default-strategy`, {
    operationId: 'addDefaultStrategyToProjectEnvironment',
    summary: 'Set what forms offer first for a new strategy in an environment of a project.',
    permission: 'project:write',
    needs: ['PROJECT_DEFAULT_STRATEGY_WRITE'],
    locate: locate.projectEnvironment,
    pinned: pins.project,
    body: StrategyInputSchema,
    success: { status: 200, schema: DefaultStrategySchema },
    command: ({ params: { projectId, environment }, body }) => ({
      type: 'set-default-strategy',
      project: projectId,
      environment,
      strategy: body,
    }),
    respond: ({ world, params }) => {
      const project = locate.present(locate.project(world, params));
      return jsonResponse(200, defaultStrategyIn(world, project, params.environment).defaultStrategy);
    },
  }),
]);
