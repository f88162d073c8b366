/**
 * Decisions on API tokens, and on personal tokens, which are those of users. Commands carry the digest of a secret and never the
 * secret itself, and events carry the digest in a field that no reader sees.
 */
import { ADMIN_ROLE_ID } from '../access/roles.ts';
import { relatedEvents } from '../growth/refuse-size.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { type DomainEvent, recordChange } from '../state/events.ts';
import { locatePersonalToken, locateUser, refuseUnknownProjects } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import { ALL, type ApiToken, type PersonalToken, type World } from '../state/world.ts';

/** Personal tokens of one user. Stops a script that makes one at each run and never removes any. */
export const PERSONAL_TOKENS_PER_USER_MAX = 100;

interface CreatePersonalToken {
  readonly userId: number;
  readonly digest: string;
  readonly description: string;
  readonly expiresAt: string;
}

/** The description tells the tokens of a user apart, so it must be unique. */
export function createPersonalToken(
  world: World,
  { userId, digest, description, expiresAt }: CreatePersonalToken,
  context: DecideContext,
): Decision {
  const user = locateUser(world, userId);
  if (isRefusal(user)) return user;
  if (isExpired(expiresAt, context.clockMs)) {
    return invalid(`A personal token must expire in the future, not at ${expiresAt}.`, '/body/expiresAt');
  }
  const others = personalTokensOf(world, userId);
  if (others.some((one) => one.description === description)) {
    return nameExists(`The user ${userId} has a personal token described as "${description}" already.`);
  }
  if (others.length >= PERSONAL_TOKENS_PER_USER_MAX) {
    return invalidOperation(`A user can have at most ${PERSONAL_TOKENS_PER_USER_MAX} personal tokens.`);
  }
  const id = world.directory.lastPersonalTokenId + 1;
  const token = { id, userId, digest, description, createdAt: context.now, expiresAt };
  return recordChange('personalTokens', null, token);
}

export function deletePersonalToken(
  world: World,
  { userId, id }: { readonly userId: number; readonly id: number },
  { clockMs }: DecideContext,
): Decision {
  const token = locatePersonalToken(world, userId, id);
  if (isRefusal(token)) return token;
  return refuseLastAdminToken(world, token.digest, clockMs) ?? recordChange('personalTokens', token, null);
}

export const personalTokensDeleted = (world: World, userId: number): DomainEvent[] =>
  personalTokensOf(world, userId).flatMap((token) => recordChange('personalTokens', token, null));

/** Personal tokens of the user in order of creation. */
export function personalTokensOf(world: World, userId: number): PersonalToken[] {
  return [...world.directory.personalTokens.values()].filter((token) => token.userId === userId);
}

/** The last token of an Admin stays good for as long at least, so that somebody can make another one with it. */
export const SUCCESSOR_MS = 24 * 60 * 60 * 1000;

/**
 * Refuses to end the last token that is good for everything: an admin token, or a personal token of a root Admin. One that
 * expires within a day is no other one. Nobody could make another one over HTTP (docs/specification/rights.md#last-admin-token).
 */
export function refuseLastAdminToken(world: World, digest: string, clockMs: number): Refusal | null {
  const { apiTokens, personalTokens, users } = world.directory;
  const isGood = (token: Pick<ApiToken, 'digest' | 'expiresAt'>) =>
    !isExpired(token.expiresAt, token.digest === digest ? clockMs : clockMs + SUCCESSOR_MS);
  const isAdminToken = (token: ApiToken) => token.type === 'admin' && isGood(token);
  const isOfAdmin = (token: PersonalToken) =>
    users.get(token.userId)?.rootRole === ADMIN_ROLE_ID && isGood(token);
  let isAdmin = false;
  for (const token of apiTokens.values()) {
    if (!isAdminToken(token)) continue;
    if (token.digest !== digest) return null;
    isAdmin = true;
  }
  for (const token of personalTokens.values()) {
    if (!isOfAdmin(token)) continue;
    if (token.digest !== digest) return null;
    isAdmin = true;
  }
  if (!isAdmin) return null;
  return invalidOperation(
    'This is the last token with the rights of an Admin; make another admin token, or a personal token of an Admin, first.',
  );
}

export function isExpired(expiresAt: string | null, clockMs: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= clockMs;
}

/**
 * API tokens of the service. Each may name 100 projects; to change all of them when a project is deleted takes 6 ms, and a
 * list of them 20 MB. Unleash takes as many unless it is set.
 */
export const API_TOKENS_MAX = 2_000;

interface CreateApiToken {
  readonly token: Omit<ApiToken, 'createdAt'>;
}

export function createApiToken(world: World, { token }: CreateApiToken, context: DecideContext): Decision {
  const refusal = refuseScope(world, token);
  if (refusal !== null) return refusal;
  if (world.directory.apiTokens.size >= API_TOKENS_MAX) {
    return invalidOperation(`The limit is ${API_TOKENS_MAX} API tokens. Delete one first.`);
  }
  return recordChange('apiTokens', null, { ...token, createdAt: context.now });
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

/** Nothing happens to an unknown token (docs/specification/companions.md#api-tokens). */
export function updateApiToken(
  world: World,
  { digest, expiresAt }: { readonly digest: string; readonly expiresAt: string | null },
  { clockMs }: DecideContext,
): Decision {
  const token = world.directory.apiTokens.get(digest);
  if (token === undefined || token.expiresAt === expiresAt) return UNCHANGED;
  const refusal = isExpired(expiresAt, clockMs + SUCCESSOR_MS)
    ? refuseLastAdminToken(world, digest, clockMs)
    : null;
  return refusal ?? recordChange('apiTokens', token, { ...token, expiresAt });
}

/** Nothing happens to an unknown token here either: it is gone, as was asked. */
export function deleteApiToken(
  world: World,
  { digest }: { readonly digest: string },
  { clockMs }: DecideContext,
): Decision {
  const token = world.directory.apiTokens.get(digest);
  if (token === undefined) return UNCHANGED;
  return refuseLastAdminToken(world, digest, clockMs) ?? recordChange('apiTokens', token, null);
}

export function tokensOfEnvironmentDeleted(world: World, environment: string): DomainEvent[] {
  const tokens = [...world.directory.apiTokens.values()].filter((one) => one.environment === environment);
  return relatedEvents(tokens, (token) => recordChange('apiTokens', token, null));
}

/** A token for this project alone is deleted with it; a token for several stays valid for the others. */
export function tokensOfProjectChanged(world: World, project: string): DomainEvent[] {
  const tokens = [...world.directory.apiTokens.values()].filter((token) => token.projects.includes(project));
  return relatedEvents(tokens, (token) => {
    const projects = token.projects.filter((id) => id !== project);
    return recordChange('apiTokens', token, projects.length === 0 ? null : { ...token, projects });
  });
}
