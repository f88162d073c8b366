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
