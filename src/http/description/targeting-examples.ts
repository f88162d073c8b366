/** Examples of segments, context fields and strategy types. By the name of the component. */
import { AT } from './flag-examples.ts';

const STRATEGY_ID = '6a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';

const CONSTRAINT = {
  contextName: 'country',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['fi', 'se'],
};

const SEGMENT_INPUT = {
  name: 'Nordic customers',
  description: 'Who sees new things first',
  constraints: [CONSTRAINT],
};

const SEGMENT = {
  id: 1,
  ...SEGMENT_INPUT,
  createdBy: 'ada',
  createdAt: AT,
  usedInFeatures: 1,
  usedInProjects: 1,
};

const LEGAL_VALUE = { value: 'fi', description: 'Finland' };

const CONTEXT_FIELD_INPUT = {
  description: 'Where the customer lives',
  stickiness: false,
  sortOrder: 10,
  legalValues: [LEGAL_VALUE, { value: 'se' }],
};

const PARAMETER = { name: 'weekdays', type: 'list', description: 'Such as mon,tue', required: true };

const STRATEGY_TYPE_INPUT = {
  title: 'On weekdays',
  description: 'Evaluated by the shop itself.',
  parameters: [PARAMETER],
};

const STRATEGY_TYPE = {
  name: 'onWeekdays',
  displayName: 'On weekdays',
  editable: true,
  deprecated: false,
  ...STRATEGY_TYPE_INPUT,
};

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

const TAG_TYPE = { name: 'team', description: 'Who owns the flag', icon: 'T', color: '#0b5394' };
const TAG = { type: 'team', value: 'checkout' };
const CHANGE_TAGS = { addedTags: [TAG], removedTags: [] };

export const TARGETING_EXAMPLES: Readonly<Record<string, unknown>> = {
  SegmentInput: SEGMENT_INPUT,
  Segment: SEGMENT,
  Segments: { segments: [SEGMENT] },
  ValidateSegment: { name: 'Nordic customers' },
  SetStrategySegments: STRATEGY_SEGMENTS,
  StrategySegments: STRATEGY_SEGMENTS,
  ContextField: {
    name: 'country',
    ...CONTEXT_FIELD_INPUT,
    createdAt: AT,
    usedInFeatures: 1,
    usedInProjects: 1,
  },
  CreateContextField: { name: 'country', ...CONTEXT_FIELD_INPUT },
  UpdateContextField: CONTEXT_FIELD_INPUT,
  ValidateContextField: { name: 'country' },
  LegalValue: LEGAL_VALUE,
  StrategyUse: USE,
  StrategyUses: { strategies: [USE] },
  StrategyType: STRATEGY_TYPE,
  StrategyTypes: { version: 1, strategies: [STRATEGY_TYPE] },
  StrategyTypeParameter: PARAMETER,
  StrategyTypeParameterInput: PARAMETER,
  CreateStrategyType: { name: 'onWeekdays', ...STRATEGY_TYPE_INPUT },
  UpdateStrategyType: STRATEGY_TYPE_INPUT,
  TagType: TAG_TYPE,
  FoundTagType: { version: 1, tagType: TAG_TYPE },
  TagTypes: { version: 1, tagTypes: [TAG_TYPE] },
  TagTypeCheck: { valid: true, tagType: TAG_TYPE },
  CreateTagType: TAG_TYPE,
  UpdateTagType: { description: 'The team that owns the flag' },
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
