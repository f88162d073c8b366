/** The table of kinds, by the name of their map in the state, their section of snapshots and their list in state documents. */
import { type Added, addedField, type FieldAddition } from '../flags/metadata.ts';
import { PersistentMap } from '../value/persistent-map.ts';
import { CONTEXT_FIELD } from './context-field.ts';
import { GROUP } from './group.ts';
import { INVITATION } from './invitation.ts';
import type { Kind, ManagedKind, SentOf } from './kind.ts';
import { ROLE } from './role.ts';
import { SEGMENT } from './segment.ts';
import { STRATEGY_TYPE } from './strategy-type.ts';
import { TAG, TAG_TYPE } from './tag-type.ts';
import { API_TOKEN, PERSONAL_TOKEN } from './token.ts';
import { SERVICE_ACCOUNT, USER } from './user.ts';

/** Managed kinds that flags refer to. */
export const FLAG_KINDS = {
  segments: SEGMENT,
  contextFields: CONTEXT_FIELD,
  strategyTypes: STRATEGY_TYPE,
  tagTypes: TAG_TYPE,
} as const;

/** Kinds that clients create, change and delete. */
export const MANAGED_KINDS = { ...FLAG_KINDS, roles: ROLE, groups: GROUP } as const;

export const TARGETING_KINDS = { ...FLAG_KINDS, tags: TAG } as const;

/** Kinds that rights depend on, as they do on secrets. */
export const ACCESS_KINDS = { users: USER, roles: ROLE, groups: GROUP } as const;

/** Kinds whose records go by the digest of a secret. They are in state documents on request alone, among the credentials. */
export const SECRET_KINDS = { apiTokens: API_TOKEN, personalTokens: PERSONAL_TOKEN } as const;

/** Roles come first, because users and groups name them. */
const DOCUMENT_KINDS = { roles: ROLE, users: USER, groups: GROUP, ...TARGETING_KINDS } as const;
export const KINDS = { ...DOCUMENT_KINDS, ...SECRET_KINDS, invitations: INVITATION } as const;

/** Kinds with a list in every state document. */
export type DocumentKindName = keyof typeof DOCUMENT_KINDS;
export const DOCUMENT_KIND_NAMES = Object.keys(DOCUMENT_KINDS) as readonly DocumentKindName[];

export const SECRET_KIND_NAMES = Object.keys(SECRET_KINDS) as readonly (keyof typeof SECRET_KINDS)[];

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as readonly KindName[];

export type RecordOf<Name extends KindName> = Parameters<(typeof KINDS)[Name]['idOf']>[0];
export type IdOf<Name extends KindName> = ReturnType<(typeof KINDS)[Name]['idOf']>;

export type KindCounter = NonNullable<(typeof KINDS)[KindName]['lastId']>;

/** The records of all kinds, in order of creation, and the newest ids. */
export type KindState = { readonly [Name in KindName]: PersistentMap<IdOf<Name>, RecordOf<Name>> } & Readonly<
  Record<KindCounter, number>
>;

export const emptyKindState = (): KindState =>
  Object.fromEntries<unknown>(
    Object.entries(KINDS).flatMap(([name, { lastId }]) => [
      [name, PersistentMap.empty()],
      ...(lastId === undefined ? [] : [[lastId, 0] as const]),
    ]),
  ) as KindState;

/** The row of a kind, for code that treats all kinds alike. */
export const kindOf = (name: KindName): Kind => KINDS[name] as unknown as Kind;

/** The row of a record that is kept among those of the kind. */
export const rowOf = (name: KindName, record: object): Kind =>
  name === 'users' && 'isService' in record ? (SERVICE_ACCOUNT as unknown as Kind) : kindOf(name);

export type ManagedKindName = keyof typeof MANAGED_KINDS;
export const MANAGED_KIND_NAMES = Object.keys(MANAGED_KINDS) as readonly ManagedKindName[];
export const FLAG_KIND_NAMES = Object.keys(FLAG_KINDS) as readonly (keyof typeof FLAG_KINDS)[];
export const OTHER_KIND_NAMES = MANAGED_KIND_NAMES.filter((name) => !Object.hasOwn(FLAG_KINDS, name));

/** Fields that clients send of a record that is new. */
export type SentTo<Name extends ManagedKindName> = SentOf<(typeof MANAGED_KINDS)[Name]['sent']>;

/** The row of a managed kind, for code that treats all of those alike. */
export const managedKindOf = (name: ManagedKindName): ManagedKind =>
  MANAGED_KINDS[name] as unknown as ManagedKind;

/** The record or document with its root role, where it has one, as `convert` gives it: an id for a name, or a name for an id. */
export function withRootRole<T extends object, From, To>(
  record: T & { readonly rootRole?: From | null },
  convert: (role: From) => To,
) {
  const { rootRole = null } = record;
  return rootRole === null ? record : { ...record, rootRole: convert(rootRole) };
}

/** All that came in with a release, or after the first one: kinds, and fields of their records. */
export const ADDED_TO_KINDS: readonly Added[] = KIND_NAMES.flatMap((section) => {
  const { since, newFields = {} } = kindOf(section);
  const fields = Object.entries(newFields as Readonly<Record<string, FieldAddition<unknown>>>);
  return [{ section, ...since }, ...fields.map(([name, added]) => addedField(section, name, added))];
});

/** The effect of each type of event on the records of a kind. */
export const EFFECTS: ReadonlyMap<string, Effect> = new Map(
  [
    ...KIND_NAMES.map((kind) => [kind, KINDS[kind].events] as const),
    ['users', SERVICE_ACCOUNT.events] as const,
  ].flatMap(([kind, { created, changed, deleted }]): [string, Effect][] => {
    const changesRights = !Object.hasOwn(TARGETING_KINDS, kind);
    return [created, ...changed, deleted ?? []]
      .flat()
      .map((type) => [type, { kind, changesRights, isDeletion: type === deleted }]);
  }),
);

interface Effect {
  readonly kind: KindName;
  readonly changesRights: boolean;
  readonly isDeletion: boolean;
}
