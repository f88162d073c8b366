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
