/**
 * Routes for what Unleash's pages and clients send about themselves: answers to a survey, pages shown, errors of
 * their own. None of it changes a flag, so it is answered and not kept (docs/unleash-compatibility.md). And routes
 * for the few things that they read besides.
 */
import * as v from 'valibot';
import { titled } from '../../../domain/json/schema.ts';
import { SYSTEM } from '../../../domain/state/decision.ts';
import { API_TOKEN_USER_ID, authorOf } from '../../serving/access.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type RequestContext, readRoute, underTag } from '../../serving/route.ts';
import { TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import { settledResponse } from '../views/responses.ts';

// The shapes of what pages of Unleash ask beside flags.

const Id = v.pipe(v.number(), v.integer());

const EventCreatorsSchema = v.array(titled('EventCreator', { id: Id, name: v.string() }));

const TelemetrySettingsSchema = titled('TelemetrySettings', {
  versionInfoCollectionEnabled: v.literal(false),
  featureInfoCollectionEnabled: v.literal(false),
});

const FeedbackSchema = titled('Feedback', {
  userId: Id,
  feedbackId: v.string(),
  neverShow: v.boolean(),
  given: v.nullable(v.string()),
});

const SplashSchema = titled('Splash', { userId: Id, splashId: v.string(), seen: v.literal(true) });

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
