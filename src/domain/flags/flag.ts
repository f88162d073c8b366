/**
 * A flag as the engine holds it: one immutable object, replaced as a whole on each change, so that a snapshot
 * or a cached answer may keep a reference to it.
 *
 * `environments` is sparse: an environment that was never touched has no entry and reads as disabled, without
 * strategies and variants. So adding an environment to a project costs nothing per flag.
 */
import type { Strategy } from './strategy.ts';
import { urlNameFault } from './url-name.ts';
import type { Variant } from './variant.ts';

export const FLAG_TYPES = ['release', 'kill-switch', 'experiment', 'operational', 'permission'] as const;
export type FlagType = (typeof FLAG_TYPES)[number];

/**
 * Days after which an unarchived flag of the type counts as potentially stale; null for never
 * (docs/specification/flags.md#types).
 */
export const LIFETIME_DAYS: Readonly<Record<FlagType, number | null>> = {
  release: 40,
  experiment: 40,
  operational: 7,
  'kill-switch': null,
  permission: null,
};

export interface FlagEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  /** In order of `sortOrder`. */
  readonly strategies: readonly Strategy[];
  /** In the order the client sent. */
  readonly variants: readonly Variant[];
}

/** Characters of a tag's type, and of its value (docs/specification/limits.md#values). */
export const TAG_LENGTH_MIN = 2;
export const TAG_LENGTH_MAX = 50;

export interface Tag {
  readonly type: string;
  readonly value: string;
}

/**
 * The flag is evaluated only when its parent `feature` is enabled (or disabled), with one of `variants` if there are
 * any.
 */
export interface Dependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants: readonly string[];
}

export interface Flag {
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  readonly type: FlagType;
  readonly stale: boolean;
  readonly impressionData: boolean;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly archivedAt: string | null;
  readonly environments: readonly FlagEnvironment[];
  readonly tags: readonly Tag[];
  readonly dependencies: readonly Dependency[];
  /** Names of the flags that depend on this one. */
  readonly children: readonly string[];
}

/** The metadata of a flag as events and the answers of create, update, patch and clone carry it. */
export interface FlagData {
  readonly name: string;
  readonly project: string;
  readonly description: string | null;
  readonly type: FlagType;
  readonly stale: boolean;
  readonly impressionData: boolean;
  readonly createdAt: string;
  readonly lastSeenAt: null;
  readonly variants: readonly Variant[] | null;
  readonly archived: boolean;
}

const UNTOUCHED_PARTS = { enabled: false, strategies: [], variants: [] } as const;

/** The flag's configuration in `environment`; the default one when it was never touched. */
export function environmentOf(flag: Flag, environment: string): FlagEnvironment {
  return (
    flag.environments.find((one) => one.name === environment) ?? { name: environment, ...UNTOUCHED_PARTS }
  );
}

/**
 * `firstEnvironment` is the project's first in order. The flag shows its variants
 * (docs/specification/variants.md#environments).
 */
export function flagVariants(flag: Flag, firstEnvironment: string | undefined): readonly Variant[] {
  return firstEnvironment === undefined ? [] : environmentOf(flag, firstEnvironment).variants;
}

export function flagData(flag: Flag, variants: readonly Variant[]): FlagData {
  return {
    name: flag.name,
    project: flag.project,
    description: flag.description,
    type: flag.type,
    stale: flag.stale,
    impressionData: flag.impressionData,
    createdAt: flag.createdAt,
    lastSeenAt: null,
    variants: variants.length > 0 ? variants : null,
    archived: flag.archivedAt !== null,
  };
}

/** Null when `name` is a valid flag name, else a sentence that says why not. */
export const flagNameFault = (name: string): string | null => urlNameFault('flag name', name);

/** The metadata that a client may send. Absent fields keep their value. */
export interface FlagMetadata {
  readonly description?: string | null | undefined;
  readonly type?: FlagType | undefined;
  readonly stale?: boolean | undefined;
  readonly impressionData?: boolean | undefined;
}
