/**
 * Decisions on sessions of browsers. The log shows their beginning and their end as those of personal tokens, which they
 * are in all but name: its list of types is closed, and a program that watches it for new credentials sees these too.
 */
import { isOfSame, type Session, type SignIn } from '../../domain/access/sessions.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { ABOUT_NOTHING, type DomainEvent, type SessionData } from '../../domain/state/events.ts';
import { refuse } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { API_TOKEN_USER_ID } from '../../http/serving/access.ts';

const DESCRIPTIONS: Readonly<Record<SignIn, string>> = {
  token: 'Session of a browser, begun with a token',
  password: 'Session of a browser, begun with a password',
  provider: 'Session of a browser, begun with OpenID Connect',
};

/** The beginning of a session, whoever signs in. */
export interface SessionSecret {
  /** The digest of the secret. */
  readonly digest: string;
  readonly lifetimeMs: number;
}

export interface BeginSession extends SessionSecret {
  /** Null for an API token. */
  readonly userId: number | null;
  /** The token that begins it; null for none. */
  readonly tokenDigest: string | null;
  readonly begunWith: SignIn;
}

/** Refused only where the caller is gone meanwhile: the caller has been recognised already, and older sessions make room. */
export function beginSession(world: World, command: BeginSession, { now }: DecideContext): Decision {
  return isThere(world, command) ? [sessionBegun(world, command, now)] : GONE;
}

const GONE = refuse('AuthenticationRequired', 'The user or the token that signs in was deleted.');

function isThere({ directory }: World, { userId, tokenDigest }: BeginSession): boolean {
  const { users, personalTokens, apiTokens } = directory;
  if (userId === null) return tokenDigest !== null && apiTokens.has(tokenDigest);
  const isOfToken = tokenDigest === null || personalTokens.get(tokenDigest)?.userId === userId;
  return users.has(userId) && isOfToken;
}

/** The event that begins a session, for decisions that consist of more. */
export function sessionBegun(
  { directory }: World,
  { digest, userId, tokenDigest, begunWith, lifetimeMs }: BeginSession,
  now: string,
): DomainEvent {
  const data: SessionData = {
    id: directory.lastPersonalTokenId + 1,
    userId: userId ?? API_TOKEN_USER_ID,
    description: DESCRIPTIONS[begunWith],
    createdAt: now,
    expiresAt: new Date(Date.parse(now) + lifetimeMs).toISOString(),
    session: begunWith,
  };
  return { type: 'pat-created', ...ABOUT_NOTHING, data, preData: null, hidden: { digest, tokenDigest } };
}

/** Nothing happens where it has ended. */
export function endSession({ directory }: World, { digest }: { readonly digest: string }): Decision {
  const session = directory.sessions.get(digest);
  return session === undefined ? [] : [sessionEnded(session)];
}

/** All sessions of one user, or of one API token. */
export function endSessions(
  { directory }: World,
  command: Pick<Session, 'userId' | 'tokenDigest'>,
): Decision {
  return [...directory.sessions.values()].filter((one) => isOfSame(one, command)).map(sessionEnded);
}

export function sessionEnded({ digest, tokenDigest, ...session }: Session): DomainEvent {
  const { id, createdAt, expiresAt, begunWith } = session;
  const preData: SessionData = {
    ...{ id, userId: session.userId ?? API_TOKEN_USER_ID },
    description: DESCRIPTIONS[begunWith],
    ...{ createdAt, expiresAt, session: begunWith },
  };
  return { type: 'pat-deleted', ...ABOUT_NOTHING, data: null, preData, hidden: { digest, tokenDigest } };
}
