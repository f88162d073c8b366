/**
 * Links that an Admin hands on, and with which a user sets a password (docs/specification/users.md#links). Good once, for one
 * user, who has one at most.
 */
export interface PasswordLink {
  /** SHA-256 of the secret, hexadecimal. */
  readonly digest: string;
  readonly userId: number;
  readonly expiresAt: string;
}

/** A new user may be away for some days. */
export const WELCOME_LIFETIME_MS = 72 * 60 * 60_000;
