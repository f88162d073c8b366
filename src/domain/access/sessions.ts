/**
 * Sessions: what stands for a person who has signed in (docs/specification/rights.md#sessions). A session is kept as the digest of
 * its secret, so that neither the journal nor a backup opens anything.
 *
 * Their number is bounded by dropping old ones, and never by a refusal: somebody who signs in again and again only ends sessions
 * of their own.
 */

/** How somebody has signed in: with a token, with a password, or at a provider of OpenID Connect. */
export const SIGN_INS = ['token', 'password', 'provider'] as const;
export type SignIn = (typeof SIGN_INS)[number];

export interface Session {
  /** A number of the counter of personal tokens. */
  readonly id: number;
  /** SHA-256 of its secret, hexadecimal. */
  readonly digest: string;
  /** Null where it stands for an API token. */
  readonly userId: number | null;
  /** The token that began it, with which it ends; null for none. */
  readonly tokenDigest: string | null;
  readonly begunWith: SignIn;
  readonly createdAt: string;
  /** It ends then, however much it is used. */
  readonly expiresAt: string;
}

/** Sessions of one user, or of one API token: more than anybody has browsers. */
export const SESSIONS_PER_CALLER_MAX = 50;

/** Sessions of all callers. They take 10 MiB at most. */
export const SESSIONS_MAX = 10_000;

/** Tells whether two sessions have the same caller, a user or an API token, whose sessions share their bound and their end. */
export function isOfSame(
  one: Pick<Session, 'userId' | 'tokenDigest'>,
  other: Pick<Session, 'userId' | 'tokenDigest'>,
): boolean {
  if (one.userId !== null || other.userId !== null) return one.userId === other.userId;
  return one.tokenDigest === other.tokenDigest;
}

/**
 * The sessions that make room for a new one, which begins at its `createdAt`: all that have expired then, and the oldest of
 * the same caller and of all where there would be too many. `sessions` are in order of creation.
 */
export function makingRoom(sessions: Iterable<Session>, added: Session): readonly Session[] {
  const dropped: Session[] = [];
  const own: Session[] = [];
  let oldest: Session | null = null;
  let count = 0;
  for (const one of sessions) {
    // Both are written in the same way, so they compare as they are.
    if (one.expiresAt <= added.createdAt) {
      dropped.push(one);
      continue;
    }
    count += 1;
    oldest ??= one;
    if (isOfSame(one, added)) own.push(one);
  }
  const surplus = own.slice(0, Math.max(0, own.length - SESSIONS_PER_CALLER_MAX + 1));
  dropped.push(...surplus);
  if (count - surplus.length >= SESSIONS_MAX && oldest !== null) dropped.push(oldest);
  return dropped;
}
