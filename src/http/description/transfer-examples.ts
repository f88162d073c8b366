/** Examples of exports and imports of flags. By the name of the component. */

const FLAG = 'checkout-redesign';

const STRATEGY = {
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  constraints: [],
  parameters: { rollout: '50', groupId: FLAG, stickiness: 'default' },
  variants: [],
  segments: [1],
};

const FLAG_EXPORT = {
  features: [
    {
      name: FLAG,
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
    { id: '6a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d', ...STRATEGY, sortOrder: 0, featureName: FLAG },
  ],
  featureEnvironments: [
    { name: FLAG, featureName: FLAG, environment: 'development', enabled: true, variants: [] },
  ],
  contextFields: [],
  featureTags: [{ featureName: FLAG, tagType: 'simple', tagValue: 'checkout' }],
  segments: [{ id: 1, name: 'Nordic customers' }],
  tagTypes: [{ name: 'simple', description: 'Tags without a type of their own.', icon: '#', color: null }],
  dependencies: [],
};

export const TRANSFER_EXAMPLES: Readonly<Record<string, unknown>> = {
  ExportQuery: { environment: 'development', features: [FLAG] },
  FlagExport: FLAG_EXPORT,
  ImportFlags: {
    project: 'default',
    environment: 'production',
    data: {
      features: [{ name: FLAG, description: 'The checkout on one page.' }],
      featureStrategies: [{ ...STRATEGY, featureName: FLAG }],
      featureEnvironments: [{ name: FLAG, featureName: FLAG, enabled: false, variants: [] }],
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
