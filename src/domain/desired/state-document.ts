/**
 * The state as a JSON document that people can read, keep in version control and import elsewhere. It holds projects,
 * environments, users, segments, context fields, strategy types and flags with everything in them, but no events and no
 * responses kept for retries.
 *
 * Tokens and hashed passwords are included only on request, because they admit everybody who holds the secret wherever they are
 * imported. A token without its digest could not be imported, so its metadata alone would be useless.
 *
 * Version history: 1, the first. The rows of kinds and the table of flags' metadata say which later version added what.
 */
import * as v from 'valibot';
import { HASH_PHRASE, parsePasswordHash } from '../access/password-hash.ts';
import { flagNameIssue } from '../flags/flag.ts';
import { COMPLETION_ENTRIES } from '../flags/lifecycle.ts';
import { ADDED_METADATA, METADATA_DOCUMENT_ENTRIES, SetLifetimes } from '../flags/metadata.ts';
import { RULES_ENTRIES } from '../flags/project-rules.ts';
import { StrategyInputSchema } from '../flags/strategy.ts';
import { urlNameIssue } from '../flags/url-name.ts';
import { VariantListSchema } from '../flags/variant.ts';
import { JSON_DEPTH_MAX } from '../json/json.ts';
import { faultlessText } from '../json/schema.ts';
import { Id, RoleName, TagSchema, Text, Time } from '../kinds/document-values.ts';
import { ADDED_TO_KINDS, KINDS, TARGETING_KINDS } from '../kinds/kinds.ts';
import {
  FRONTEND_SETTING_ID,
  isOrigin,
  LIFETIMES_SETTING_ID,
  MAINTENANCE_SETTING_ID,
  ORIGIN_PHRASE,
} from '../state/settings.ts';

/** The first version with records of kinds that add-ons bring. */
const WITH_ADDON_RECORDS = 4;

/** A newer release reads documents of older versions. An older release refuses newer versions and says so. */
export const STATE_FORMAT_VERSION = Math.max(
  WITH_ADDON_RECORDS,
  ...[...ADDED_METADATA, ...ADDED_TO_KINDS].map(({ documentVersion }) => documentVersion),
);
const READABLE_FORMAT_VERSIONS = Array.from({ length: STATE_FORMAT_VERSION }, (_, index) => index + 1);

const EnvironmentSchema = v.object({
  name: faultlessText((text) => urlNameIssue('environment name', text)),
  type: Text,
  enabled: v.boolean(),
  protected: v.boolean(),
  sortOrder: v.pipe(v.number('an integer'), v.safeInteger('an integer')),
  requiredApprovals: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

/** The fields that clients send, and those that the service adds. */
const StrategySchema = v.object({
  ...StrategyInputSchema.entries,
  id: v.pipe(v.string(), v.uuid('a UUID')),
  sortOrder: v.number(),
});

const FlagEnvironmentSchema = v.object({
  name: v.string(),
  enabled: v.boolean(),
  strategies: v.pipe(v.array(StrategySchema), v.description('In order of sortOrder.')),
  variants: VariantListSchema,
});

/** A strategy lies four levels below its flag: in a list, in an environment, in a list. */
export const FLAG_DEPTH_MAX = JSON_DEPTH_MAX + 4;

export const FlagSchema = v.object({
  name: faultlessText(flagNameIssue),
  ...METADATA_DOCUMENT_ENTRIES,
  createdAt: Time,
  createdBy: v.exactOptional(
    v.pipe(
      v.number('an integer'),
      v.safeInteger('an integer'),
      v.description('Id of the user who created it, who may be gone; left out where that is not known.'),
    ),
  ),
  archivedAt: v.nullable(Time),
  completed: v.exactOptional(v.object({ ...COMPLETION_ENTRIES, at: Time })),
  environments: v.pipe(
    v.array(FlagEnvironmentSchema),
    v.description('Those in which anything was ever set; in the others the flag is disabled.'),
  ),
  tags: v.array(TagSchema),
  dependencies: v.array(
    v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) }),
  ),
});

const ProjectSchema = v.object({
  id: faultlessText((text) => urlNameIssue('project id', text)),
  name: Text,
  description: v.nullable(v.string()),
  mode: v.picklist(['open', 'protected', 'private'], 'one of open, protected, private'),
  defaultStickiness: Text,
  createdAt: Time,
  updatedAt: Time,
  environments: v.array(v.string()),
  ...RULES_ENTRIES,
  members: v.array(v.object({ userId: Id, role: RoleName })),
  groups: v.optional(v.array(v.object({ groupId: Id, role: RoleName })), []),
  defaultStrategies: v.optional(
    v.array(v.object({ ...StrategyInputSchema.entries, environment: v.string() })),
    [],
  ),
  flags: v.pipe(v.array(FlagSchema), v.description('In order of creation, archived ones included.')),
});

const FavoritesSchema = v.object({
  userId: Id,
  projects: v.pipe(v.array(v.string()), v.description('Ids of projects.')),
  flags: v.pipe(v.array(v.string()), v.description('Names of flags.')),
});

const SettingSchema = v.variant('id', [
  v.object({
    id: v.literal(FRONTEND_SETTING_ID),
    frontendApiOrigins: v.array(v.pipe(v.string(), v.check(isOrigin, ORIGIN_PHRASE))),
  }),
  v.object({ id: v.literal(MAINTENANCE_SETTING_ID), enabled: v.boolean() }),
  v.object({
    id: v.literal(LIFETIMES_SETTING_ID),
    days: SetLifetimes,
  }),
]);

const PasswordHash = v.pipe(
  v.string(HASH_PHRASE),
  v.check((text) => parsePasswordHash(text) !== null, HASH_PHRASE),
);

const CredentialsSchema = v.object({
  apiTokens: v.array(KINDS.apiTokens.document),
  personalTokens: v.array(KINDS.personalTokens.document),
  passwords: v.optional(v.array(v.object({ userId: Id, hash: PasswordHash, changedAt: Time })), []),
});

/** `version`: of `data` and `secrets`, by the count of the kind. Secrets are included on request alone, as credentials are. */
const AddonRecordSchema = v.object({
  kind: Text,
  id: Id,
  version: Id,
  data: v.looseObject({}),
  secrets: v.exactOptional(v.record(v.string(), v.string())),
});

/** One list a kind, which documents that are older than the kind do not have. */
const listsOf = <Kinds extends Readonly<Record<string, { readonly document: v.GenericSchema }>>>(
  kinds: Kinds,
) =>
  Object.fromEntries(
    Object.entries(kinds).map(([name, { document }]) => [name, v.optional(v.array(document), [])]),
  ) as {
    readonly [Name in keyof Kinds]: v.OptionalSchema<v.ArraySchema<Kinds[Name]['document'], undefined>, []>;
  };

export const StateDocumentSchema = v.pipe(
  v.object({
    formatVersion: v.picklist(
      READABLE_FORMAT_VERSIONS,
      `one of ${READABLE_FORMAT_VERSIONS.join(', ')}, the versions of the format that this release reads`,
    ),
    environments: v.array(EnvironmentSchema),
    roles: v.optional(v.array(KINDS.roles.document), []),
    users: v.array(KINDS.users.document),
    groups: v.optional(v.array(KINDS.groups.document), []),
    projects: v.array(ProjectSchema),
    ...listsOf(TARGETING_KINDS),
    tags: v.pipe(
      v.optional(v.array(KINDS.tags.document), []),
      v.description('Those that were made by themselves, whether or not a flag has them.'),
    ),
    favorites: v.optional(v.array(FavoritesSchema), []),
    settings: v.optional(v.array(SettingSchema), []),
    addonRecords: v.pipe(
      v.optional(v.array(AddonRecordSchema), []),
      v.description('Records of kinds that add-ons bring, such as integrations.'),
    ),
    credentials: v.exactOptional(CredentialsSchema),
  }),
  v.title('State'),
);

export type StateDocument = v.InferOutput<typeof StateDocumentSchema>;
export type ProjectDocument = StateDocument['projects'][number];
export type FlagDocument = ProjectDocument['flags'][number];
export type CredentialsDocument = v.InferOutput<typeof CredentialsSchema>;
