/**
 * The schemas of responses (docs/specification/README.md#endpoints). The API description is made from them, and the
 * tests check every response against them. The schemas of requests stand beside the rules in src/domain.
 */

import * as v from 'valibot';
import { KeptConstraintSchema } from '../../domain/flags/constraint.ts';
import { COMPLETION_STATUSES, STAGES } from '../../domain/flags/lifecycle.ts';
import { LISTED_METADATA_ENTRIES, METADATA_ENTRIES } from '../../domain/flags/metadata.ts';
import { SHOWN_RULES_ENTRIES } from '../../domain/flags/project-rules.ts';
import { ParametersSchema } from '../../domain/flags/strategy.ts';
import { VariantSchema } from '../../domain/flags/variant.ts';
import { described, Integer, NullableTimestamp, Timestamp, titled } from '../../domain/json/schema.ts';
import { EVENT_TYPES } from '../../domain/state/event-types.ts';

export const ErrorSchema = titled('Error', {
  id: v.pipe(v.string(), v.uuid()),
  name: v.string(),
  message: v.string(),
  details: v.array(v.object({ message: v.string(), path: v.exactOptional(v.string()) })),
});

/** An error with a message alone, for responses whose status says the rest. */
export const MessageErrorSchema = titled('MessageError', { message: v.string() });

export const MembershipErrorSchema = v.pipe(
  v.array(v.object({ msg: v.string() })),
  v.title('MembershipError'),
);

const STRATEGY_FIELDS = {
  name: v.string(),
  title: v.nullable(v.string()),
  disabled: v.nullable(v.boolean()),
  constraints: v.array(KeptConstraintSchema),
  parameters: ParametersSchema,
  variants: v.array(VariantSchema),
  segments: v.array(v.number()),
} as const;

export const StrategySchema = titled('Strategy', {
  id: v.pipe(v.string(), v.uuid()),
  ...STRATEGY_FIELDS,
  sortOrder: v.number(),
  featureName: v.string(),
});

export const DefaultStrategySchema = titled('DefaultStrategy', STRATEGY_FIELDS);

export const NextOffset = described(
  v.exactOptional(Integer),
  'The offset at which the next page starts; left out on the last page.',
);

const FLAG_FIELDS = {
  name: v.string(),
  project: v.string(),
  ...METADATA_ENTRIES,
  createdAt: Timestamp,
  lastSeenAt: NullableTimestamp,
  variants: v.nullable(v.array(VariantSchema)),
  archived: v.boolean(),
} as const;

export const FlagSchema = titled('Flag', FLAG_FIELDS);

/** The fields of an environment that lists of flags show too. */
const FLAG_ENVIRONMENT_FIELDS = {
  name: v.string(),
  displayName: v.string(),
  type: v.string(),
  enabled: v.boolean(),
  sortOrder: v.pipe(v.number(), v.integer(), v.description('Position among the environments.')),
  lastSeenAt: NullableTimestamp,
  variantCount: Integer,
  hasStrategies: v.boolean(),
  hasEnabledStrategies: described(
    v.boolean(),
    'False: the flag is off for applications there, whatever its switch says.',
  ),
  enabledStrategyCount: Integer,
  rollout: described(
    v.nullable(v.number()),
    'The percentage of users, where one strategy decides and nothing in it but its rollout; otherwise null.',
  ),
} as const;

/** The fields of an environment outside lists of all flags: they include its use. */
const USED_FLAG_ENVIRONMENT_FIELDS = {
  ...FLAG_ENVIRONMENT_FIELDS,
  yes: v.pipe(v.number(), v.integer(), v.description('How often it was on in the running hour.')),
  no: v.pipe(v.number(), v.integer(), v.description('How often it was off in the running hour.')),
  changeRequestIds: described(
    v.array(Integer),
    'Ids of the requests to change the flag there that wait for a review or for being applied.',
  ),
} as const;

export const FlagEnvironmentSchema = titled('FlagEnvironment', {
  ...USED_FLAG_ENVIRONMENT_FIELDS,
  strategies: v.array(StrategySchema),
});

export const TagSchema = titled('Tag', {
  type: v.string(),
  value: v.pipe(v.string(), v.minLength(2), v.maxLength(50)),
});

export const ColoredTagSchema = titled('ColoredTag', {
  ...TagSchema.entries,
  color: described(v.nullable(v.string()), 'The color of its type, such as #1a2b3c.'),
});

export const DependencySchema = titled('Dependency', {
  feature: v.string(),
  enabled: v.boolean(),
  variants: v.array(v.string()),
});

export const StageSchema = titled('LifecycleStage', {
  stage: v.picklist(STAGES),
  status: described(
    v.exactOptional(v.picklist(COMPLETION_STATUSES)),
    'What became of what the flag was for; only of the stage `completed`.',
  ),
  enteredStageAt: Timestamp,
});

const FavoriteSchema = described(v.boolean(), 'Whether it is a favorite of the caller.');

export const WholeFlagSchema = titled('WholeFlag', {
  ...FLAG_FIELDS,
  favorite: FavoriteSchema,
  archivedAt: NullableTimestamp,
  lifecycle: StageSchema,
  environments: v.array(FlagEnvironmentSchema),
  children: v.array(v.string()),
  dependencies: v.array(DependencySchema),
  tags: v.array(TagSchema),
});

export const FlagEnvironmentSummarySchema = titled('FlagEnvironmentSummary', FLAG_ENVIRONMENT_FIELDS);

export const FoundFlagEnvironmentSchema = titled('FoundFlagEnvironment', USED_FLAG_ENVIRONMENT_FIELDS);

export const FlagSummarySchema = titled('FlagSummary', {
  name: v.string(),
  ...LISTED_METADATA_ENTRIES,
  favorite: FavoriteSchema,
  createdAt: Timestamp,
  createdByUserId: v.pipe(
    v.number(),
    v.integer(),
    v.description('0 where it is not known: older releases did not record it.'),
  ),
  lastSeenAt: NullableTimestamp,
  lifecycle: StageSchema,
  tags: v.array(TagSchema),
  environments: v.array(FlagEnvironmentSummarySchema),
});

export const FlagListSchema = titled('FlagList', {
  version: v.number(),
  features: v.array(FlagSummarySchema),
});

export const ProjectOverviewSchema = titled('ProjectOverview', {
  version: v.number(),
  name: v.string(),
  description: v.string(),
  health: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  members: Integer,
  favorite: FavoriteSchema,
  defaultStickiness: v.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  ...SHOWN_RULES_ENTRIES,
  environments: v.array(v.object({ environment: v.string() })),
  features: v.array(FlagSummarySchema),
});

export const EventSchema = titled('Event', {
  id: Integer,
  createdAt: Timestamp,
  type: v.picklist(EVENT_TYPES),
  createdBy: v.string(),
  createdByUserId: Integer,
  environment: v.nullable(v.string()),
  project: v.nullable(v.string()),
  featureName: v.nullable(v.string()),
  data: v.nullable(v.record(v.string(), v.unknown())),
  preData: v.nullable(v.record(v.string(), v.unknown())),
  tags: v.array(TagSchema),
});

export const EventsSchema = titled('Events', {
  version: v.literal(1),
  events: v.array(EventSchema),
  totalEvents: Integer,
  nextOffset: NextOffset,
});
