/**
 * Routes for what Unleash's pages and clients send about themselves: answers to a survey, pages shown, errors of
 * their own. None of it changes a flag, so it is answered and not kept (docs/unleash-compatibility.md). And routes
 * for the few things that they read besides.
 */
import * as v from 'valibot';
import { SYSTEM } from '../../../domain/state/decision.ts';
import { API_TOKEN_USER_ID, authorOf } from '../../serving/access.ts';
import { emptyResponse } from '../../serving/json-response.ts';
import { type RequestContext, type Route, readRoute } from '../../serving/route.ts';
import { TEXT_LENGTH_MAX } from '../requests/bodies.ts';
import { settledResponse } from '../views/responses.ts';

// The shapes of what pages of Unleash ask beside flags.

const Id = v.pipe(v.number(), v.integer());

const EventCreatorsSchema = v.array(v.pipe(v.object({ id: Id, name: v.string() }), v.title('EventCreator')));

const TelemetrySettingsSchema = v.pipe(
  v.object({
    versionInfoCollectionEnabled: v.literal(false),
    featureInfoCollectionEnabled: v.literal(false),
  }),
  v.title('TelemetrySettings'),
);

const FeedbackSchema = v.pipe(
  v.object({ userId: Id, feedbackId: v.string(), neverShow: v.boolean(), given: v.nullable(v.string()) }),
  v.title('Feedback'),
);

const SplashSchema = v.pipe(
  v.object({ userId: Id, splashId: v.string(), seen: v.literal(true) }),
  v.title('Splash'),
);

const ID_PHRASE = `a text of 1 to ${TEXT_LENGTH_MAX} characters`;
const FEEDBACK_ENTRIES = {
  neverShow: v.optional(v.boolean(), false),
  given: v.optional(v.nullable(v.string()), null),
} as const;

const FeedbackBody = v.pipe(
  v.object({
    feedbackId: v.pipe(
      v.string(ID_PHRASE),
      v.minLength(1, ID_PHRASE),
      v.maxLength(TEXT_LENGTH_MAX, ID_PHRASE),
    ),
    ...FEEDBACK_ENTRIES,
  }),
  v.title('CreateFeedback'),
);

const UpdateFeedbackBody = v.pipe(v.object(FEEDBACK_ENTRIES), v.title('UpdateFeedback'));

const UiErrorBody = v.pipe(v.object({ errorMessage: v.string() }), v.title('UiError'));

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

export const unleashPageRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/event-creators',
    operationId: 'getEventCreators',
    tag: 'Events',
    summary: 'List who can have recorded events, for filters of a log: users, API tokens and the server.',
    permission: 'read',
    success: { status: 200, schema: EventCreatorsSchema },
    read: (context) => settledResponse(context, eventCreators(context)),
  }),
  readRoute({
    method: 'GET',
    path: '/telemetry/settings',
    operationId: 'getTelemetrySettings',
    tag: 'Instance',
    summary: 'Say that nothing is reported to anybody.',
    permission: 'read',
    success: { status: 200, schema: TelemetrySettingsSchema },
    read: (context) =>
      settledResponse(context, { versionInfoCollectionEnabled: false, featureInfoCollectionEnabled: false }),
  }),
  readRoute({
    method: 'POST',
    path: '/feedback',
    operationId: 'createFeedback',
    tag: 'Instance',
    summary: 'Take the answer to a survey of a page of Unleash, and forget it.',
    permission: 'self',
    body: FeedbackBody,
    success: { status: 200, schema: FeedbackSchema },
    read: (context) => feedbackResponse(context, context.body),
  }),
  readRoute({
    method: 'PUT',
    path: '/feedback/:id',
    operationId: 'updateFeedback',
    tag: 'Instance',
    summary: 'Take another answer to a survey of a page of Unleash, and forget it.',
    permission: 'self',
    body: UpdateFeedbackBody,
    success: { status: 200, schema: FeedbackSchema },
    read: (context) => feedbackResponse(context, { ...context.body, feedbackId: context.params.id }),
  }),
  readRoute({
    method: 'POST',
    path: '/splash/:id',
    operationId: 'updateSplashSettings',
    tag: 'Instance',
    summary: 'Take that a page of Unleash has shown something new, and forget it.',
    permission: 'self',
    success: { status: 200, schema: SplashSchema },
    read: (context) =>
      settledResponse(context, { userId: userIdOf(context), splashId: context.params.id, seen: true }),
  }),
  readRoute({
    method: 'POST',
    path: '/record-ui-error',
    operationId: 'recordUiError',
    tag: 'Instance',
    summary: 'Take an error of a page of Unleash, and forget it.',
    permission: 'self',
    body: UiErrorBody,
    success: { status: 204, schema: null },
    read: ({ engine }) => ({ revision: engine.lastId, response: emptyResponse(204) }),
  }),
];
