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
