/** Examples of what belongs to flags: flags, strategies, variants, events. By the name of the component. */
import { INITIAL_METADATA, listedMetadata } from '../../domain/flags/metadata.ts';

export const AT = '2024-05-01T09:30:00.000Z';

const CONSTRAINT = {
  contextName: 'country',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['NO', 'SE'],
};

const ROLLOUT = { rollout: 25, stickiness: 'userId', groupId: 'checkout-redesign' };

const VARIANT = {
  name: 'one-page',
  weight: 1000,
  weightType: 'variable',
  stickiness: 'default',
  payload: { type: 'string', value: 'one-page' },
  overrides: [],
};

const DEFAULT_STRATEGY = {
  name: 'flexibleRollout',
  title: 'A quarter of Scandinavia',
  disabled: false,
  constraints: [CONSTRAINT],
  parameters: ROLLOUT,
  variants: [],
  segments: [],
};

const STRATEGY = {
  id: '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f',
  ...DEFAULT_STRATEGY,
  sortOrder: 0,
  featureName: 'checkout-redesign',
};

const LINK = {
  id: '7c9f1a52-1c1e-4a53-8a4d-5b1d3c2e9f10',
  url: 'https://tracker.example/SHOP-17',
  title: 'The ticket',
};

const FLAG = {
  name: 'checkout-redesign',
  project: 'default',
  ...INITIAL_METADATA,
  description: 'The checkout on one page.',
  createdAt: AT,
  lastSeenAt: null,
  variants: null,
  archived: false,
};

const ARCHIVED_FLAG = { ...FLAG, archived: true, archivedAt: AT };

const FLAG_TYPE = {
  id: 'release',
  name: 'Release',
  description: 'Lets a new feature out step by step.',
  lifetimeDays: 40,
};

const DEVELOPMENT = {
  name: 'development',
  displayName: 'development',
  type: 'development',
  enabled: true,
  sortOrder: 1,
  lastSeenAt: null,
  variantCount: 1,
  hasStrategies: true,
  hasEnabledStrategies: true,
  enabledStrategyCount: 1,
  rollout: null,
};
const PRODUCTION = {
  name: 'production',
  displayName: 'production',
  type: 'production',
  enabled: false,
  sortOrder: 2,
  lastSeenAt: null,
  variantCount: 0,
  hasStrategies: false,
  hasEnabledStrategies: false,
  enabledStrategyCount: 0,
  rollout: null,
};

const FOUND_DEVELOPMENT = { ...DEVELOPMENT, yes: 1_200, no: 40 };
const FLAG_ENVIRONMENT = { ...FOUND_DEVELOPMENT, strategies: [STRATEGY] };

/** The fields of a flag that every list shows. */
const LISTED_FLAG = {
  name: 'checkout-redesign',
  ...listedMetadata(FLAG),
  favorite: false,
  createdAt: AT,
  lastSeenAt: null,
  tags: [],
};

export const FLAG_SUMMARY = {
  ...LISTED_FLAG,
  createdByUserId: 2,
  environments: [DEVELOPMENT, PRODUCTION],
};

const STAGES = [
  { stage: 'initial', enteredStageAt: AT },
  { stage: 'pre-live', enteredStageAt: AT },
];

const COLORED_TAG = { type: 'simple', value: 'checkout', color: '#1a2b3c' };

const FOUND_FLAG = {
  ...LISTED_FLAG,
  lifecycle: STAGES[1],
  project: 'default',
  archivedAt: null,
  dependencyType: null,
  segments: ['Nordic customers'],
  environments: [FOUND_DEVELOPMENT, { ...PRODUCTION, yes: 0, no: 0 }],
  createdBy: { id: 2, name: 'ada', imageUrl: 'https://gravatar.com/avatar/00?s=42&d=retro&r=g' },
};

const EVENT = {
  id: 42,
  createdAt: AT,
  type: 'feature-environment-enabled',
  createdBy: 'ada',
  createdByUserId: 2,
  environment: 'development',
  project: 'default',
  featureName: 'checkout-redesign',
  data: null,
  preData: null,
  tags: [],
};

const PLANNED_EVENT = {
  type: 'feature-environment-disabled',
  environment: 'development',
  data: null,
  preData: null,
};

const STRATEGY_ID = '6a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';

const LEGAL_VALUE = { value: 'fi', description: 'Finland' };

const PARAMETER = { name: 'weekdays', type: 'list', description: 'Such as mon,tue', required: true };

const USE = {
  id: STRATEGY_ID,
  projectId: 'default',
  featureName: 'checkout-redesign',
  environment: 'development',
  strategyName: 'flexibleRollout',
};

const STRATEGY_SEGMENTS = {
  projectId: 'default',
  environmentId: 'development',
  strategyId: STRATEGY_ID,
  segmentIds: [1],
};

const TAG = { type: 'team', value: 'checkout' };
const CHANGE_TAGS = { addedTags: [TAG], removedTags: [] };

export const FLAG_EXAMPLES: Readonly<Record<string, unknown>> = {
  AddTag: { value: 'checkout' },
  ArchivedFlag: ARCHIVED_FLAG,
  ArchivedFlags: { version: 2, features: [ARCHIVED_FLAG] },
  BatchFeatures: { features: ['checkout-redesign'] },
  BatchStale: { features: ['checkout-redesign'], stale: true },
  ChangeProject: { newProjectId: 'checkout' },
  CloneFlag: { name: 'checkout-redesign-2', replaceGroupId: true },
  Constraint: CONSTRAINT,
  ConstraintInput: { contextName: 'country', operator: 'IN', values: ['NO', 'SE'] },
  CompleteFlag: { status: 'kept', statusValue: 'blue' },
  CreateDependency: { feature: 'new-payment-provider', enabled: true },
  CreateFlag: { name: 'checkout-redesign', type: 'release', description: 'The checkout on one page.' },
  DefaultStrategy: DEFAULT_STRATEGY,
  Dependency: { feature: 'new-payment-provider', enabled: true, variants: [] },
  DetailedFlagEnvironment: {
    ...FLAG_ENVIRONMENT,
    featureName: 'checkout-redesign',
    environment: 'development',
    variants: [VARIANT],
  },
  Event: EVENT,
  EventSearch: { project: 'default', feature: 'checkout-redesign', limit: 20 },
  EventTypes: { version: 1, types: ['feature-created', 'feature-archived'] },
  Events: { version: 1, events: [EVENT], totalEvents: 1 },
  Flag: FLAG,
  FlagEnvironment: FLAG_ENVIRONMENT,
  FlagEnvironmentSummary: DEVELOPMENT,
  FoundEvents: { events: [EVENT], total: 1 },
  FlagEvents: { version: 1, toggleName: 'checkout-redesign', events: [EVENT], totalEvents: 1 },
  FlagList: { version: 2, features: [FLAG_SUMMARY] },
  FlagSummary: FLAG_SUMMARY,
  FlagCreator: { id: 2, name: 'ada' },
  FoundFlag: FOUND_FLAG,
  FoundFlagEnvironment: FOUND_DEVELOPMENT,
  FoundFlags: { features: [FOUND_FLAG], total: 1 },
  FlagType: FLAG_TYPE,
  FlagTypes: { version: 1, types: [FLAG_TYPE] },
  JSONPatch: [{ op: 'replace', path: '/description', value: 'The checkout on one page, with a summary.' }],
  ProjectRollback: {
    eventId: 41,
    dryRun: false,
    events: [{ featureName: 'checkout-redesign', ...PLANNED_EVENT }],
  },
  Rollback: { eventId: 41, dryRun: false, events: [PLANNED_EVENT] },
  RollbackRequest: { eventId: 41 },
  StrategyCopy: { from: 'development' },
  CopiedStrategies: {
    dryRun: false,
    events: [
      { type: 'feature-strategy-add', environment: 'production', data: { ...STRATEGY }, preData: null },
    ],
  },
  LifecycleStage: STAGES[0],
  LifecycleStages: STAGES,
  Strategy: STRATEGY,
  StrategyInput: {
    name: 'flexibleRollout',
    title: 'A quarter of Scandinavia',
    parameters: ROLLOUT,
    constraints: [{ contextName: 'country', operator: 'IN', values: ['NO', 'SE'] }],
  },
  StrategyOrder: [{ id: STRATEGY.id, sortOrder: 0 }],
  StrategyVariant: { name: 'one-page', weight: 1000, weightType: 'variable', stickiness: 'userId' },
  Tags: { version: 1, tags: [{ type: 'simple', value: 'checkout' }] },
  ColoredTag: COLORED_TAG,
  TagsOfFlag: { version: 1, tags: [COLORED_TAG] },
  TagWithVersion: { version: 1, tag: { type: 'simple', value: 'checkout' } },
  FlagLink: LINK,
  SetFlagLink: { url: LINK.url, title: LINK.title },
  Tag: { type: 'simple', value: 'checkout' },
  UpdateFlag: { description: 'The checkout on one page.', type: 'experiment' },
  ValidateFeature: { name: 'checkout-redesign-2', projectId: 'default' },
  Variant: VARIANT,
  VariantInput: { name: 'one-page', weight: 1000, payload: VARIANT.payload },
  Variants: { version: '1', variants: [VARIANT] },
  WholeFlag: {
    favorite: false,
    ...FLAG,
    archivedAt: null,
    lifecycle: STAGES[1],
    environments: [FLAG_ENVIRONMENT],
    children: [],
    dependencies: [],
    tags: [{ type: 'simple', value: 'checkout' }],
  },
  SetStrategySegments: STRATEGY_SEGMENTS,
  StrategySegments: STRATEGY_SEGMENTS,
  LegalValue: LEGAL_VALUE,
  StrategyUse: USE,
  StrategyUses: { strategies: [USE] },
  StrategyTypeParameter: PARAMETER,
  StrategyTypeParameterInput: PARAMETER,
  ChangeTags: CHANGE_TAGS,
  ChangeTagsOfFlags: { features: ['checkout-redesign'], tags: CHANGE_TAGS },
  PushVariants: {
    variants: [{ name: 'one-page', weight: 1000, stickiness: 'default' }],
    environments: ['development', 'production'],
  },
  FeatureNaming: { pattern: 'team-[a-z-]+', example: 'team-checkout', description: 'The team comes first.' },
  LinkTemplate: { title: 'Ticket', urlTemplate: 'https://tickets.example/{{project}}/{{feature}}' },
  ProjectSettings: { mode: 'protected', defaultStickiness: 'userId' },
};

/** Examples of exports and imports of flags. By the name of the component. */

const EXPORTED_FLAG = 'checkout-redesign';

const EXPORTED_STRATEGY = {
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  constraints: [],
  parameters: { rollout: '50', groupId: EXPORTED_FLAG, stickiness: 'default' },
  variants: [],
  segments: [1],
};

const FLAG_EXPORT = {
  features: [
    {
      name: EXPORTED_FLAG,
      description: 'The checkout on one page.',
      type: 'release',
      stale: false,
      impressionData: false,
      links: [],
      project: 'default',
      archived: false,
    },
  ],
  featureStrategies: [
    {
      id: '6a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d',
      ...EXPORTED_STRATEGY,
      sortOrder: 0,
      featureName: EXPORTED_FLAG,
    },
  ],
  featureEnvironments: [
    {
      name: EXPORTED_FLAG,
      featureName: EXPORTED_FLAG,
      environment: 'development',
      enabled: true,
      variants: [],
    },
  ],
  contextFields: [],
  featureTags: [{ featureName: EXPORTED_FLAG, tagType: 'simple', tagValue: 'checkout' }],
  segments: [{ id: 1, name: 'Nordic customers' }],
  tagTypes: [{ name: 'simple', description: 'Tags without a type of their own.', icon: '#', color: null }],
  dependencies: [],
};

export const TRANSFER_EXAMPLES: Readonly<Record<string, unknown>> = {
  ExportQuery: { environment: 'development', features: [EXPORTED_FLAG] },
  FlagExport: FLAG_EXPORT,
  ImportFlags: {
    project: 'default',
    environment: 'production',
    data: {
      features: [{ name: EXPORTED_FLAG, description: 'The checkout on one page.' }],
      featureStrategies: [{ ...EXPORTED_STRATEGY, featureName: EXPORTED_FLAG }],
      featureEnvironments: [
        { name: EXPORTED_FLAG, featureName: EXPORTED_FLAG, enabled: false, variants: [] },
      ],
      segments: [{ id: 1, name: 'Nordic customers' }],
    },
  },
  ImportCheck: {
    errors: [
      {
        message: 'There are no segments of these names that strategies of the project may use.',
        affectedItems: ['Nordic customers'],
      },
    ],
    warnings: [],
    permissions: [],
  },
};
