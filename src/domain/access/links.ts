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

/** A reset is short-lived, because the user who asked for it waits for the link. */
export const RESET_LIFETIME_MS = 24 * 60 * 60_000;

/** A new user may be away for some days. */
export const WELCOME_LIFETIME_MS = 72 * 60 * 60_000;
