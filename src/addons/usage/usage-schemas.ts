/** Schemas of responses about what applications reported. */
import * as v from 'valibot';
import { Count, described, Timestamp, titled } from '../../domain/json/schema.ts';
import { recordSchema } from '../../http/admin/record-schemas.ts';

const Names = v.array(v.string());

const VERSION_ENTRIES = {
  version: described(v.literal(1), 'Of the format.'),
  maturity: v.literal('stable'),
} as const;

const PERIOD_ENTRIES = {
  environment: v.string(),
  timestamp: described(Timestamp, 'The begin of the hour, or of the day.'),
  yes: described(Count, 'How often the flag was on.'),
  no: described(Count, 'How often the flag was off.'),
} as const;

export const FlagUsageSchema = titled('FlagUsage', {
  ...VERSION_ENTRIES,
  featureName: v.string(),
  lastHourUsage: v.array(titled('FlagUsageInEnvironment', PERIOD_ENTRIES)),
  seenApplications: Names,
});

export const RawFlagUsageSchema = titled('RawFlagUsage', {
  ...VERSION_ENTRIES,
  data: v.array(
    titled('FlagUsageCount', {
      featureName: v.string(),
      appName: v.string(),
      ...PERIOD_ENTRIES,
      variants: described(
        v.exactOptional(v.record(v.string(), Count)),
        'How often each variant was chosen, by its name; `disabled` stands for none.',
      ),
    }),
  ),
});

export const UsageSumsSchema = titled('UsageSums', {
  ...VERSION_ENTRIES,
  data: v.array(titled('UsageSum', PERIOD_ENTRIES)),
});

const APPLICATION_ENTRIES = {
  appName: v.string(),
  createdAt: described(Timestamp, 'The first report.'),
  updatedAt: described(Timestamp, 'The last report or description.'),
  description: described(v.string(), 'Empty until it is set; so are url, color and icon.'),
  createdBy: v.string(),
  url: v.string(),
  color: v.string(),
  icon: v.string(),
  project: described(v.string(), 'The first one that its tokens cover; * for every one.'),
  environment: described(v.string(), 'The one that it reported of last.'),
  usage: v.array(titled('ApplicationUsage', { project: v.string(), environments: Names })),
} as const;

export const ApplicationsSchema = titled('Applications', {
  applications: v.array(titled('ApplicationSummary', { ...APPLICATION_ENTRIES, strategies: Names })),
  total: Count,
});

const InstanceSchema = titled('ApplicationInstance', {
  instanceId: v.string(),
  clientIp: described(v.string(), 'Empty when it is not known.'),
  sdkVersion: v.nullable(v.string()),
  lastSeen: Timestamp,
  environment: v.string(),
});

export const ApplicationSchema = titled('Application', {
  ...APPLICATION_ENTRIES,
  instances: v.array(InstanceSchema),
  seenToggles: described(Names, 'Flags that exist and that it evaluated.'),
  strategies: v.array(
    v.union([
      recordSchema('strategyTypes'),
      titled('UnknownStrategyType', { name: v.string(), notFound: v.literal(true) }),
    ]),
  ),
});

export const ApplicationOverviewSchema = titled('ApplicationOverview', {
  projects: Names,
  featureCount: described(Count, 'Flags that exist and that it evaluated.'),
  environments: v.array(
    titled('ApplicationEnvironment', {
      name: v.string(),
      instanceCount: Count,
      sdks: Names,
      frontendSdks: Names,
      backendSdks: Names,
      lastSeen: Timestamp,
      issues: v.object({
        missingFeatures: described(
          Names,
          'Flags that it evaluated and that do not exist, or that its token does not cover.',
        ),
        outdatedSdks: described(Names, 'SDKs that are older than they should be.'),
      }),
    }),
  ),
  issues: v.object({
    missingStrategies: described(Names, 'Strategy types that it knows and that are not defined.'),
  }),
});

export const OutdatedSdksSchema = titled('OutdatedSdks', {
  sdks: v.array(titled('OutdatedSdk', { sdkVersion: v.string(), applications: Names })),
});

export const ApplicationInstancesSchema = titled('ApplicationInstances', {
  instances: v.array(InstanceSchema),
});

export const ProjectApplicationsSchema = titled('ProjectApplications', {
  applications: v.array(
    titled('ProjectApplication', {
      name: v.string(),
      environments: Names,
      instances: Names,
      sdks: v.array(titled('ApplicationSdk', { name: v.string(), versions: Names })),
    }),
  ),
  total: Count,
});
