/** API tokens of one project, for those who may write the project. Tokens of all projects are in api-tokens.ts. */
import * as v from 'valibot';
import { invalid, invalidOperation, isRefusal, notFound } from '../../../domain/state/refusal.ts';
import type { ApiToken } from '../../../domain/state/world.ts';
import { makeTokenSecret, secretOf } from '../../serving/fresh-secret.ts';
import { emptyResponse, jsonResponse } from '../../serving/json-response.ts';
import { type Route, readRoute, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { ApiTokensSchema, NewApiTokenSchema } from '../schemas/directory-schemas.ts';
import { apiTokenView } from '../views/directory-views.ts';
import { LIST_PAGE, listResponse } from '../views/list-response.ts';
import { recorded } from '../views/responses.ts';
import { secretPrefix, shownToken, TOKEN_ENTRIES, tokenFields } from './api-tokens.ts';

const TOKENS = '/projects/:projectId/api-tokens';

const CreateTokenBody = v.pipe(v.object(TOKEN_ENTRIES), v.title('CreateProjectApiToken'));

const isFor = ({ projects }: ApiToken, projectId: string): boolean => projects.includes(projectId);

export const projectTokenRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: TOKENS,
    operationId: 'getProjectApiTokens',
    tag: 'API tokens',
    summary:
      'List the API tokens that name a project, with digests in the place of secrets that cannot be shown again.',
    permission: 'project:write',
    needs: ['READ_PROJECT_API_TOKEN'],
    locate: locate.project,
    query: LIST_PAGE.parameters,
    success: { status: 200, schema: ApiTokensSchema },
    refusals: ['ValidationError', 'PayloadTooLargeError'],
    read: (context, { settings }) => {
      const { apiTokens } = context.world.directory;
      return listResponse(context, {
        name: 'tokens',
        items: [...apiTokens.values()].filter((token) => isFor(token, settings.id)),
        view: (token) => shownToken(context, token),
      });
    },
  }),
  writeRoute({
    method: 'POST',
    path: TOKENS,
    operationId: 'createProjectApiToken',
    tag: 'API tokens',
    summary: 'Create a client or frontend token for a project. Only this response shows its secret.',
    permission: 'project:write',
    needs: ['CREATE_PROJECT_API_TOKEN'],
    locate: locate.project,
    body: CreateTokenBody,
    success: { status: 201, schema: NewApiTokenSchema },
    refusals: ['InvalidOperationError'],
    secretField: 'secret',
    command: (context) => {
      const { body, params, world } = context;
      const { projectId } = params;
      if (body.type === 'admin') {
        return invalid(
          'A token of a project is a client or a frontend token, not an admin token.',
          '/body/type',
        );
      }
      const named = body.projects ?? [body.project ?? projectId];
      if (named.some((id) => id !== projectId)) {
        const path = body.projects === undefined ? '/body/project' : '/body/projects';
        return invalid(`A token of the project "${projectId}" is for this project alone.`, path);
      }
      const fields = tokenFields(world, { ...body, projects: [projectId] });
      if (isRefusal(fields)) return fields;
      const made = makeTokenSecret(context, secretPrefix(fields), context.instance.tokenKey);
      return { type: 'create-api-token', token: { ...made, ...fields } };
    },
    respond: (context, events) => {
      const { data, hidden } = recorded(events, 'api-token-created');
      const token = { digest: hidden.digest, ...data };
      return jsonResponse(201, apiTokenView(token, context.usage.seen, secretOf(context)));
    },
  }),
  writeRoute({
    method: 'DELETE',
    path: `${TOKENS}/:token`,
    operationId: 'deleteProjectApiToken',
    tag: 'API tokens',
    summary: 'Delete an API token of a project, named by its secret or its digest.',
    permission: 'project:write',
    needs: ['DELETE_PROJECT_API_TOKEN'],
    locate: locate.project,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'NotFoundError'],
    command: ({ world, params }) => {
      const digest = locate.tokenDigest(world, params);
      const token = world.directory.apiTokens.get(digest);
      if (token === undefined || !isFor(token, params.projectId)) {
        return notFound(`The project "${params.projectId}" has no such API token.`);
      }
      if (token.projects.length > 1) {
        return invalidOperation(
          `The token "${token.tokenName}" is for other projects, too; an Admin deletes it at /api-tokens.`,
        );
      }
      return { type: 'delete-api-token', digest };
    },
    respond: () => emptyResponse(200),
  }),
];
