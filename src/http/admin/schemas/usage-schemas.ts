/** Schemas of responses about what applications reported. */
import * as v from 'valibot';
import { recordSchema } from './record-schemas.ts';

const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description('ISO 8601, UTC.'));
const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
const Names = v.array(v.string());

const VERSION_ENTRIES = {
  version: v.pipe(v.literal(1), v.description('Of the format.')),
  maturity: v.literal('stable'),
} as const;

const PERIOD_ENTRIES = {
  environment: v.string(),
  timestamp: v.pipe(Timestamp, v.description('The begin of the hour, or of the day.')),
  yes: v.pipe(Count, v.description('How often the flag was on.')),
  no: v.pipe(Count, v.description('How often the flag was off.')),
} as const;

export const FlagUsageSchema = v.pipe(
  v.object({
    ...VERSION_ENTRIES,
    featureName: v.string(),
    lastHourUsage: v.array(v.pipe(v.object(PERIOD_ENTRIES), v.title('FlagUsageInEnvironment'))),
    seenApplications: Names,
  }),
  v.title('FlagUsage'),
);

export const RawFlagUsageSchema = v.pipe(
  v.object({
    ...VERSION_ENTRIES,
    data: v.array(
      v.pipe(
        v.object({
          featureName: v.string(),
          appName: v.string(),
          ...PERIOD_ENTRIES,
          variants: v.pipe(
            v.exactOptional(v.record(v.string(), Count)),
            v.description('How often each variant was chosen, by its name; `disabled` stands for none.'),
          ),
        }),
        v.title('FlagUsageCount'),
      ),
    ),
  }),
  v.title('RawFlagUsage'),
);

const APPLICATION_ENTRIES = {
  appName: v.string(),
  createdAt: v.pipe(Timestamp, v.description('The first report.')),
  updatedAt: v.pipe(Timestamp, v.description('The last report, or when somebody last described it.')),
  description: v.pipe(
    v.string(),
    v.description('Empty as long as nobody has said anything; so are url, color and icon.'),
  ),
  createdBy: v.string(),
  url: v.string(),
  color: v.string(),
  icon: v.string(),
  project: v.pipe(v.string(), v.description('The first one that its tokens cover; * for every one.')),
  environment: v.pipe(v.string(), v.description('The one that it reported of last.')),
  usage: v.array(v.pipe(v.object({ project: v.string(), environments: Names }), v.title('ApplicationUsage'))),
} as const;

export const ApplicationsSchema = v.pipe(
  v.object({
    applications: v.array(
      v.pipe(v.object({ ...APPLICATION_ENTRIES, strategies: Names }), v.title('ApplicationSummary')),
    ),
    total: Count,
  }),
  v.title('Applications'),
);

const InstanceSchema = v.pipe(
  v.object({
    instanceId: v.string(),
    clientIp: v.pipe(v.string(), v.description('Empty when it is not known.')),
    sdkVersion: v.nullable(v.string()),
    lastSeen: Timestamp,
    environment: v.string(),
  }),
  v.title('ApplicationInstance'),
);

export const ApplicationSchema = v.pipe(
  v.object({
    ...APPLICATION_ENTRIES,
    instances: v.array(InstanceSchema),
    seenToggles: v.pipe(Names, v.description('Flags that exist and that it evaluated.')),
    strategies: v.array(
      v.union([
        recordSchema('strategyTypes'),
        v.pipe(v.object({ name: v.string(), notFound: v.literal(true) }), v.title('UnknownStrategyType')),
      ]),
    ),
  }),
  v.title('Application'),
);

export const ApplicationOverviewSchema = v.pipe(
  v.object({
    projects: Names,
    featureCount: v.pipe(Count, v.description('Flags that exist and that it evaluated.')),
    environments: v.array(
      v.pipe(
        v.object({
          name: v.string(),
          instanceCount: Count,
          sdks: Names,
          frontendSdks: Names,
          backendSdks: Names,
          lastSeen: Timestamp,
          issues: v.object({
            missingFeatures: v.pipe(
              Names,
              v.description(
                'Flags that it evaluated and that do not exist, or that its token does not cover.',
              ),
            ),
            outdatedSdks: v.pipe(Names, v.description('SDKs that are older than they should be.')),
          }),
        }),
        v.title('ApplicationEnvironment'),
      ),
    ),
    issues: v.object({
      missingStrategies: v.pipe(
        Names,
        v.description('Strategy types that it knows and that are not defined.'),
      ),
    }),
  }),
  v.title('ApplicationOverview'),
);

export const OutdatedSdksSchema = v.pipe(
  v.object({
    sdks: v.array(v.pipe(v.object({ sdkVersion: v.string(), applications: Names }), v.title('OutdatedSdk'))),
  }),
  v.title('OutdatedSdks'),
);

export const ApplicationInstancesSchema = v.pipe(
  v.object({ instances: v.array(InstanceSchema) }),
  v.title('ApplicationInstances'),
);

export const ProjectApplicationsSchema = v.pipe(
  v.object({
    applications: v.array(
      v.pipe(
        v.object({
          name: v.string(),
          environments: Names,
          instances: Names,
          sdks: v.array(v.pipe(v.object({ name: v.string(), versions: Names }), v.title('ApplicationSdk'))),
        }),
        v.title('ProjectApplication'),
      ),
    ),
    total: Count,
  }),
  v.title('ProjectApplications'),
);
