/** API tokens: credentials of programs. Admins see those of all projects, and who may write a project those of this one. */

import * as v from 'valibot';
import type { Need, PermissionName } from '../../domain/access/permissions.ts';
import type { Command } from '../../domain/decide/decide.ts';
import {
  described,
  lineOfText,
  list,
  NullableTimestamp,
  TEXT_LENGTH_MAX,
  Timestamp,
  titled,
} from '../../domain/json/schema.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import { defaultEnvironment } from '../../domain/state/locate.ts';
import {
  invalid,
  invalidOperation,
  isRefusal,
  notFound,
  type Refusal,
  refuse,
} from '../../domain/state/refusal.ts';
import { ALL, type ApiToken, type World } from '../../domain/state/world.ts';
import { type Caller, digestOf, mayDo } from '../serving/access.ts';
import { makeTokenSecret, secretAgain, secretOf } from '../serving/fresh-secret.ts';
import type { Params } from '../serving/params.ts';
import { type Guard, type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { DateTimeSchema } from './bodies.ts';
import * as locate from './locators.ts';
import type { TokensSeen } from './personal-tokens.ts';
import { listResponse, PAGED, recorded } from './responses.ts';
import { timeOrNull } from './views.ts';

const API_TOKEN_FIELDS = {
  digest: described(
    v.string(),
    'SHA-256 of the secret, which can be used in place of the secret to name the token. The secret itself is not stored.',
  ),
  tokenName: v.string(),
  username: described(v.string(), 'The same as tokenName.'),
  type: v.picklist(['admin', 'client', 'frontend']),
  environment: v.string(),
  project: v.string(),
  projects: v.array(v.string()),
  createdAt: Timestamp,
  expiresAt: NullableTimestamp,
  seenAt: NullableTimestamp,
  alias: v.nullable(v.string()),
  secure: described(v.literal(true), 'The secret is stored as a digest only.'),
} as const;

const ApiTokenSchema = titled('ApiToken', {
  ...API_TOKEN_FIELDS,
  secret: described(
    v.string(),
    'The secret, for who presents it, or may make such tokens where API_TOKEN_KEY is set; else its digest again.',
  ),
});

const NewApiTokenSchema = titled('NewApiToken', {
  ...API_TOKEN_FIELDS,
  secret: described(v.string(), 'Shown in this response and, without API_TOKEN_KEY, never again.'),
});

const ApiTokensSchema = titled('ApiTokens', { tokens: v.array(ApiTokenSchema) });

/** Clients insist on the field secret: where it is not known, its digest stands there. */
function apiTokenView({ seed: _, ...token }: ApiToken, seen: TokensSeen, secret = token.digest) {
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

const TOKENS = '/api-tokens';
const TOKEN = `${TOKENS}/:token`;

/** Projects that one token names. */
const PROJECTS_MAX = 100;

const TYPE_PHRASE = 'one of admin, client, frontend, backend';
const NameSchema = lineOfText('a name', 1, TEXT_LENGTH_MAX);

/** Fields of the body that creates a token. */
const TOKEN_ENTRIES = {
  tokenName: v.optional(NameSchema),
  username: described(v.optional(NameSchema), 'The older name of tokenName.'),
  type: v.pipe(
    v.string(TYPE_PHRASE),
    v.transform((type) => type.toLowerCase()),
    v.picklist(['admin', 'client', 'frontend', 'backend'], TYPE_PHRASE),
    v.description('In any case. The word backend means client.'),
    v.transform((type) => (type === 'backend' ? 'client' : type)),
  ),
  environment: described(
    v.optional(v.string()),
    'The environment in which a client or frontend token is valid; when it is not sent, the one named default, or ' +
      'else the first in order. An admin token is valid in all of them, *.',
  ),
  project: described(v.optional(v.string()), 'In place of projects, for one.'),
  projects: described(
    v.optional(
      v.pipe(
        list(v.string(), 'a list of project ids'),
        v.minLength(1, 'a list of at least one project id'),
        v.maxLength(PROJECTS_MAX, `a list of at most ${PROJECTS_MAX} project ids`),
      ),
    ),
    'Ids, or * for every project, which is the default.',
  ),
  expiresAt: v.optional(v.nullable(DateTimeSchema), null),
} as const;

const CreateTokenBody = titled('CreateApiToken', TOKEN_ENTRIES);

const UpdateTokenBody = titled('UpdateApiToken', {
  expiresAt: described(v.nullable(DateTimeSchema), 'Null: the token does not expire.'),
});

type TokenFields = Omit<ApiToken, 'digest' | 'createdAt' | 'seed'>;

/** The body in its normal form. Whether the things it names exist is decided with the command. */
function tokenFields(world: World, body: v.InferOutput<typeof CreateTokenBody>): TokenFields | Refusal {
  const { type, expiresAt } = body;
  if (body.tokenName !== undefined && body.username !== undefined) {
    const message =
      'The fields tokenName and username are two names of one thing; only one of them may be sent.';
    return invalid(message, '/body/username');
  }
  const tokenName = body.tokenName ?? body.username;
  if (tokenName === undefined) return invalid('The field tokenName is required.', '/body/tokenName');
  const environment = body.environment ?? (type === 'admin' ? ALL : defaultEnvironment(world));
  if (environment === undefined) {
    return invalid(
      `A ${type} token is valid in one environment, and there is none; create one first.`,
      '/body/environment',
    );
  }
  const named = [...new Set(body.projects ?? [body.project ?? ALL])];
  const projects = named.includes(ALL) ? [ALL] : named;
  return { tokenName, type, environment, projects, expiresAt };
}

/** `[]` stands for several projects, whose names would be too long. */
function secretPrefix({ projects, environment }: TokenFields): string {
  const [first = ALL] = projects;
  return `${projects.length > 1 ? '[]' : first}:${environment}.`;
}

/** The command that creates a token with a new secret. */
function creation(
  context: RequestContext<unknown>,
  body: v.InferOutput<typeof CreateTokenBody>,
): Command<'create-api-token'> | Refusal {
  const fields = tokenFields(context.world, body);
  if (isRefusal(fields)) return fields;
  const made = makeTokenSecret(context, secretPrefix(fields), context.instance.tokenKey);
  return { type: 'create-api-token', token: { ...made, ...fields } };
}

/** The new token with its secret. */
function created(context: RequestContext<unknown>, _: object, events: readonly DomainEvent[]) {
  const { data, hidden } = recorded(events, 'api-token-created');
  return apiTokenView({ digest: hidden.digest, ...data }, context.usage.seen, secretOf(context));
}

const tokenDigest = ({ directory }: World, params: Params): string =>
  locate.secretDigest(directory.apiTokens, params);

type Act = 'READ' | 'CREATE' | 'UPDATE' | 'DELETE';

const needsFor = (act: Act): readonly PermissionName[] => [
  `${act}_CLIENT_API_TOKEN`,
  `${act}_FRONTEND_API_TOKEN`,
];

interface Requester {
  readonly world: World;
  readonly caller: Caller;
}

/** Whether the caller may do this with tokens of the type. Those of admins are for Admins alone. */
function mayWith({ world, caller }: Requester, act: Act, type: ApiToken['type']): boolean {
  const needs: readonly PermissionName[] =
    type === 'admin' ? [] : [`${act}_${type === 'client' ? 'CLIENT' : 'FRONTEND'}_API_TOKEN`];
  return mayDo(world, caller, { permission: 'admin', needs }, { projectId: null, environment: null });
}

const noRight = (type: ApiToken['type']): Refusal =>
  refuse('NoAccessError', `You lack the permission to do this with ${type} tokens; ask an Admin for it.`);

/**
 * A token as the caller may see it: with its secret where the caller presents it, or may make such tokens and the secret
 * can be made again; with the digest in its place otherwise.
 */
function shownToken(context: RequestContext<unknown>, token: ApiToken, presented?: string) {
  const { usage, instance } = context;
  const mayMake = mayWith(context, 'CREATE', token.type) || mayInProject(context, 'CREATE', token);
  const secret = presented ?? (mayMake ? secretAgain(token, instance.tokenKey) : null);
  return apiTokenView(token, usage.seen, secret ?? token.digest);
}

/** Tokens that the caller may read. `presented` is the secret of all that are wanted. */
function tokensFor(
  context: RequestContext<unknown>,
  isWanted: (token: ApiToken) => boolean,
  presented?: string,
) {
  const readable = new Set(
    (['admin', 'client', 'frontend'] as const).filter((type) => mayWith(context, 'READ', type)),
  );
  const { apiTokens } = context.world.directory;
  const tokens = [...apiTokens.values()].filter((token) => readable.has(token.type) && isWanted(token));
  const view = (token: ApiToken) => shownToken(context, token, presented);
  return listResponse(context, { name: 'tokens', items: tokens, view });
}

/** Refuses a caller who may not do this with tokens of that type. */
const guardFor =
  (act: Act): Guard =>
  (world, caller, [event]) => {
    const token = (event?.data ?? event?.preData) as unknown as TokenFields;
    if (mayWith({ world, caller }, act, token.type)) return null;
    return mayInProject({ world, caller }, act, token) ? null : noRight(token.type);
  };

/** Whether the token is of one project alone, whose tokens the caller may make and delete. */
function mayInProject({ world, caller }: Requester, act: Act, { type, projects }: TokenFields): boolean {
  const [projectId, ...others] = projects;
  if (type === 'admin' || projectId === undefined || others.length > 0) return false;
  if (act !== 'CREATE' && act !== 'DELETE') return false;
  const need: Need = { permission: 'project:write', needs: [`${act}_PROJECT_API_TOKEN`] };
  return world.projects.has(projectId) && mayDo(world, caller, need, { projectId, environment: null });
}

export const apiTokenRoutes = underTag('API tokens', [
  readRoute(`GET ${TOKENS}`, {
    operationId: 'getAllApiTokens',
    summary: 'List the API tokens, with digests in the place of secrets that cannot be shown again.',
    needsOneOf: needsFor('READ'),
    ...PAGED,
    success: { status: 200, schema: ApiTokensSchema },
    read: (context) => tokensFor(context, () => true),
  }),
  readRoute(`GET ${TOKEN}`, {
    operationId: 'getApiTokensByName',
    summary:
      'List the API tokens with a name, which several may have, or the one with a secret, which is then shown.',
    needsOneOf: needsFor('READ'),
    ...PAGED,
    success: { status: 200, schema: ApiTokensSchema },
    read: (context) => {
      const { token } = context.params;
      const own = context.world.directory.apiTokens.get(digestOf(token));
      if (own !== undefined) return tokensFor(context, (one) => one === own, token);
      return tokensFor(context, ({ tokenName }) => tokenName === token);
    },
  }),
  writeRoute(`POST ${TOKENS}`, {
    operationId: 'createApiToken',
    summary: 'Create an API token. Only this response shows its secret, unless API_TOKEN_KEY is set.',
    needsOneOf: needsFor('CREATE'),
    body: CreateTokenBody,
    success: { status: 201, schema: NewApiTokenSchema },
    guard: guardFor('CREATE'),
    secretField: 'secret',
    command: (context) => creation(context, context.body),
    shows: created,
  }),
  writeRoute(`PUT ${TOKEN}`, {
    operationId: 'updateApiToken',
    summary:
      'Change when an API token expires. It is named by its secret or its digest; nothing happens to an unknown one.',
    needsOneOf: needsFor('UPDATE'),
    guard: guardFor('UPDATE'),
    body: UpdateTokenBody,
    command: ({ world, params, body }) => ({
      type: 'update-api-token',
      digest: tokenDigest(world, params),
      expiresAt: body.expiresAt,
    }),
  }),
  writeRoute(`DELETE ${TOKEN}`, {
    operationId: 'deleteApiToken',
    summary:
      'Delete an API token. It is named by its secret or its digest; nothing happens to an unknown one.',
    needsOneOf: needsFor('DELETE'),
    guard: guardFor('DELETE'),
    command: ({ world, params }) => ({ type: 'delete-api-token', digest: tokenDigest(world, params) }),
  }),
]);

// Tokens of one project.

const PROJECT_TOKENS = '/projects/:projectId/api-tokens';

const CreateProjectTokenBody = titled('CreateProjectApiToken', TOKEN_ENTRIES);

const isFor = ({ projects }: ApiToken, projectId: string): boolean => projects.includes(projectId);

export const projectTokenRoutes = underTag('API tokens', [
  readRoute(`GET ${PROJECT_TOKENS}`, {
    operationId: 'getProjectApiTokens',
    summary:
      'List the API tokens that name a project, with digests in the place of secrets that cannot be shown again.',
    needs: ['READ_PROJECT_API_TOKEN'],
    locate: locate.project,
    ...PAGED,
    success: { status: 200, schema: ApiTokensSchema },
    read: (context, { settings }) => {
      const { apiTokens } = context.world.directory;
      return listResponse(context, {
        name: 'tokens',
        items: [...apiTokens.values()].filter((token) => isFor(token, settings.id)),
        view: (token) => shownToken(context, token),
      });
    },
  }),
  writeRoute(`POST ${PROJECT_TOKENS}`, {
    operationId: 'createProjectApiToken',
    summary: 'Create a client or frontend token for a project. Only this response shows its secret.',
    needs: ['CREATE_PROJECT_API_TOKEN'],
    locate: locate.project,
    body: CreateProjectTokenBody,
    success: { status: 201, schema: NewApiTokenSchema },
    guard: guardFor('CREATE'),
    secretField: 'secret',
    command: (context) => {
      const { body, params } = context;
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
      return creation(context, { ...body, projects: [projectId] });
    },
    shows: created,
  }),
  writeRoute(`DELETE ${PROJECT_TOKENS}/:token`, {
    operationId: 'deleteProjectApiToken',
    summary: 'Delete an API token of a project, named by its secret or its digest.',
    needs: ['DELETE_PROJECT_API_TOKEN'],
    guard: guardFor('DELETE'),
    locate: locate.project,
    command: ({ world, params }) => {
      const digest = tokenDigest(world, params);
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
  }),
]);
