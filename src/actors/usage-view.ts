/**
 * The use of flags and secrets, as the core shows it. An add-on counts it; without one, nothing was ever used.
 */

/** Immutable: a newer time makes another object, so caches compare identities. */
export interface FlagSeen {
  /** Milliseconds since 1970; the latest of all environments. */
  readonly atMs: number;
  readonly environments: ReadonlyMap<string, number>;
  /** The first report in this life of the flag, by environment: reviving a flag begins another life. */
  readonly first: ReadonlyMap<string, number>;
}

/** Answers queries about the use of listed flags. */
export interface FlagsSeen {
  flag(name: string): FlagSeen | null;
  /** Grows with every time that is shown again. */
  readonly version: number;
}

/** How often a flag was evaluated in the running hour. */
export interface HourCounts {
  readonly yes: number;
  readonly no: number;
}

/** Answers queries about the use of a single flag. */
export interface FlagsUse extends FlagsSeen {
  /** The counts of the running hour, by environment; without those in which nothing was counted. */
  hour(name: string): ReadonlyMap<string, HourCounts>;
  /** Grows once a minute: within it, what is shown of `hour` may stay as it is. */
  readonly step: number;
}

/** For a flag of the past, whose use is unknown. */
export const NEVER_SEEN: FlagsUse = { flag: () => null, version: 0, hour: () => new Map(), step: 0 };

export interface SignIns {
  /** Milliseconds since 1970; null: never. */
  readonly lastMs: number | null;
  /** Wrong passwords since then. */
  readonly failedCount: number;
}

export const NO_SIGN_INS: SignIns = { lastMs: null, failedCount: 0 };

export interface UsageView {
  readonly seen: FlagsUse & {
    /** The last use of the secret with this digest, in milliseconds since 1970; null for one that was never used. */
    token(digest: string): number | null;
  };
  readonly signIns: { of(userId: number): SignIns };
  /** Notes that a secret, which exists, was used. */
  tokenUsed(digest: string): void;
  /** Notes that a user, who exists, tried to sign in. */
  signInTried(userId: number, succeeded: boolean): void;
}

export const NO_USAGE: UsageView = {
  seen: { ...NEVER_SEEN, token: () => null },
  signIns: { of: () => NO_SIGN_INS },
  tokenUsed: () => undefined,
  signInTried: () => undefined,
};
