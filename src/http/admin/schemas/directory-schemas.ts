/** Schemas of responses about projects as a whole, environments, users, roles and tokens. */
import * as v from 'valibot';
import { CUSTOM_ROLE_TYPES, ROLE_NAMES } from '../../../domain/access/roles.ts';
import { FLAG_TYPES } from '../../../domain/flags/metadata.ts';
import { SHOWN_RULES_ENTRIES } from '../../../domain/flags/project-rules.ts';
import { VariantSchema } from '../../../domain/flags/variant.ts';
import { EVENT_TYPES } from '../../../domain/state/event-types.ts';
import {
  ColoredTagSchema,
  CompanionUserSchema,
  DefaultStrategySchema,
  EventsSchema,
  FlagEnvironmentSchema,
  FlagSchema,
  StrategySchema,
  TagSchema,
} from './schemas.ts';

export const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description('ISO 8601, UTC.'));
const NullableTimestamp = v.nullable(Timestamp);
export const Integer = v.pipe(v.number(), v.integer());
const Percent = v.pipe(Integer, v.minValue(0), v.maxValue(100));
export const Version = v.pipe(v.literal(1), v.description('Of the format.'));

const PROJECT_FIELDS = {
  id: v.string(),
  name: v.string(),
  description: v.exactOptional(v.string()),
  mode: v.picklist(['open', 'protected', 'private']),
  defaultStickiness: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  environments: v.pipe(v.array(v.string()), v.description('Names, in order.')),
} as const;

export const ProjectSchema = v.pipe(v.object(PROJECT_FIELDS), v.title('Project'));

export const OnboardingStatusSchema = v.variant('status', [
  v.object({ status: v.picklist(['onboarding-started', 'onboarded']) }),
  v.object({ status: v.literal('first-flag-created'), feature: v.string() }),
]);

export const ProjectSummaryOverviewSchema = v.pipe(
  v.object({
    version: Version,
    name: v.string(),
    description: v.string(),
    mode: PROJECT_FIELDS.mode,
    defaultStickiness: v.string(),
    health: Percent,
    members: Integer,
    favorite: v.boolean(),
    ...SHOWN_RULES_ENTRIES,
    featureTypeCounts: v.array(
      v.pipe(v.object({ type: v.picklist(FLAG_TYPES), count: Integer }), v.title('FeatureTypeCount')),
    ),
    environments: v.array(
      v.object({ environment: v.string(), defaultStrategy: v.exactOptional(DefaultStrategySchema) }),
    ),
    onboardingStatus: v.pipe(
      OnboardingStatusSchema,
      v.description('Whether the project has flags, and whether applications use any of them.'),
    ),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    archivedAt: v.null(),
  }),
  v.title('ProjectSummaryOverview'),
);

export const ProjectsSchema = v.pipe(
  v.object({
    version: Version,
    projects: v.array(
      v.pipe(
        v.object({
          ...PROJECT_FIELDS,
          health: Percent,
          featureCount: Integer,
          staleFeatureCount: Integer,
          memberCount: Integer,
          favorite: v.boolean(),
        }),
        v.title('ProjectSummary'),
      ),
    ),
  }),
  v.title('Projects'),
);

export const RoleSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.string(),
    type: v.pipe(
      v.picklist(['root', 'project', ...CUSTOM_ROLE_TYPES]),
      v.description(
        'root and project: predefined; root-custom: a custom root role; custom: a custom one for projects.',
      ),
    ),
    description: v.string(),
    project: v.null(),
  }),
  v.title('Role'),
);

export const RolesSchema = v.pipe(
  v.object({ version: Version, roles: v.array(RoleSchema) }),
  v.title('Roles'),
);

const ENVIRONMENT_FIELDS = {
  name: v.string(),
  type: v.string(),
  enabled: v.boolean(),
  protected: v.boolean(),
  sortOrder: Integer,
} as const;

export const EnvironmentSchema = v.pipe(
  v.object({
    ...ENVIRONMENT_FIELDS,
    projectCount: Integer,
    apiTokenCount: Integer,
    enabledToggleCount: Integer,
  }),
  v.title('Environment'),
);

export const EnvironmentsSchema = v.pipe(
  v.object({ version: Version, environments: v.array(EnvironmentSchema) }),
  v.title('Environments'),
);

export const ProjectEnvironmentsSchema = v.pipe(
  v.object({
    version: Version,
    environments: v.array(
      v.pipe(
        v.object({
          ...ENVIRONMENT_FIELDS,
          projectApiTokenCount: Integer,
          projectEnabledToggleCount: Integer,
          defaultStrategy: v.exactOptional(DefaultStrategySchema),
        }),
        v.title('ProjectEnvironment'),
      ),
    ),
  }),
  v.title('ProjectEnvironments'),
);

const API_TOKEN_FIELDS = {
  digest: v.pipe(
    v.string(),
    v.description(
      'SHA-256 of the secret, which can be used in place of the secret to name the token. The secret itself is not stored.',
    ),
  ),
  tokenName: v.string(),
  username: v.pipe(v.string(), v.description('The same as tokenName.')),
  type: v.picklist(['admin', 'client', 'frontend']),
  environment: v.string(),
  project: v.string(),
  projects: v.array(v.string()),
  createdAt: Timestamp,
  expiresAt: NullableTimestamp,
  seenAt: NullableTimestamp,
  alias: v.nullable(v.string()),
  secure: v.pipe(v.literal(true), v.description('The secret is stored as a digest only.')),
} as const;

const Secret = v.pipe(v.string(), v.description('Shown in this response and never again.'));

const ApiTokenSchema = v.pipe(
  v.object({
    ...API_TOKEN_FIELDS,
    secret: v.pipe(
      v.string(),
      v.description(
        'The secret, for who presents it, or may make such tokens where API_TOKEN_KEY is set; else its digest again.',
      ),
    ),
  }),
  v.title('ApiToken'),
);

export const NewApiTokenSchema = v.pipe(
  v.object({
    ...API_TOKEN_FIELDS,
    secret: v.pipe(
      v.string(),
      v.description('Shown in this response and, without API_TOKEN_KEY, never again.'),
    ),
  }),
  v.title('NewApiToken'),
);

export const ApiTokensSchema = v.pipe(v.object({ tokens: v.array(ApiTokenSchema) }), v.title('ApiTokens'));

const PERSONAL_TOKEN_FIELDS = {
  id: Integer,
  userId: Integer,
  description: v.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  seenAt: NullableTimestamp,
} as const;

export const NewPersonalTokenSchema = v.pipe(
  v.object({ ...PERSONAL_TOKEN_FIELDS, secret: Secret }),
  v.title('NewPersonalToken'),
);

export const PersonalTokenSchema = v.pipe(v.object(PERSONAL_TOKEN_FIELDS), v.title('PersonalToken'));

export const PersonalTokensSchema = v.pipe(
  v.object({ pats: v.array(PersonalTokenSchema) }),
  v.title('PersonalTokens'),
);

export const UsersSchema = v.pipe(
  v.object({ users: v.array(CompanionUserSchema), rootRoles: v.array(RoleSchema) }),
  v.title('Users'),
);

export const NewUserSchema = v.pipe(
  v.object({
    ...CompanionUserSchema.entries,
    rootRole: v.pipe(
      v.union([Integer, v.picklist(ROLE_NAMES)]),
      v.description('As it was sent: a role id, or the name of a role.'),
    ),
    inviteLink: v.pipe(
      v.exactOptional(v.string()),
      v.description(
        'With which the user sets a password, once and within 3 days; for the Admin to hand on. Left out where a password was sent.',
      ),
    ),
    emailSent: v.pipe(v.boolean(), v.description('Always false: the server sends no email.')),
  }),
  v.title('NewUser'),
);

export const FoundUserSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.exactOptional(v.string()),
    username: v.exactOptional(v.string()),
    email: v.exactOptional(v.string()),
    imageUrl: v.string(),
  }),
  v.title('FoundUser'),
);

export const FoundUsersSchema = v.array(FoundUserSchema);

export const MeSchema = v.pipe(
  v.object({
    user: v.pipe(
      v.object({
        id: Integer,
        isAPI: v.boolean(),
        name: v.exactOptional(v.string()),
        username: v.exactOptional(v.string()),
        email: v.exactOptional(v.string()),
        imageUrl: v.nullable(v.string()),
        seenAt: NullableTimestamp,
        loginAttempts: Integer,
        createdAt: NullableTimestamp,
        accountType: v.string(),
      }),
      v.title('MeUser'),
    ),
    permissions: v.array(
      v.pipe(
        v.object({
          permission: v.string(),
          project: v.exactOptional(v.string()),
          environment: v.exactOptional(v.string()),
        }),
        v.title('GrantedPermission'),
      ),
    ),
    feedback: v.array(v.unknown()),
    splash: v.object({}),
  }),
  v.title('Me'),
);

export const TagsOfFlagSchema = v.pipe(
  v.object({ version: Version, tags: v.array(ColoredTagSchema) }),
  v.title('TagsOfFlag'),
);

export const TagsSchema = v.pipe(v.object({ version: Version, tags: v.array(TagSchema) }), v.title('Tags'));

export const TagWithVersionSchema = v.pipe(
  v.object({ version: Version, tag: TagSchema }),
  v.title('TagWithVersion'),
);

export const ArchivedFlagsSchema = v.pipe(
  v.object({
    version: v.literal(2),
    features: v.array(
      v.pipe(v.object({ ...FlagSchema.entries, archivedAt: Timestamp }), v.title('ArchivedFlag')),
    ),
    nextOffset: v.pipe(
      v.exactOptional(Integer),
      v.description('The offset at which the next page starts; left out on the last page.'),
    ),
  }),
  v.title('ArchivedFlags'),
);

export const ArchiveCheckSchema = v.pipe(
  v.object({
    parentsWithChildFeatures: v.pipe(
      v.array(v.string()),
      v.description('Flags on which others depend that stay; they cannot be archived.'),
    ),
    hasDeletedDependencies: v.pipe(
      v.boolean(),
      v.description('Whether any of the flags depends on another, which archiving ends.'),
    ),
  }),
  v.title('ArchiveCheck'),
);

export const FlagTypesSchema = v.pipe(
  v.object({
    version: Version,
    types: v.array(
      v.pipe(
        v.object({
          id: v.picklist(FLAG_TYPES),
          name: v.string(),
          description: v.string(),
          lifetimeDays: v.nullable(Integer),
        }),
        v.title('FlagType'),
      ),
    ),
  }),
  v.title('FlagTypes'),
);

export const EventTypesSchema = v.pipe(
  v.object({ version: Version, types: v.array(v.picklist(EVENT_TYPES)) }),
  v.title('EventTypes'),
);

export const FlagEventsSchema = v.pipe(
  v.object({ ...EventsSchema.entries, toggleName: v.string() }),
  v.title('FlagEvents'),
);

export const DetailedFlagEnvironmentSchema = v.pipe(
  v.object({
    ...FlagEnvironmentSchema.entries,
    featureName: v.string(),
    environment: v.string(),
    variants: v.array(VariantSchema),
  }),
  v.title('DetailedFlagEnvironment'),
);

export const StrategiesSchema = v.array(StrategySchema);
