/** The settings that Unleash's console requests at its start, and the origins of pages that may call the surfaces for pages. */
import * as v from 'valibot';
import { ENVIRONMENTS_MAX } from '../../domain/decide/environment-commands.ts';
import type { GrowthLimits } from '../../domain/flags/growth-limits.ts';
import { described, Integer, list, titled } from '../../domain/json/schema.ts';
import { SEGMENT_VALUES_MAX, SEGMENTS_MAX } from '../../domain/kinds/segment.ts';
import { API_TOKENS_MAX } from '../../domain/people/token-commands.ts';
import { SYSTEM } from '../../domain/state/decision.ts';
import {
  FRONTEND_SETTING_ID,
  frontendOrigins,
  isInMaintenance,
  isOrigin,
  ORIGIN_PHRASE,
  settingOf,
} from '../../domain/state/settings.ts';
import { API_TOKEN_USER_ID, authorOf } from '../serving/access.ts';
import { publicUrl } from '../serving/fresh-secret.ts';
import { emptyResponse } from '../serving/json-response.ts';
import { type RequestContext, readRoute, underTag, writeRoute } from '../serving/route.ts';
import { TEXT_LENGTH_MAX } from './bodies.ts';
import { settledResponse } from './responses.ts';

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

const UiConfigBody = titled('UiConfigUpdate', { frontendSettings: OriginsBody });

function uiConfigView(context: RequestContext<unknown>) {
  const { instance, streaming, world } = context;
  const { version, configuredOrigins, limits } = instance;
  return {
    ...{ name: 'Flagstaff', slogan: '', version, environment: '' },
    unleashUrl: publicUrl(context),
    baseUriPath: streaming.basePath,
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
    read: (context) => settledResponse(context, uiConfigView(context)),
  }),
  writeRoute(`POST ${UI_CONFIG}`, {
    operationId: 'setUiConfig',
    summary: 'Set the origins of pages that may call the surfaces for pages, as older clients do it.',
    permission: 'admin',
    needs: ['UPDATE_CORS'],
    body: UiConfigBody,
    command: ({ body }) => ({
      type: 'set-frontend-origins',
      origins: body.frontendSettings.frontendApiOrigins,
    }),
  }),
  writeRoute(`POST ${UI_CONFIG}/cors`, {
    operationId: 'setCors',
    summary: 'Set the origins of pages that may call the surfaces for pages.',
    permission: 'admin',
    needs: ['UPDATE_CORS'],
    body: OriginsBody,
    success: { status: 204, schema: null },
    command: ({ body }) => ({ type: 'set-frontend-origins', origins: body.frontendApiOrigins }),
  }),
]);

// Routes for what Unleash's pages and clients send about themselves: answers to a survey, pages shown, errors of
// their own. None of it changes a flag, so it is answered and not kept (docs/unleash-compatibility.md). And routes
// for the few things that they read besides.

// The shapes of what pages of Unleash ask beside flags.

const EventCreatorsSchema = v.array(titled('EventCreator', { id: Integer, name: v.string() }));

const TelemetrySettingsSchema = titled('TelemetrySettings', {
  versionInfoCollectionEnabled: v.literal(false),
  featureInfoCollectionEnabled: v.literal(false),
});

const FeedbackSchema = titled('Feedback', {
  userId: Integer,
  feedbackId: v.string(),
  neverShow: v.boolean(),
  given: v.nullable(v.string()),
});

const SplashSchema = titled('Splash', { userId: Integer, splashId: v.string(), seen: v.literal(true) });

const ID_PHRASE = `a text of 1 to ${TEXT_LENGTH_MAX} characters`;
const FEEDBACK_ENTRIES = {
  neverShow: v.optional(v.boolean(), false),
  given: v.optional(v.nullable(v.string()), null),
} as const;

const FeedbackBody = titled('CreateFeedback', {
  feedbackId: v.pipe(v.string(ID_PHRASE), v.minLength(1, ID_PHRASE), v.maxLength(TEXT_LENGTH_MAX, ID_PHRASE)),
  ...FEEDBACK_ENTRIES,
});

const UpdateFeedbackBody = titled('UpdateFeedback', FEEDBACK_ENTRIES);

const UiErrorBody = titled('UiError', { errorMessage: v.string() });

const userIdOf = ({ caller }: RequestContext<unknown>): number => caller.actor.userId;

interface Feedback {
  readonly feedbackId: string;
  readonly neverShow: boolean;
  readonly given: string | null;
}

const feedbackResponse = (context: RequestContext<unknown>, { feedbackId, neverShow, given }: Feedback) =>
  settledResponse(context, { userId: userIdOf(context), feedbackId, neverShow, given });

/** Possible authors of events: users, API tokens as one, and the system. */
function eventCreators({ world }: RequestContext<unknown>) {
  const ids = [...world.directory.users.keys(), API_TOKEN_USER_ID, SYSTEM.userId];
  return ids.map((id) => ({ id, name: authorOf(world, id).name }));
}

export const unleashPageRoutes = underTag('Instance', [
  readRoute('GET /event-creators', {
    operationId: 'getEventCreators',
    tag: 'Events',
    summary: 'List who can have recorded events, for filters of a log: users, API tokens and the server.',
    success: { status: 200, schema: EventCreatorsSchema },
    read: (context) => settledResponse(context, eventCreators(context)),
  }),
  readRoute('GET /telemetry/settings', {
    operationId: 'getTelemetrySettings',
    summary: 'Say that nothing is reported to anybody.',
    success: { status: 200, schema: TelemetrySettingsSchema },
    read: (context) =>
      settledResponse(context, { versionInfoCollectionEnabled: false, featureInfoCollectionEnabled: false }),
  }),
  readRoute('POST /feedback', {
    operationId: 'createFeedback',
    summary: 'Take the answer to a survey of a page of Unleash, and forget it.',
    permission: 'self',
    body: FeedbackBody,
    success: { status: 200, schema: FeedbackSchema },
    read: (context) => feedbackResponse(context, context.body),
  }),
  readRoute('PUT /feedback/:id', {
    operationId: 'updateFeedback',
    summary: 'Take another answer to a survey of a page of Unleash, and forget it.',
    permission: 'self',
    body: UpdateFeedbackBody,
    success: { status: 200, schema: FeedbackSchema },
    read: (context) => feedbackResponse(context, { ...context.body, feedbackId: context.params.id }),
  }),
  readRoute('POST /splash/:id', {
    operationId: 'updateSplashSettings',
    summary: 'Take that a page of Unleash has shown something new, and forget it.',
    permission: 'self',
    success: { status: 200, schema: SplashSchema },
    read: (context) =>
      settledResponse(context, { userId: userIdOf(context), splashId: context.params.id, seen: true }),
  }),
  readRoute('POST /record-ui-error', {
    operationId: 'recordUiError',
    summary: 'Take an error of a page of Unleash, and forget it.',
    permission: 'self',
    body: UiErrorBody,
    success: { status: 204, schema: null },
    read: ({ engine }) => ({ revision: engine.lastId, response: emptyResponse(204) }),
  }),
]);
