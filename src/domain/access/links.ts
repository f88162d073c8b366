/**
 * Links that an Admin hands on (docs/specification/users.md#links): one with which its user sets a password, and one with which
 * people who are no users yet become some. Each is kept as the digest of its secret.
 */

/** Good once, for one user, who has one at most. */
export interface PasswordLink {
  /** SHA-256 of the secret, hexadecimal. */
  readonly digest: string;
  readonly userId: number;
  readonly expiresAt: string;
}

/** Good until it expires or is switched off. */
export interface Invitation {
  /** SHA-256 of the secret, hexadecimal. */
  readonly digest: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly expiresAt: string;
  readonly createdAt: string;
  /** Name of who made it. */
  readonly createdBy: string;
  /** A role id: that of those who come by it. */
  readonly rootRole: number;
  /** Ids of those who came by it, in that order; some may be gone. */
  readonly users: readonly number[];
}

/** A reset is short-lived, because the user who asked for it waits for the link. */
export const RESET_LIFETIME_MS = 24 * 60 * 60_000;

/** A new user may be away for some days. */
export const WELCOME_LIFETIME_MS = 72 * 60 * 60_000;

export const INVITATIONS_MAX = 100;

/** Users who come by one invitation. One that leaks makes no more of them. */
export const INVITED_USERS_MAX = 500;
