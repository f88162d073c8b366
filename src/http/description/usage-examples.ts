/** Examples of what applications reported, by the name of the component. */

const HOUR = '2026-11-21T10:00:00.000Z';

const COUNTS = { environment: 'development', timestamp: HOUR, yes: 3, no: 1 };

const FLAG_USAGE_COUNT = {
  featureName: 'checkout-redesign',
  appName: 'shop',
  ...COUNTS,
  variants: { 'one-page': 3 },
};

const USAGE = { project: 'default', environments: ['development'] };

const HEAD = {
  appName: 'shop',
  createdAt: HOUR,
  updatedAt: '2026-11-21T10:01:00.000Z',
  description: 'The shop and its checkout',
  createdBy: 'unknown',
  url: 'https://shop.example',
  color: '',
  icon: '',
  project: 'default',
  environment: 'development',
  usage: [USAGE],
};

const SUMMARY = { ...HEAD, strategies: ['default', 'flexibleRollout'] };

const INSTANCE = {
  instanceId: 'shop-1',
  clientIp: '198.51.100.7',
  sdkVersion: 'unleash-node-sdk:6.12.1',
  lastSeen: '2026-11-21T10:01:00.000Z',
  environment: 'development',
};

const UNKNOWN_STRATEGY = { name: 'byRegion', notFound: true };

const SDK = { name: 'unleash-node-sdk', versions: ['6.12.1'] };

const PROJECT_APPLICATION = {
  name: 'shop',
  environments: ['development'],
  instances: ['shop-1'],
  sdks: [SDK],
};

const ENVIRONMENT = {
  name: 'development',
  instanceCount: 1,
  sdks: ['unleash-node-sdk:6.12.1'],
  frontendSdks: [],
  backendSdks: ['unleash-node-sdk:6.12.1'],
  lastSeen: '2026-11-21T10:01:00.000Z',
  issues: { missingFeatures: ['chekout-redesign'], outdatedSdks: [] },
};

const OUTDATED_SDK = { sdkVersion: 'unleash-client-node:4.1.0', applications: ['shop'] };

export const USAGE_EXAMPLES: Readonly<Record<string, unknown>> = {
  ApplicationDescription: { description: 'The shop and its checkout', url: 'https://shop.example' },
  Application: {
    ...HEAD,
    instances: [INSTANCE],
    seenToggles: ['checkout-redesign'],
    strategies: [UNKNOWN_STRATEGY],
  },
  ApplicationEnvironment: ENVIRONMENT,
  ApplicationInstance: INSTANCE,
  ApplicationInstances: { instances: [INSTANCE] },
  ApplicationOverview: {
    projects: ['default'],
    featureCount: 1,
    environments: [ENVIRONMENT],
    issues: { missingStrategies: ['byRegion'] },
  },
  ApplicationSdk: SDK,
  ApplicationSummary: SUMMARY,
  ApplicationUsage: USAGE,
  Applications: { applications: [SUMMARY], total: 1 },
  FlagUsage: {
    version: 1,
    maturity: 'stable',
    featureName: 'checkout-redesign',
    lastHourUsage: [COUNTS],
    seenApplications: ['shop'],
  },
  FlagUsageCount: FLAG_USAGE_COUNT,
  FlagUsageInEnvironment: COUNTS,
  OutdatedSdk: OUTDATED_SDK,
  OutdatedSdks: { sdks: [OUTDATED_SDK] },
  ProjectApplication: PROJECT_APPLICATION,
  ProjectApplications: { applications: [PROJECT_APPLICATION], total: 1 },
  RawFlagUsage: { version: 1, maturity: 'stable', data: [FLAG_USAGE_COUNT] },
  UnknownStrategyType: UNKNOWN_STRATEGY,
};

/** Examples of what SDKs read. By the name of the component. */

const VARIANT = { name: 'one-page', weight: 1000, weightType: 'variable', stickiness: 'default' };

const CONSTRAINT = {
  contextName: 'country',
  operator: 'IN',
  caseInsensitive: false,
  inverted: false,
  values: ['NO', 'SE'],
};

const STRATEGY = {
  name: 'flexibleRollout',
  title: 'A quarter of Scandinavia',
  sortOrder: 0,
  constraints: [CONSTRAINT],
  parameters: { rollout: '25', stickiness: 'userId', groupId: 'checkout-redesign' },
  variants: [VARIANT],
};

const FEATURE = {
  name: 'checkout-redesign',
  type: 'release',
  enabled: true,
  project: 'default',
  stale: false,
  impressionData: false,
  description: 'The checkout on one page.',
  strategies: [STRATEGY],
  variants: [],
};

const FLAGD_DEFINITION = {
  state: 'ENABLED',
  variants: { on: true, off: false },
  defaultVariant: 'off',
  targeting: { if: [{ in: [{ var: 'country' }, ['NO', 'SE']] }, 'on', 'off'] },
};

export const CLIENT_EXAMPLES: Readonly<Record<string, unknown>> = {
  ClientConstraint: CONSTRAINT,
  ClientDelta: { events: [{ type: 'feature-updated', eventId: 815, feature: FEATURE }] },
  ClientFeature: FEATURE,
  ClientFeatures: {
    version: 2,
    features: [FEATURE],
    query: { environment: 'development', inlineSegmentConstraints: false },
    segments: [],
    meta: { etag: '"76d8bb0e:lZ2Jc0qBN3rVY3nT5ngQ0w"', queryHash: '76d8bb0e' },
  },
  ClientStrategy: STRATEGY,
  ClientVariant: VARIANT,
  FlagdDefinition: FLAGD_DEFINITION,
  FlagdDefinitions: {
    $schema: 'https://flagd.dev/schema/v0/flags.json',
    flags: { 'checkout-redesign': FLAGD_DEFINITION },
    metadata: { environment: 'development', leftOutCount: 1 },
    leftOut: { 'new-search': 'it has variants, which flagd chooses by another hash' },
  },
};

/** Examples of what SDKs in browsers, OpenFeature clients and Unleash Edge send and read. By the name of the component. */

const TOGGLE = {
  name: 'checkout-redesign',
  enabled: true,
  impressionData: false,
  variant: {
    name: 'one-page',
    enabled: true,
    payload: { type: 'string', value: 'compact' },
    feature_enabled: true,
    featureEnabled: true,
  },
};

const OFREP_SUCCESS = {
  key: 'checkout-redesign',
  value: 'compact',
  reason: 'SPLIT',
  variant: 'one-page',
  metadata: { enabled: true },
};

const EDGE_TOKEN = `default:development.${'a'.repeat(64)}`;

export const FRONTEND_EXAMPLES: Readonly<Record<string, unknown>> = {
  EdgeReport: { appName: 'edge', edgeVersion: '19.6.3', connectedStreamingClients: 12 },
  ClientBulkUsage: {
    applications: [{ appName: 'shop', instanceId: 'shop-1', environment: 'development' }],
    metrics: [
      {
        featureName: 'checkout-redesign',
        appName: 'shop',
        environment: 'development',
        timestamp: '2026-11-21T10:00:00.000Z',
        yes: 3,
        no: 1,
        variants: { 'one-page': 3 },
      },
    ],
  },
  ClientRegistration: {
    appName: 'shop',
    instanceId: 'shop-1',
    sdkVersion: 'unleash-node-sdk:6.12.1',
    interval: 15_000,
    started: '2026-11-21T10:00:00.000Z',
    strategies: ['default', 'flexibleRollout'],
  },
  ClientUsage: {
    appName: 'shop',
    instanceId: 'shop-1',
    bucket: {
      start: '2026-11-21T10:00:00.000Z',
      stop: '2026-11-21T10:01:00.000Z',
      toggles: { 'checkout-redesign': { yes: 3, no: 1, variants: { 'one-page': 3 } } },
    },
  },
  EdgeTokens: { tokens: [EDGE_TOKEN] },
  OfrepError: {
    key: 'checkout-redesign',
    errorCode: 'FLAG_NOT_FOUND',
    errorDetails: 'This token covers no flag "checkout-redesign".',
  },
  OfrepEvaluation: OFREP_SUCCESS,
  OfrepEvaluations: { flags: [OFREP_SUCCESS] },
  OfrepRequest: { context: { targetingKey: '1', region: 'eu' } },
  ValidEdgeTokens: {
    tokens: [{ token: EDGE_TOKEN, type: 'client', projects: ['default'], environment: 'development' }],
  },
  FrontendContext: { context: { userId: '1', properties: { region: 'eu' } } },
  Toggle: TOGGLE,
  Toggles: { toggles: [TOGGLE] },
};
