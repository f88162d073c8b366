/**
 * Decisions on API tokens. Commands carry the digest of a secret and never the secret itself, and events carry the
 * digest in a field that no reader sees.
 */

import { relatedEvents } from '../growth/refuse-size.ts';
import { isExpired, refuseLastAdminToken, SUCCESSOR_MS } from '../people/personal-token-commands.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING, type ApiTokenData, type DomainEvent } from '../state/events.ts';
import { refuseUnknownProjects } from '../state/locate.ts';
import { invalid, invalidOperation, type Refusal } from '../state/refusal.ts';
import type { ApiToken, World } from '../state/world.ts';

/** Stands for every project, or for every environment. */
export const ALL = '*';

/**
 * API tokens of the service. Each may name 100 projects; to change all of them when a project is deleted takes 6 ms, and a
 * list of them 20 MB. Unleash takes as many unless it is set.
 */
export const API_TOKENS_MAX = 2_000;

export interface CreateApiToken {
  readonly type: 'create-api-token';
  readonly token: Omit<ApiToken, 'createdAt'>;
}

export function createApiToken(world: World, { token }: CreateApiToken, context: DecideContext): Decision {
  const refusal = refuseScope(world, token);
  if (refusal !== null) return refusal;
  if (world.directory.apiTokens.size >= API_TOKENS_MAX) {
    return invalidOperation(`There are ${API_TOKENS_MAX} API tokens, and there cannot be more.`);
  }
  const { digest, ...fields } = token;
  const data: ApiTokenData = { ...fields, createdAt: context.now };
  return [{ type: 'api-token-created', ...ABOUT_NOTHING, data, preData: null, hidden: { digest } }];
}

/** An admin token is valid everywhere; others are valid in one environment, for projects that exist. */
function refuseScope(world: World, { type, projects, environment }: CreateApiToken['token']): Refusal | null {
  if (type === 'admin') {
    if (environment !== ALL) {
      return invalid(
        'An admin token is valid in every environment and cannot be limited to one.',
        '/body/environment',
      );
    }
    const everywhere = projects.length === 1 && projects[0] === ALL;
    return everywhere
      ? null
      : invalid('An admin token is valid for every project and cannot be limited to some.', '/body/projects');
  }
  if (!world.directory.environments.some((one) => one.name === environment)) {
    const known = world.directory.environments.map((one) => one.name).join(', ');
    return invalid(
      `A ${type} token is valid in one environment, one of ${known}; there is no environment "${environment}".`,
      '/body/environment',
    );
  }
  return refuseUnknownProjects(world, projects);
}

export interface UpdateApiToken {
  readonly type: 'update-api-token';
  readonly digest: string;
  readonly expiresAt: string | null;
}

/** Nothing happens to an unknown token (docs/specification/companions.md#api-tokens). */
export function updateApiToken(
  world: World,
  { digest, expiresAt }: UpdateApiToken,
  { clockMs }: DecideContext,
): Decision {
  const token = world.directory.apiTokens.get(digest);
  if (token === undefined || token.expiresAt === expiresAt) return UNCHANGED;
  const refusal = isExpired(expiresAt, clockMs + SUCCESSOR_MS)
    ? refuseLastAdminToken(world, digest, clockMs)
    : null;
  return refusal ?? [tokenUpdated(token, { ...token, expiresAt })];
}

export interface DeleteApiToken {
  readonly type: 'delete-api-token';
  readonly digest: string;
}

/** Nothing happens to an unknown token here either: it is gone, as was asked. */
export function deleteApiToken(
  world: World,
  { digest }: DeleteApiToken,
  { clockMs }: DecideContext,
): Decision {
  const token = world.directory.apiTokens.get(digest);
  if (token === undefined) return UNCHANGED;
  return refuseLastAdminToken(world, digest, clockMs) ?? [tokenDeleted(token)];
}

export function tokensOfEnvironmentDeleted(world: World, environment: string): DomainEvent[] {
  const tokens = [...world.directory.apiTokens.values()];
  return relatedEvents(
    tokens.filter((token) => token.environment === environment),
    tokenDeleted,
  );
}

/** A token for this project alone is deleted with it; a token for several stays valid for the others. */
export function tokensOfProjectChanged(world: World, project: string): DomainEvent[] {
  const tokens = [...world.directory.apiTokens.values()].filter((token) => token.projects.includes(project));
  return relatedEvents(tokens, (token) => {
    const projects = token.projects.filter((id) => id !== project);
    return projects.length === 0 ? tokenDeleted(token) : tokenUpdated(token, { ...token, projects });
  });
}

function tokenUpdated({ digest, ...preData }: ApiToken, after: ApiToken): DomainEvent {
  const { digest: _, ...data } = after;
  return { type: 'api-token-updated', ...ABOUT_NOTHING, data, preData, hidden: { digest } };
}

function tokenDeleted({ digest, ...preData }: ApiToken): DomainEvent {
  return { type: 'api-token-deleted', ...ABOUT_NOTHING, data: null, preData, hidden: { digest } };
}
