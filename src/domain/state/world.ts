/**
 * The whole state of the service. Its containers (Maps, records) are written only by `apply` (invariant 1), each
 * by the one actor that owns it; the objects inside them are immutable and replaced as a whole.
 *
 * Every part carries the id of the last event that touched it, its revision: a read waits until that id is
 * durable (invariant 4), and the ETag of a response is made of it.
 *
 * Maps, never plain objects, wherever a user's string is the key: `__proto__` is then a name like any other.
 */

import type { PasswordLink } from '../access/links.ts';
import type { Session } from '../access/sessions.ts';
import type { Completion } from '../flags/lifecycle.ts';
import type { ProjectRules } from '../flags/project-rules.ts';
import type { DefaultStrategy } from '../flags/strategy.ts';
import { emptyKindState, type KindState, type RecordOf } from '../kinds/kinds.ts';
import { IdempotencyCache } from './idempotency-cache.ts';
import { Lineage } from './lineage.ts';
import type { ProjectFlags } from './project-flags.ts';
import { References } from './references.ts';
import { ServedBytes } from './served-bytes.ts';
import type { Setting } from './settings.ts';
import { StateMemory } from './state-memory.ts';

export interface ProjectSettings extends ProjectRules {
  readonly id: string;
  readonly name: string;
  /** Null: none was ever given. */
  readonly description: string | null;
  readonly mode: 'open' | 'protected' | 'private';
  readonly defaultStickiness: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Names of the project's environments; their order is that of the service's environments. */
  readonly environments: readonly string[];
}

export interface ProjectState {
  settings: ProjectSettings;
  /** User id → role id. */
  readonly members: Map<number, number>;
  /** By environment: those that were set. */
  readonly defaultStrategies: Map<string, DefaultStrategy>;
  /** Group id → role id. */
  readonly groups: Map<number, number>;
  /** Flags in order of creation, archived ones included. */
  readonly flags: ProjectFlags;
  /** Id of the last event that changed the project or anything in it. */
  revision: number;
  /** Id of the last event that changed the project's environments, which the response for every flag shows. */
  environmentsRevision: number;
}

export interface Environment {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly protected: boolean;
  readonly sortOrder: number;
}

export type User = RecordOf<'users'>;
export type ApiToken = RecordOf<'apiTokens'>;
export type ApiTokenType = ApiToken['type'];
/** Stands for every project of a token, or for every environment. */
export const ALL = '*';
export type PersonalToken = RecordOf<'personalTokens'>;

/** The password of a user who has one. */
export interface Password {
  readonly userId: number;
  /** The hash as src/domain/access/password-hash.ts writes it. The password itself is stored nowhere. */
  readonly hash: string;
  readonly changedAt: string;
}

/** Whom a provider of OpenID Connect knows as which user. */
export interface Identity {
  readonly issuer: string;
  /** By which the issuer knows the user, for ever. */
  readonly subject: string;
  readonly userId: number;
}

/** Issuers are URLs, which hold no space. */
export const identityKey = (issuer: string, subject: string): string => `${issuer} ${subject}`;

/** Notes that `feature-potentially-stale-on` was recorded for a flag, whose name is unique over the whole service. */
export interface StalenessNote {
  readonly flag: string;
}

export interface Favorites {
  readonly userId: number;
  /** Ids, in the order in which they were marked; likewise the names of flags. */
  readonly projects: readonly string[];
  readonly flags: readonly string[];
}

/** The part of the state that belongs to no project. */
export interface DirectoryState extends KindState {
  /** Environments in order of sortOrder, then creation. */
  environments: readonly Environment[];
  /** Digest → session, in order of creation. */
  readonly sessions: Map<string, Session>;
  /** By user id: of users who have one. */
  readonly passwords: Map<number, Password>;
  /** By `identityKey`. */
  readonly identities: Map<string, Identity>;
  /** By digest; at most one for each user. */
  readonly passwordLinks: Map<string, PasswordLink>;
  /** By user id: of users who have some. */
  readonly favorites: Map<number, Favorites>;
  /** By id: those that were changed. */
  readonly settings: Map<Setting['id'], Setting>;
  /** Flag name → id of the project that holds it: names are unique over the whole service. */
  readonly flagProjects: Map<string, string>;
  /** By name: flags whose event says that they outlived their type. They may be stale or archived since. */
  readonly potentiallyStale: Map<string, StalenessNote>;
  /** Flags marked as completed, by name. They may have been archived since. */
  readonly completions: Map<string, Completion>;
  /** The responses that retries get. */
  readonly responses: IdempotencyCache;
  /** Id of the last event that changed the directory. */
  revision: number;
  /** Id of the last event that changed the list of environments. */
  environmentsRevision: number;
  /** Id of the last event that changed anybody's rights. */
  accessRevision: number;
  /** Id of the last event about sessions, which changes nothing else of the directory. */
  sessionsRevision: number;
}

export interface World {
  /** Tells histories apart that have the same event ids: in every ETag, and no part of the state. */
  readonly lineage: Lineage;
  readonly directory: DirectoryState;
  readonly projects: Map<string, ProjectState>;
  /** Derived from the flags; no part of the state. */
  readonly references: References;
  /** Derived from the flags; no part of the state. */
  readonly served: ServedBytes;
  /** Kind and name → number of users who have it among their favorites. Derived from those; no part of the state. */
  readonly favoredBy: Map<string, number>;
  /** Derived from all records of the state; no part of it. */
  readonly memory: StateMemory;
  /** Flags of projects that lost an environment, some of which have yet to be looked at for it. */
  readonly unsettled: Set<ProjectFlags>;
}

/** Looks at up to so many flags of those that have yet to lose an environment; whether none is left. */
export function settleFlags({ unsettled }: World, countMax: number): boolean {
  for (const flags of unsettled) {
    if (!flags.settle(countMax)) return false;
    unsettled.delete(flags);
    if (countMax !== Number.POSITIVE_INFINITY) break;
  }
  return unsettled.size === 0;
}

export function emptyWorld(): World {
  return {
    lineage: new Lineage(),
    directory: {
      environments: [],
      sessions: new Map(),
      passwords: new Map(),
      identities: new Map(),
      passwordLinks: new Map(),
      ...emptyKindState(),
      favorites: new Map(),
      settings: new Map(),
      flagProjects: new Map(),
      potentiallyStale: new Map(),
      completions: new Map(),
      responses: new IdempotencyCache(),
      revision: 0,
      environmentsRevision: 0,
      accessRevision: 0,
      sessionsRevision: 0,
    },
    projects: new Map(),
    references: new References(),
    served: new ServedBytes(),
    favoredBy: new Map(),
    memory: new StateMemory(),
    unsettled: new Set(),
  };
}

/** The project's environments, in the order of the service's. */
export function projectEnvironments(
  world: World,
  { settings }: Pick<ProjectState, 'settings'>,
): readonly Environment[] {
  return world.directory.environments.filter((one) => settings.environments.includes(one.name));
}
