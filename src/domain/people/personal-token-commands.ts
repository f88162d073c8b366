/**
 * Decisions on personal tokens, which are those of users. Commands carry the digest of a secret and never the secret
 * itself, and events carry the digest in a field that no reader sees.
 */
import { ADMIN_ROLE_ID } from '../access/roles.ts';
import type { DecideContext, Decision } from '../state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent, type PersonalTokenData } from '../state/events.ts';
import { locatePersonalToken, locateUser } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { ApiToken, PersonalToken, World } from '../state/world.ts';

/** Personal tokens of one user. Stops a script that makes one at each run and never removes any. */
export const PERSONAL_TOKENS_PER_USER_MAX = 100;

export interface CreatePersonalToken {
  readonly type: 'create-personal-token';
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
    return invalidOperation(
      `The user ${userId} has ${PERSONAL_TOKENS_PER_USER_MAX} personal tokens, and cannot have more.`,
    );
  }
  const id = world.directory.lastPersonalTokenId + 1;
  const data: PersonalTokenData = { id, userId, description, createdAt: context.now, expiresAt };
  return [{ type: 'pat-created', ...ABOUT_NOTHING, data, preData: null, hidden: { digest } }];
}

export interface DeletePersonalToken {
  readonly type: 'delete-personal-token';
  readonly userId: number;
  readonly id: number;
}

export function deletePersonalToken(
  world: World,
  { userId, id }: DeletePersonalToken,
  { clockMs }: DecideContext,
): Decision {
  const token = locatePersonalToken(world, userId, id);
  if (isRefusal(token)) return token;
  return refuseLastAdminToken(world, token.digest, clockMs) ?? [personalTokenDeleted(token)];
}

export function personalTokenDeleted({ digest, ...preData }: PersonalToken): DomainEvent {
  return { type: 'pat-deleted', ...ABOUT_NOTHING, data: null, preData, hidden: { digest } };
}

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
