/**
 * A flag as the engine holds it: one immutable object, replaced as a whole on each change, so that a snapshot
 * or a cached response may keep a reference to it.
 *
 * `environments` is sparse: an environment that was never touched has no entry and reads as disabled, without
 * strategies and variants. So adding an environment to a project costs nothing per flag.
 */
import type { FlagMetadata, MetadataField } from './metadata.ts';
import type { Strategy } from './strategy.ts';
import { urlNameIssue } from './url-name.ts';
import type { Variant } from './variant.ts';

export interface FlagEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  /** Strategies in order of `sortOrder`. */
  readonly strategies: readonly Strategy[];
  /** Variants in the order that the client sent. */
  readonly variants: readonly Variant[];
}

/** Characters of a tag's type, and of its value (docs/specification/targeting.md#tag-types). */
export const TAG_LENGTH_MIN = 2;
export const TAG_LENGTH_MAX = 50;

export interface Tag {
  readonly type: string;
  readonly value: string;
}

/** Different for different tags: a type may have a colon in it too. */
export const tagKey = ({ type, value }: Tag): string => JSON.stringify([type, value]);

/**
 * The flag is evaluated only when its parent `feature` is enabled (or disabled), with one of `variants` if there are
 * any.
 */
export interface Dependency {
  readonly feature: string;
  readonly enabled: boolean;
  readonly variants: readonly string[];
}

export interface Flag extends FlagMetadata {
  readonly name: string;
  readonly project: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly archivedAt: string | null;
  readonly environments: readonly FlagEnvironment[];
  readonly tags: readonly Tag[];
  readonly dependencies: readonly Dependency[];
  /** Names of the flags that depend on this one. */
  readonly children: readonly string[];
}

/** The metadata of a flag as events and the responses of create, update, patch and clone carry it. */
export interface FlagData extends FlagMetadata {
  readonly name: string;
  readonly project: string;
  readonly createdAt: string;
  readonly lastSeenAt: null;
  readonly variants: readonly Variant[] | null;
  readonly archived: boolean;
}

const UNTOUCHED_PARTS = { enabled: false, strategies: [], variants: [] } as const;

/** The flag's configuration in `environment`; the default one when it was never touched. */
export function environmentOf(flag: Flag, environment: string): FlagEnvironment {
  for (const one of flag.environments) if (one.name === environment) return one;
  return { name: environment, ...UNTOUCHED_PARTS };
}

/** Looks up many environments of a flag; `environmentOf` searches the list each time. */
export function environmentsOf(flag: Flag): (environment: string) => FlagEnvironment {
  const known = new Map(flag.environments.map((one) => [one.name, one]));
  return (name) => known.get(name) ?? { name, ...UNTOUCHED_PARTS };
}

/**
 * `firstEnvironment` is the project's first in order. The flag shows its variants
 * (docs/specification/variants.md#environments).
 */
export function flagVariants(flag: Flag, firstEnvironment: string | undefined): readonly Variant[] {
  return firstEnvironment === undefined ? [] : environmentOf(flag, firstEnvironment).variants;
}

type FlagBody = Omit<Flag, MetadataField>;

// The next two copy field by field, because a loop over the metadata, or spreading a flag, takes longer than the rest of
// a change. The result types come from the table of metadata: the compiler rejects a copy without one of its fields.

/** The flag that has `metadata` and `environments`, and all else of `body`. */
export function flagOf(
  body: FlagBody,
  metadata: FlagMetadata,
  environments: readonly FlagEnvironment[],
): Flag {
  return {
    name: body.name,
    project: body.project,
    description: metadata.description,
    type: metadata.type,
    stale: metadata.stale,
    impressionData: metadata.impressionData,
    links: metadata.links,
    createdAt: body.createdAt,
    archivedAt: body.archivedAt,
    environments,
    tags: body.tags,
    dependencies: body.dependencies,
    children: body.children,
  };
}

type FlagIdentity = Pick<Flag, 'name' | 'project' | 'createdAt'>;

interface FlagDataParts {
  readonly identity: FlagIdentity;
  readonly metadata: FlagMetadata;
  readonly variants: readonly Variant[];
  readonly archived: boolean;
}

export function flagDataOf({ identity, metadata, variants, archived }: FlagDataParts): FlagData {
  return {
    name: identity.name,
    project: identity.project,
    description: metadata.description,
    type: metadata.type,
    stale: metadata.stale,
    impressionData: metadata.impressionData,
    links: metadata.links,
    createdAt: identity.createdAt,
    lastSeenAt: null,
    variants: variants.length > 0 ? variants : null,
    archived,
  };
}

export function flagData(flag: Flag, variants: readonly Variant[]): FlagData {
  return flagDataOf({ identity: flag, metadata: flag, variants, archived: flag.archivedAt !== null });
}

/** Null when `name` is a valid flag name, else a sentence that says why not. */
export const flagNameIssue = (name: string): string | null => urlNameIssue('flag name', name);
