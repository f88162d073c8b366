/** The settings that Unleash's console requests at its start, and the origins of pages that may call the surfaces for pages. */
import * as v from 'valibot';
import { ENVIRONMENTS_MAX } from '../../domain/decide/environment-commands.ts';
import type { GrowthLimits } from '../../domain/flags/growth-limits.ts';
import { described, Integer, list, titled } from '../../domain/json/schema.ts';
import { SEGMENT_VALUES_MAX, SEGMENTS_MAX } from '../../domain/kinds/segment.ts';
import { API_TOKENS_MAX } from '../../domain/people/token-commands.ts';
import {
  FRONTEND_SETTING_ID,
  frontendOrigins,
  isInMaintenance,
  isOrigin,
  ORIGIN_PHRASE,
  settingOf,
} from '../../domain/state/settings.ts';
import { publicUrl } from '../serving/fresh-secret.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';

const UI_CONFIG = '/ui-config';

/** A response to a page is compared with each of them. */
const ORIGINS_MAX = 100;
const ORIGIN_LENGTH_MAX = 300;

const ORIGINS_PHRASE = `a list of at most ${ORIGINS_MAX} origins`;
const OriginsBody = titled('FrontendOrigins', {
  frontendApiOrigins: v.pipe(
    list(
      v.pipe(
        v.string(ORIGIN_PHRASE),
        v.maxLength(ORIGIN_LENGTH_MAX, `an origin of at most ${ORIGIN_LENGTH_MAX} characters`),
        v.check(isOrigin, ORIGIN_PHRASE),
      ),
      ORIGINS_PHRASE,
    ),
    v.maxLength(ORIGINS_MAX, ORIGINS_PHRASE),
    v.description('Origins such as https://shop.example; * stands for any, and an empty list for none.'),
  ),
});

const Editions = v.object({ oss: v.exactOptional(v.string()), enterprise: v.exactOptional(v.string()) });

const VersionInfoSchema = titled('VersionInfo', {
  current: Editions,
  latest: described(Editions, 'Always empty: the server asks nobody for newer releases.'),
  isLatest: described(v.literal(true), 'Always true, so that no page announces a release.'),
});

const ResourceLimitsSchema = v.pipe(
  v.object({
    segmentValues: Integer,
    strategySegments: Integer,
    featureEnvironmentStrategies: Integer,
    constraintValues: Integer,
    constraints: Integer,
    environments: Integer,
    apiTokens: Integer,
    segments: Integer,
    projects: Integer,
    featureFlags: Integer,
    actionSetActions: Integer,
    actionSetsPerProject: Integer,
    actionSetFilters: Integer,
    actionSetFilterValues: Integer,
    signalEndpoints: Integer,
    signalTokensPerEndpoint: Integer,
  }),
  v.description('How many there may be. Zero: this server has none of them.'),
  v.title('ResourceLimits'),
);

const UiConfigSchema = titled('UiConfig', {
  name: v.string(),
  slogan: v.string(),
  version: v.string(),
  environment: v.string(),
  unleashUrl: described(v.string(), 'Where the caller reached this server, for examples of requests.'),
  baseUriPath: v.string(),
  versionInfo: VersionInfoSchema,
  resourceLimits: ResourceLimitsSchema,
  flags: described(v.record(v.string(), v.unknown()), 'Always empty.'),
  links: described(v.array(v.unknown()), 'Always empty.'),
  frontendApiOrigins: v.array(v.string()),
  maintenanceMode: described(v.boolean(), 'Whether all changes are refused.'),
});

function uiConfigView(context: RequestContext<unknown>) {
  const { instance, site, world } = context;
  const { version, configuredOrigins, limits } = instance;
  return {
    ...{ name: 'Flagstaff', slogan: '', version, environment: '' },
    unleashUrl: publicUrl(context),
    baseUriPath: site.basePath,
    versionInfo: {
      // The console of Unleash offers environments and further projects, which this server has, to this edition only.
      current: { oss: version, enterprise: version },
      latest: {},
      isLatest: true,
    },
    resourceLimits: resourceLimits(limits),
    flags: {},
    links: [],
    frontendApiOrigins: frontendOrigins(
      settingOf(world.directory.settings, FRONTEND_SETTING_ID),
      configuredOrigins,
    ),
    maintenanceMode: isInMaintenance(world.directory.settings),
  };
}

/** Projects and flags are bounded by the memory that they take together, and not in number. */
function resourceLimits({ segments, strategies, values, constraints }: GrowthLimits) {
  return {
    segmentValues: SEGMENT_VALUES_MAX,
    strategySegments: segments,
    featureEnvironmentStrategies: strategies,
    constraintValues: values,
    constraints,
    environments: ENVIRONMENTS_MAX,
    apiTokens: API_TOKENS_MAX,
    segments: SEGMENTS_MAX,
    projects: Number.MAX_SAFE_INTEGER,
    featureFlags: Number.MAX_SAFE_INTEGER,
    ...{ actionSetActions: 0, actionSetsPerProject: 0, actionSetFilters: 0, actionSetFilterValues: 0 },
    ...{ signalEndpoints: 0, signalTokensPerEndpoint: 0 },
  };
}

export const uiConfigRoutes = underTag('Instance', [
  readRoute(`GET ${UI_CONFIG}`, {
    operationId: 'getUiConfig',
    summary: 'Read the version, and the origins of pages that may call the surfaces for pages.',
    success: { status: 200, schema: UiConfigSchema },
    shows: uiConfigView,
  }),
  writeRoute(`POST ${UI_CONFIG}/cors`, {
    operationId: 'setCors',
    summary: 'Set the origins of pages that may call the surfaces for pages.',
    needs: ['UPDATE_CORS'],
    body: OriginsBody,
    success: { status: 204, schema: null },
    command: ({ body }) => ({ type: 'set-frontend-origins', origins: body.frontendApiOrigins }),
  }),
]);
