/**
 * The configuration that moves from one server of the Unleash Admin API to another, in one shape for all sources: a running server
 * of any version, an export file, or the Flagstaff that it moves to. Names stand for ids, because ids differ.
 */
import * as v from 'valibot';
import { isJsonObject, type JsonObject } from '../../domain/json/json.ts';
import type { Access, GroupMembership } from './access.ts';

/** Values that old servers leave out, and newer ones send as null. */
export const textOr = <T extends string | null>(initial: T) => v.nullish(v.string(), initial);
export const yesNo = v.nullish(v.boolean(), false);
export const listOf = <S extends v.GenericSchema>(item: S) => v.nullish(v.array(item), []);

/** Unleash keeps parameters as strings, and has stored numbers at times. No `v.record`, which drops fields named constructor. */
const PARAMETERS = v.pipe(
  v.nullish(v.custom<JsonObject>(isJsonObject, 'an object'), {}),
  v.transform((record) =>
    Object.fromEntries(
      Object.entries(record).flatMap(([name, value]) =>
        value === null || value === undefined ? [] : [[name, String(value)]],
      ),
    ),
  ),
);

/** SDKs compare the texts of numbers. */
const COMPARED = v.pipe(v.union([v.string(), v.number()]), v.transform(String));

export const CONSTRAINT = v.pipe(
  v.object({
    contextName: v.string(),
    operator: v.string(),
    values: listOf(COMPARED),
    value: v.nullish(COMPARED, null),
    inverted: yesNo,
    caseInsensitive: yesNo,
  }),
  // What an operator does not look at is sent by some versions and left out by others.
  v.transform(({ value, ...rest }) => (value === null || value === '' ? rest : { ...rest, value })),
);

const PAYLOAD = v.object({ type: v.string(), value: v.string() });

const VARIANT_ENTRIES = {
  name: v.string(),
  weight: v.number(),
  weightType: textOr('variable'),
  stickiness: textOr('default'),
  payload: v.nullish(PAYLOAD),
} as const;

export const VARIANT = v.pipe(
  v.object({
    ...VARIANT_ENTRIES,
    overrides: listOf(v.object({ contextName: v.string(), values: v.array(v.string()) })),
  }),
  v.transform(({ payload, overrides, ...rest }) => ({
    ...rest,
    ...(payload ? { payload } : {}),
    ...(overrides.length > 0 ? { overrides } : {}),
  })),
);

const STRATEGY_VARIANT = v.pipe(
  v.object(VARIANT_ENTRIES),
  v.transform(({ payload, ...rest }) => ({ ...rest, ...(payload ? { payload } : {}) })),
);

/** A strategy as it is sent: segments by their ids on the server that sends it. */
export const SENT_STRATEGY = v.object({
  id: v.optional(v.string()),
  name: v.string(),
  title: textOr(''),
  disabled: yesNo,
  parameters: PARAMETERS,
  constraints: listOf(CONSTRAINT),
  segments: listOf(v.number()),
  variants: listOf(STRATEGY_VARIANT),
  sortOrder: v.nullish(v.number(), 0),
});

export const TAG = v.object({ type: v.string(), value: v.string() });

export const TAG_TYPE = v.object({
  name: v.string(),
  description: textOr(''),
  icon: textOr(null),
  color: textOr(null),
});

const LINK = v.object({ url: v.string(), title: textOr(null) });

export const DEPENDENCY = v.object({
  feature: v.string(),
  enabled: v.nullish(v.boolean(), true),
  variants: listOf(v.string()),
});

export const SENT_FLAG = v.object({
  name: v.string(),
  project: textOr('default'),
  type: textOr('release'),
  description: textOr(''),
  stale: yesNo,
  impressionData: yesNo,
  /** Unleash 7 and newer have them. */
  links: listOf(LINK),
});

export const CONTEXT_FIELD = v.object({
  name: v.string(),
  description: textOr(''),
  stickiness: yesNo,
  sortOrder: v.nullish(v.number(), 0),
  legalValues: listOf(
    v.pipe(
      v.object({ value: v.string(), description: textOr('') }),
      v.transform(({ value, description }) => (description === '' ? { value } : { value, description })),
    ),
  ),
});

export const SENT_SEGMENT = v.object({
  id: v.number(),
  name: v.string(),
  description: textOr(''),
  /** The one whose strategies may use it; null: any. */
  project: textOr(null),
  constraints: listOf(CONSTRAINT),
});

export const STRATEGY_TYPE = v.object({
  name: v.string(),
  title: textOr(''),
  description: textOr(''),
  editable: v.nullish(v.boolean(), true),
  deprecated: yesNo,
  parameters: listOf(
    v.object({ name: v.string(), type: textOr('string'), description: textOr(''), required: yesNo }),
  ),
});

export const ENVIRONMENT = v.object({
  name: v.string(),
  type: textOr('production'),
  enabled: v.nullish(v.boolean(), true),
});

export type Strategy = Omit<v.InferOutput<typeof SENT_STRATEGY>, 'id' | 'segments' | 'sortOrder'> & {
  /** Names, in the order in which they are kept. */
  readonly segments: readonly string[];
};
export type Variant = v.InferOutput<typeof VARIANT>;
export type TagType = v.InferOutput<typeof TAG_TYPE>;
export type Tag = v.InferOutput<typeof TAG>;
export type Dependency = v.InferOutput<typeof DEPENDENCY>;
export type ContextField = v.InferOutput<typeof CONTEXT_FIELD>;
export type Segment = Omit<v.InferOutput<typeof SENT_SEGMENT>, 'id'>;
export type StrategyType = v.InferOutput<typeof STRATEGY_TYPE>;
export type Environment = v.InferOutput<typeof ENVIRONMENT>;

export interface FlagEnvironment {
  /** Null where that is not known; the switch then stays as it is. */
  readonly enabled: boolean | null;
  readonly strategies: readonly Strategy[];
  readonly variants: readonly Variant[];
}

export interface Flag extends v.InferOutput<typeof SENT_FLAG> {
  readonly archived: boolean;
  readonly tags: readonly Tag[];
  readonly dependencies: readonly Dependency[];
  readonly environments: ReadonlyMap<string, FlagEnvironment>;
}

/** The access of a source that has no custom roles and no groups, or does not show them. */
export const NO_ACCESS: Access = { customRoles: new Map(), groups: new Map(), groupIds: new Map() };

export const PROJECT_SETTINGS = v.object({
  mode: textOr('open'),
  defaultStickiness: textOr('default'),
});

const NO_NAMING = { pattern: null, example: null, description: null };
const NullableText = v.optional(v.nullable(v.string()), null);

/** Rules for new flags; those that a source does not tell of are none. */
export const PROJECT_RULES = v.object({
  featureNaming: v.optional(
    v.nullable(v.object({ pattern: NullableText, example: NullableText, description: NullableText })),
    NO_NAMING,
  ),
  featureLimit: v.optional(v.nullable(v.number()), null),
  linkTemplates: v.optional(
    v.nullable(v.array(v.object({ title: NullableText, urlTemplate: v.string() }))),
    [],
  ),
});

export type ProjectRules = v.InferOutput<typeof PROJECT_RULES>;

/** Without a pattern there is no rule for names, whatever the other fields say. */
export const rulesOf = ({ featureNaming, featureLimit, linkTemplates }: ProjectRules): ProjectRules => ({
  featureNaming: featureNaming?.pattern ? featureNaming : NO_NAMING,
  featureLimit,
  linkTemplates: linkTemplates ?? [],
});

export type ProjectSettings = v.InferOutput<typeof PROJECT_SETTINGS>;

export interface Membership {
  /** The login of the user: email, or username. */
  readonly user: string;
  readonly role: string;
}

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Null where the source does not say. */
  readonly settings: ProjectSettings | null;
  readonly rules: ProjectRules | null;
  readonly environments: readonly string[];
  readonly memberships: readonly Membership[];
  readonly groups: readonly GroupMembership[];
  readonly defaultStrategies: ReadonlyMap<string, Strategy>;
}

export interface User {
  readonly email: string | null;
  readonly username: string | null;
  readonly name: string | null;
  /** Its name. */
  readonly rootRole: string;
}

/** The email or username that the user signs in with, in lower case, because logins are unique ignoring case. */
export const loginOf = ({ email, username }: Pick<User, 'email' | 'username'>): string =>
  (email ?? username ?? '').toLowerCase();

/** Everything that moves. Keys are names; those of projects are ids, which people choose. */
export interface Configuration {
  /** True for a running server; an export may leave things out. */
  readonly isWhole: boolean;
  readonly environments: ReadonlyMap<string, Environment>;
  readonly strategyTypes: ReadonlyMap<string, StrategyType>;
  readonly contextFields: ReadonlyMap<string, ContextField>;
  readonly segments: ReadonlyMap<string, Segment>;
  readonly segmentIds: ReadonlyMap<string, number>;
  readonly users: ReadonlyMap<string, User>;
  readonly userIds: ReadonlyMap<string, number>;
  readonly projects: ReadonlyMap<string, Project>;
  readonly flags: ReadonlyMap<string, Flag>;
  /** The lifetimes of flags in days, by type; null for types without an end. Empty where the source does not say. */
  readonly lifetimes: ReadonlyMap<string, number | null>;
  readonly tagTypes: ReadonlyMap<string, TagType>;
  readonly access: Access;
  /** Ids by name, of the roles that a user or a member can have. */
  readonly roles: ReadonlyMap<string, number>;
  /** Sentences about things that are there and are not read. */
  readonly remarks: readonly string[];
}

export const byName = <T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> =>
  new Map(items.map((item) => [item.name, item]));
