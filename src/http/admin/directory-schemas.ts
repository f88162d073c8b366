/** Schemas of responses about projects as a whole, environments, users, roles and tokens. */
import * as v from 'valibot';
import { CUSTOM_ROLE_TYPES, ROLE_NAMES } from '../../domain/access/roles.ts';
import { FLAG_TYPES } from '../../domain/flags/metadata.ts';
import { SHOWN_RULES_ENTRIES } from '../../domain/flags/project-rules.ts';
import { VariantSchema } from '../../domain/flags/variant.ts';
import {
  described,
  Integer,
  NullableTimestamp,
  Percent,
  Timestamp,
  titled,
  Version,
} from '../../domain/json/schema.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';
import {
  ColoredTagSchema,
  CompanionUserSchema,
  DefaultStrategySchema,
  EventsSchema,
  FlagEnvironmentSchema,
  FlagSchema,
  NAMES,
  NextOffset,
  StrategySchema,
} from './schemas.ts';

const PROJECT_FIELDS = {
  id: v.string(),
  name: v.string(),
  description: v.exactOptional(v.string()),
  mode: v.picklist(['open', 'protected', 'private']),
  defaultStickiness: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  environments: described(v.array(v.string()), 'Names, in order.'),
} as const;

export const ProjectSchema = titled('Project', PROJECT_FIELDS);

export const OnboardingStatusSchema = v.variant('status', [
  v.object({ status: v.picklist(['onboarding-started', 'onboarded']) }),
  v.object({ status: v.literal('first-flag-created'), feature: v.string() }),
]);

export const ProjectSummaryOverviewSchema = titled('ProjectSummaryOverview', {
  version: Version,
  name: v.string(),
  description: v.string(),
  mode: PROJECT_FIELDS.mode,
  defaultStickiness: v.string(),
  health: Percent,
  members: Integer,
  favorite: v.boolean(),
  ...SHOWN_RULES_ENTRIES,
  featureTypeCounts: v.array(titled('FeatureTypeCount', { type: v.picklist(FLAG_TYPES), count: Integer })),
  environments: v.array(
    v.object({ environment: v.string(), defaultStrategy: v.exactOptional(DefaultStrategySchema) }),
  ),
  onboardingStatus: described(
    OnboardingStatusSchema,
    'Whether the project has flags, and whether applications use any of them.',
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  archivedAt: v.null(),
});

export const ProjectsSchema = titled('Projects', {
  version: Version,
  projects: v.array(
    titled('ProjectSummary', {
      ...PROJECT_FIELDS,
      health: Percent,
      featureCount: Integer,
      staleFeatureCount: Integer,
      memberCount: Integer,
      favorite: v.boolean(),
    }),
  ),
});

export const RoleSchema = titled('Role', {
  id: Integer,
  name: v.string(),
  type: described(
    v.picklist(['root', 'project', ...CUSTOM_ROLE_TYPES]),
    'root and project: predefined; root-custom: a custom root role; custom: a custom one for projects.',
  ),
  description: v.string(),
  project: v.null(),
});

const ENVIRONMENT_FIELDS = {
  name: v.string(),
  type: v.string(),
  enabled: v.boolean(),
  protected: v.boolean(),
  sortOrder: Integer,
} as const;

export const EnvironmentSchema = titled('Environment', {
  ...ENVIRONMENT_FIELDS,
  projectCount: Integer,
  apiTokenCount: Integer,
  enabledToggleCount: Integer,
});

export const EnvironmentsSchema = titled('Environments', {
  version: Version,
  environments: v.array(EnvironmentSchema),
});

export const ProjectEnvironmentsSchema = titled('ProjectEnvironments', {
  version: Version,
  environments: v.array(
    titled('ProjectEnvironment', {
      ...ENVIRONMENT_FIELDS,
      projectApiTokenCount: Integer,
      projectEnabledToggleCount: Integer,
      defaultStrategy: v.exactOptional(DefaultStrategySchema),
    }),
  ),
});

const API_TOKEN_FIELDS = {
  digest: described(
    v.string(),
    'SHA-256 of the secret, which can be used in place of the secret to name the token. The secret itself is not stored.',
  ),
  tokenName: v.string(),
  username: described(v.string(), 'The same as tokenName.'),
  type: v.picklist(['admin', 'client', 'frontend']),
  environment: v.string(),
  project: v.string(),
  projects: v.array(v.string()),
  createdAt: Timestamp,
  expiresAt: NullableTimestamp,
  seenAt: NullableTimestamp,
  alias: v.nullable(v.string()),
  secure: described(v.literal(true), 'The secret is stored as a digest only.'),
} as const;

const Secret = described(v.string(), 'Shown in this response and never again.');

const ApiTokenSchema = titled('ApiToken', {
  ...API_TOKEN_FIELDS,
  secret: described(
    v.string(),
    'The secret, for who presents it, or may make such tokens where API_TOKEN_KEY is set; else its digest again.',
  ),
});

export const NewApiTokenSchema = titled('NewApiToken', {
  ...API_TOKEN_FIELDS,
  secret: described(v.string(), 'Shown in this response and, without API_TOKEN_KEY, never again.'),
});

export const ApiTokensSchema = titled('ApiTokens', { tokens: v.array(ApiTokenSchema) });

const PERSONAL_TOKEN_FIELDS = {
  id: Integer,
  userId: Integer,
  description: v.string(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  seenAt: NullableTimestamp,
} as const;

export const NewPersonalTokenSchema = titled('NewPersonalToken', {
  ...PERSONAL_TOKEN_FIELDS,
  secret: Secret,
});

export const PersonalTokenSchema = titled('PersonalToken', PERSONAL_TOKEN_FIELDS);

export const PersonalTokensSchema = titled('PersonalTokens', { pats: v.array(PersonalTokenSchema) });

export const UsersSchema = titled('Users', {
  users: v.array(CompanionUserSchema),
  rootRoles: v.array(RoleSchema),
});

export const NewUserSchema = titled('NewUser', {
  ...CompanionUserSchema.entries,
  rootRole: described(
    v.union([Integer, v.picklist(ROLE_NAMES)]),
    'As it was sent: a role id, or the name of a role.',
  ),
  inviteLink: described(
    v.exactOptional(v.string()),
    'With which the user sets a password, once and within 3 days; for the Admin to hand on. Left out where a password was sent.',
  ),
  emailSent: described(v.boolean(), 'Always false: the server sends no email.'),
});

export const FoundUserSchema = titled('FoundUser', {
  id: Integer,
  ...NAMES,
  email: v.exactOptional(v.string()),
  imageUrl: v.string(),
});

export const FoundUsersSchema = v.array(FoundUserSchema);

export const MeUserSchema = titled('MeUser', {
  id: Integer,
  isAPI: v.boolean(),
  ...NAMES,
  email: v.exactOptional(v.string()),
  imageUrl: v.nullable(v.string()),
  seenAt: NullableTimestamp,
  loginAttempts: Integer,
  createdAt: NullableTimestamp,
  accountType: v.string(),
});

export const MeSchema = titled('Me', {
  user: MeUserSchema,
  permissions: v.array(
    titled('GrantedPermission', {
      permission: v.string(),
      project: v.exactOptional(v.string()),
      environment: v.exactOptional(v.string()),
    }),
  ),
  feedback: v.array(v.unknown()),
  splash: v.object({}),
});

export const TagsOfFlagSchema = titled('TagsOfFlag', { version: Version, tags: v.array(ColoredTagSchema) });

export const ArchivedFlagsSchema = titled('ArchivedFlags', {
  version: v.literal(2),
  features: v.array(titled('ArchivedFlag', { ...FlagSchema.entries, archivedAt: Timestamp })),
  nextOffset: NextOffset,
});

export const FlagTypesSchema = titled('FlagTypes', {
  version: Version,
  types: v.array(
    titled('FlagType', {
      id: v.picklist(FLAG_TYPES),
      name: v.string(),
      description: v.string(),
      lifetimeDays: v.nullable(Integer),
    }),
  ),
});

export const EventCreatorsSchema = v.array(titled('EventCreator', { id: Integer, name: v.string() }));

export const EventTypesSchema = titled('EventTypes', {
  version: Version,
  types: v.array(v.picklist(EVENT_TYPES)),
});

export const FlagEventsSchema = titled('FlagEvents', { ...EventsSchema.entries, toggleName: v.string() });

export const DetailedFlagEnvironmentSchema = titled('DetailedFlagEnvironment', {
  ...FlagEnvironmentSchema.entries,
  featureName: v.string(),
  environment: v.string(),
  variants: v.array(VariantSchema),
});

export const StrategiesSchema = v.array(StrategySchema);
