/**
 * The events of the service: what a command's decision consists of, what the journal holds and what users search
 * (docs/specification/events.md). A closed union; `apply` has a case for each.
 *
 * `data` and `preData` are shown to users. What `apply` needs and no reader may see, such as the digest of a
 * token, is in `hidden`, which never leaves the journal.
 */
import type { SignIn } from '../access/sessions.ts';
import type { Dependency, Flag, FlagData, Tag } from '../flags/flag.ts';
import type { CompletionData } from '../flags/lifecycle.ts';
import type { FlagType } from '../flags/metadata.ts';
import type { DefaultStrategy, StrategyData } from '../flags/strategy.ts';
import type { Variant } from '../flags/variant.ts';
import { jsonEqual } from '../json/json.ts';
import { type AddonContent, type AddonKind, type AddonRecord, versionOf } from '../kinds/addon-kind.ts';
import type { Kind } from '../kinds/kind.ts';
import { EFFECTS, type KINDS, type KindName, type RecordOf, rowOf } from '../kinds/kinds.ts';
import type { SERVICE_ACCOUNT } from '../kinds/user.ts';
import type { Setting } from './settings.ts';
import type { Environment, Identity, PersonalToken, ProjectSettings, User } from './world.ts';

/** An event of type `T`, about the things that `Scope` names. */
type About<T extends string, Scope, Data = null, PreData = null> = {
  readonly type: T;
  readonly data: Data;
  readonly preData: PreData;
} & Scope;

interface Scope<Project, Flag, Environment> {
  readonly project: Project;
  readonly featureName: Flag;
  readonly environment: Environment;
}
type Nothing = Scope<null, null, null>;
type InProject = Scope<string, null, null>;
type OfFlag = Scope<string, string, null>;
type OfFlagEnvironment = Scope<string, string, string>;
type InProjectEnvironment = Scope<string, null, string>;
type OfEnvironment = Scope<null, null, string>;

/** The variants of one environment. A clone needs them, because they may differ between environments. */
export interface EnvironmentVariants {
  readonly name: string;
  readonly variants: readonly Variant[];
}

export interface VariantsData {
  readonly variants: readonly Variant[];
}

export interface MembershipData {
  readonly userId: number;
  readonly roleId: number;
  readonly roleName: string;
  readonly email: string | null;
}

export interface GroupAccessData {
  readonly groupId: number;
  readonly groupName: string;
  readonly roleId: number;
  readonly roleName: string;
}

export interface StrategyOrderData {
  readonly strategies: readonly { readonly id: string; readonly sortOrder: number }[];
}

/** The owner of a favorite. */
export interface FavoriteData {
  readonly userId: number;
}

/** The project that is not that of the event is left out where it is private. */
export interface ProjectChangeData {
  readonly oldProject?: string;
  readonly newProject?: string;
}

/** A user as in the event that records a password, or a link to set one. */
export type UserData = User & {
  readonly passwordChangedAt?: string | null;
  readonly passwordLinkExpiresAt?: string | null;
};

/** Credentials that a user gets: a password, a link to set one, or an identity at a provider of OpenID Connect. */
export type HiddenOfUser =
  | { readonly passwordHash: string; readonly identity?: never; readonly linkDigest?: never }
  | {
      readonly identity: Pick<Identity, 'issuer' | 'subject'>;
      /** Whether the user's password and the link to set one end; absent for a user who is new. */
      readonly endsPassword?: true;
      readonly passwordHash?: never;
      readonly linkDigest?: never;
    }
  | {
      readonly linkDigest: string;
      readonly linkExpiresAt: string;
      readonly passwordHash?: never;
      readonly identity?: never;
    };

/** The visible part of a session: that of a personal token, and how its user has signed in. */
export type SessionData = Omit<PersonalToken, 'digest'> & { readonly session: SignIn };

interface HiddenSession {
  readonly digest: string;
  /** The token that began it; null for none. */
  readonly tokenDigest: string | null;
}

export type FlagEvent =
  | (About<'feature-created', OfFlag, FlagData> & {
      readonly hidden?: {
        readonly environments?: readonly EnvironmentVariants[];
        /** Id of the user who created the flag; absent in events that are older than the field. */
        readonly createdBy?: number;
      };
    })
  /** Recorded twice for a flag that moves: of the project that it leaves, and, with the whole flag, of its new one. */
  | (About<'feature-project-change', OfFlag, ProjectChangeData> & {
      readonly hidden?: { readonly flag: Flag; readonly createdBy: number | null };
    })
  | About<'feature-metadata-updated', OfFlag, FlagData, FlagData>
  | About<'feature-stale-on', OfFlag>
  | About<'feature-stale-off', OfFlag>
  | About<'feature-potentially-stale-on' | 'feature-potentially-stale-soon', OfFlag, AgeData | null>
  | (About<'feature-archived', OfFlag> & {
      /** The time when a flag of an import was archived; when absent, it is archived now. */
      readonly hidden?: { readonly archivedAt: string };
    })
  | About<'feature-revived', OfFlag>
  | (About<'feature-completed', OfFlag, CompletionData> & {
      /** The time when a flag of an import was completed; when absent, it is completed now. */
      readonly hidden?: { readonly completedAt: string };
    })
  | About<'feature-uncompleted', OfFlag>
  | About<'feature-deleted', OfFlag, null, FlagData>
  | About<'feature-strategy-add', OfFlagEnvironment, StrategyData>
  | About<'feature-strategy-update', OfFlagEnvironment, StrategyData, StrategyData>
  | About<'feature-strategy-remove', OfFlagEnvironment, null, StrategyData>
  | About<'strategy-order-changed', OfFlagEnvironment, StrategyOrderData, StrategyOrderData>
  | About<'feature-environment-enabled', OfFlagEnvironment>
  | About<'feature-environment-disabled', OfFlagEnvironment>
  | About<'feature-variants-updated', OfFlag, VariantsData, VariantsData>
  | About<'feature-environment-variants-updated', OfFlagEnvironment, VariantsData, VariantsData>
  | About<'feature-favorited', OfFlag, FavoriteData>
  | About<'feature-unfavorited', OfFlag, FavoriteData>
  | About<'feature-commented', OfFlag, { readonly text: string }>
  | About<'feature-tagged', OfFlag, Tag>
  | About<'feature-untagged', OfFlag, null, Tag>
  | About<'feature-dependency-added', OfFlag, Dependency>
  | About<'feature-dependency-removed', OfFlag, null, Dependency>
  | About<'feature-dependencies-removed', OfFlag, null, { readonly dependencies: readonly Dependency[] }>;

/** Names of flags. */
export interface TransferData {
  readonly features: readonly string[];
}

export type ProjectEvent =
  | About<'features-imported', InProjectEnvironment, TransferData>
  /** The last event of a change that files of flags made; `events` counts those before it. */
  | About<'features-applied', InProject, TransferData & { readonly events: number }>
  | About<'project-created', InProject, ProjectSettings>
  | About<'project-updated', InProject, ProjectSettings, ProjectSettings>
  | About<'project-deleted', InProject, null, ProjectSettings>
  | About<'project-environment-added', InProjectEnvironment>
  | About<'project-environment-removed', InProjectEnvironment>
  | About<'default-strategy-updated', InProjectEnvironment, DefaultStrategy, DefaultStrategy | null>
  | About<'project-favorited', InProject, FavoriteData>
  | About<'project-unfavorited', InProject, FavoriteData>
  | About<'project-user-added', InProject, MembershipData>
  | About<'project-user-role-changed', InProject, MembershipData, MembershipData>
  | About<'project-user-removed', InProject, null, MembershipData>
  | About<'project-group-added', InProject, GroupAccessData>
  | About<'project-group-role-changed', InProject, GroupAccessData, GroupAccessData>
  | About<'project-group-removed', InProject, null, GroupAccessData>;

/** Events about people, with the credentials that they get. */
type UserEvent =
  | (About<'user-created', Nothing, User> & { readonly hidden?: HiddenOfUser })
  /** With a hash or a link, nothing but that has changed. */
  | (About<'user-updated', Nothing, UserData, UserData> & { readonly hidden?: HiddenOfUser })
  | About<'user-deleted', Nothing, null, User>;

/** Somebody has become a user by an invitation. */
type InvitedEvent = About<
  'public-signup-token-user-added',
  Nothing,
  { readonly name: string; readonly userId: number }
> &
  Hidden<RecordOf<'invitations'>>;

/** Sessions begin and end under the types of personal tokens (addons/people/session-commands.ts). */
export type SessionEvent =
  | (About<'pat-created', Nothing, SessionData> & { readonly hidden: HiddenSession })
  | (About<'pat-deleted', Nothing, null, SessionData> & { readonly hidden: HiddenSession });

/** The visible part of a record: all of it but the digest of a secret, which is hidden. */
type Shown<T> = T extends { readonly digest: string } ? Omit<T, 'digest'> : T;
type Hidden<T> = T extends { readonly digest: string } ? { readonly hidden: Pick<T, 'digest'> } : unknown;

/** The events of one kind, as in its row. */
type EventOf<Row> =
  Row extends Kind<infer T, infer _, infer Created, infer Changed, infer Deleted>
    ? Hidden<T> &
        (
          | About<Created, Nothing, Shown<T>>
          | { [Type in Changed]: About<Type, Nothing, Shown<T>, Shown<T>> }[Changed]
          | (Deleted extends string ? About<Deleted, Nothing, null, Shown<T>> : never)
        )
    : never;

type PlainKindName = Exclude<KindName, 'users'>;

export type KindEvent =
  | { [Name in PlainKindName]: EventOf<(typeof KINDS)[Name]> }[PlainKindName]
  | EventOf<typeof SERVICE_ACCOUNT>
  | UserEvent;

/** The end of a flag's expected life. Versions before 0.3.0 recorded none. */
export interface AgeData {
  /** The name of the user who created the flag; null where none is known. */
  readonly owner: string | null;
  readonly potentiallyStaleAt: string;
}

/** A type of flags. */
export interface FlagTypeData {
  readonly id: FlagType;
  readonly lifetimeDays: number | null;
}

export type DirectoryEvent =
  | About<'features-exported', OfEnvironment, TransferData>
  | About<'environment-created', OfEnvironment, Environment>
  | About<'environment-updated', OfEnvironment, Environment, Environment>
  | About<'environment-deleted', OfEnvironment, null, Environment>
  | KindEvent
  | About<'setting-created', Nothing, Setting>
  | About<'setting-updated', Nothing, Setting, Setting>
  | About<'feature-type-updated', Nothing, FlagTypeData, FlagTypeData>
  | InvitedEvent;

/** Stands for the types of the events of kinds that add-ons bring: texts that no type of the core can name. */
type OfAddon = '(of an add-on)';

/** An event about a record of such a kind. It says itself what it is about: the record is `data`, or is gone where that is null. */
export type RecordEvent = About<OfAddon, Nothing, object | null, object | null> & {
  readonly hidden: Pick<AddonRecord, 'kind' | 'id' | 'version' | 'secrets'>;
};

/** The event by which a record of the kind comes to be, changes, or goes: null stands for no record. */
export function recordEvent(
  kind: AddonKind,
  id: number,
  [before, after]: readonly [AddonContent | null, AddonContent | null],
): RecordEvent {
  const place = kind.placeOf?.((after ?? before)!.data);
  const { created, updated, deleted } = kind.events;
  const { secrets = {} } = after ?? {};
  const hidden = { kind: kind.name, id, version: versionOf(kind) };
  return {
    type: (before === null ? created : after === null ? deleted : updated) as RecordEvent['type'],
    ...((place === undefined
      ? ABOUT_NOTHING
      : inProjectEnvironment(place.project, place.environment)) as Nothing),
    data: after?.data ?? null,
    preData: before?.data ?? null,
    hidden: Object.keys(secrets).length === 0 ? hidden : { ...hidden, secrets },
  };
}

export type DomainEvent = FlagEvent | ProjectEvent | DirectoryEvent | SessionEvent | RecordEvent;

export const isRecordEvent = (event: DomainEvent): event is RecordEvent =>
  'hidden' in event && event.hidden !== undefined && 'kind' in event.hidden;

type Typed<Type extends DomainEvent['type']> = Extract<DomainEvent, { readonly type: Type }>;

/** An event with no hidden part. `data` and `preData` are null where they are left out. */
export function newEvent<Type extends DomainEvent['type']>(
  type: Type,
  about: Pick<Typed<Type>, 'project' | 'featureName' | 'environment'>,
  change: Partial<Pick<Typed<Type>, 'data' | 'preData'>> = {},
): DomainEvent {
  const { project, featureName, environment } = about;
  const { data = null, preData = null } = change;
  return { type, project, featureName, environment, data, preData } as unknown as DomainEvent;
}

/** The fields of an event about a flag as a whole. */
export function aboutFlag(flag: { readonly name: string; readonly project: string }): OfFlag {
  return { project: flag.project, featureName: flag.name, environment: null };
}

export function aboutFlagEnvironment(
  flag: { readonly name: string; readonly project: string },
  environment: string,
): OfFlagEnvironment {
  return { project: flag.project, featureName: flag.name, environment };
}

export const inProject = (project: string): InProject => ({ project, featureName: null, environment: null });

export const inProjectEnvironment = (project: string, environment: string): InProjectEnvironment => ({
  project,
  featureName: null,
  environment,
});

export const ofEnvironment = (environment: string): OfEnvironment => ({
  project: null,
  featureName: null,
  environment,
});

export const ABOUT_NOTHING: Nothing = { project: null, featureName: null, environment: null };

/**
 * The event by which a record of a kind is added, changed or removed: null stands for no record. There is no event where nothing is different. The
 * digest of a secret is hidden in it.
 */
export function recordChange<Name extends KindName>(
  name: Name,
  before: RecordOf<Name> | null,
  after: RecordOf<Name> | null,
): KindEvent[] {
  const record = after ?? before;
  if (record === null || jsonEqual(before, after)) return [];
  const { created, changed, deleted } = rowOf(name, record).events;
  const type = before === null ? created : after === null ? deleted : changed[0];
  const { digest } = record as { readonly digest?: string };
  const event = { type, ...ABOUT_NOTHING, data: shownOf(after), preData: shownOf(before) };
  return [(digest === undefined ? event : { ...event, hidden: { digest } }) as unknown as KindEvent];
}

function shownOf(record: object | null): object | null {
  if (record === null || !('digest' in record)) return record;
  const { digest: _, ...shown } = record;
  return shown;
}

export function isSessionEvent(event: DomainEvent): event is SessionEvent {
  if (event.type === 'pat-created') return 'session' in event.data;
  return event.type === 'pat-deleted' && 'session' in event.preData;
}

/** Added to an event when it is recorded. */
export interface EventStamp {
  /** Id of the event: its position in the journal. */
  readonly id: number;
  /** The time of recording: ISO 8601, UTC. */
  readonly createdAt: string;
  /** The rules that it is applied by: the newest ones live, and at replay those of its frame (replay-rules.ts). */
  readonly rules: number;
}

export function isKindEvent(event: DomainEvent): event is KindEvent {
  return EFFECTS.has(event.type);
}

/** A change as the journal remembers it; `hidden` is what replay needs and no reader of events may see. */
export interface RecordedEvent {
  readonly type: string;
  readonly project: string | null;
  readonly featureName: string | null;
  readonly environment: string | null;
  readonly data: unknown;
  readonly preData: unknown;
  readonly tags?: readonly { readonly type: string; readonly value: string }[];
  readonly hidden?: unknown;
}
