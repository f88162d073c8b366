/** Examples of evaluations with what decided, by the name of the component. */

const CONTEXT = { userId: '1', appName: 'shop' };

const CONSTRAINT = {
  contextName: 'userId',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['1', '2'],
  result: true,
};

const SEGMENT = { id: 1, name: 'beta', constraints: [CONSTRAINT], result: true };

const ROLLOUT = {
  percentage: 50,
  stickiness: 'default',
  groupId: 'checkout-redesign',
  bucket: 17,
  result: true,
};

const STRATEGY_ID = '0b1c1a3e-8d5e-4c57-9f2a-5b7a1d2c3e4f';

const STRATEGY = {
  id: STRATEGY_ID,
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  parameters: { rollout: '50', stickiness: 'default', groupId: 'checkout-redesign' },
  result: { enabled: true, evaluationStatus: 'complete' },
  constraints: [CONSTRAINT],
  segments: [SEGMENT],
  links: {
    edit: `/projects/default/features/checkout-redesign/strategies/edit?environmentId=development&strategyId=${STRATEGY_ID}`,
  },
  rollout: ROLLOUT,
};

const DECIDED_BY = { kind: 'strategy', id: STRATEGY_ID };

const PARENT = { feature: 'new-payment-provider', enabled: true, variants: [], result: true };

const EVALUATION = {
  name: 'checkout-redesign',
  projectId: 'default',
  isEnabled: true,
  isEnabledInCurrentEnvironment: true,
  hasUnsatisfiedDependency: false,
  strategies: { result: true, data: [STRATEGY] },
  variant: { name: 'disabled', enabled: false, feature_enabled: true, featureEnabled: true },
  decidedBy: DECIDED_BY,
  reason: 'SPLIT',
  parentResults: [PARENT],
  variantDecision: null,
  contextValues: { userId: '1' },
};

const FEATURE = { ...EVALUATION, variants: [] };
const ADVANCED = { ...FEATURE, environment: 'development', context: CONTEXT };
const ADVANCED_FEATURE = {
  name: 'checkout-redesign',
  projectId: 'default',
  environments: { development: [ADVANCED] },
};

const ADVANCED_REQUEST = {
  environments: ['development'],
  projects: ['default'],
  context: { userId: '1,2', appName: 'shop' },
};
const REQUEST = { environment: 'development', projects: ['default'], context: CONTEXT };

export const PLAYGROUND_EXAMPLES: Readonly<Record<string, unknown>> = {
  AdvancedPlayground: {
    input: ADVANCED_REQUEST,
    features: [ADVANCED_FEATURE],
    warnings: { invalidContextProperties: [] },
  },
  AdvancedPlaygroundEvaluation: ADVANCED,
  AdvancedPlaygroundFeature: ADVANCED_FEATURE,
  AdvancedPlaygroundRequest: ADVANCED_REQUEST,
  ConstraintResult: CONSTRAINT,
  DecidedBy: DECIDED_BY,
  ExplainRequest: { environment: 'development', context: CONTEXT },
  Explanation: { ...EVALUATION, environment: 'development', eventId: null },
  ParentResult: PARENT,
  Playground: { input: REQUEST, features: [FEATURE] },
  PlaygroundFeature: FEATURE,
  PlaygroundRequest: REQUEST,
  RolloutResult: ROLLOUT,
  SegmentResult: SEGMENT,
  StrategyResult: STRATEGY,
  VariantDecision: {
    of: 'flag',
    by: 'weight',
    stickiness: 'default',
    groupId: 'checkout-redesign',
    totalWeight: 1000,
    bucket: 421,
  },
};
