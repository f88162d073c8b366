/** The routes of change requests (docs/specification/change-requests.md). */
import * as v from 'valibot';
import { each, inTurns } from '../../actors/turn.ts';
import { type Command, type OwnCommand, ownCommand } from '../../domain/decide/decide.ts';
import { Count, described, IdSchema, Integer, listUpTo, textUpTo, titled } from '../../domain/json/schema.ts';
import { isRecordEvent } from '../../domain/state/events.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { DateTimeSchema } from '../../http/admin/bodies.ts';
import * as locate from '../../http/admin/locators.ts';
import { callingUser, numericId } from '../../http/admin/locators.ts';
import { conditionParameter, conditionsOf, pageParameters } from '../../http/admin/query-parameters.ts';
import { settledResponse, textsResponse } from '../../http/admin/responses.ts';
import { jsonResponse } from '../../http/serving/json-response.ts';
import type { Params } from '../../http/serving/params.ts';
import {
  type RequestContext,
  type Route,
  readRoute,
  underTag,
  writeRoute,
} from '../../http/serving/route.ts';
import { ACTION_NAMES } from './action-names.ts';
import { parsedChange } from './actions.ts';
import { applyRequest } from './apply-request.ts';
import { countingApprovals, stateOf } from './approvals.ts';
import {
  addChanges,
  addComment,
  discardChange,
  discardRequest,
  editChange,
  setReviewers,
  setState,
  setTitle,
  WANTED_STATES,
} from './decisions.ts';
import {
  CHANGES_MAX,
  CLOSED,
  COMMENT_LENGTH_MAX,
  locateRequest,
  REQUEST,
  REVIEWERS_MAX,
  requestsIn,
  requestsOf,
  type State,
  type StoredRequest,
  TITLE_LENGTH_MAX,
} from './kind.ts';
import { findRequests, flagKey } from './request-index.ts';
import { mayReview, reviewersOf, userMay } from './rights.ts';
import { isStuck, scheduleRequest } from './schedule.ts';
import { scheduledFor } from './scheduled.ts';
import {
  type Authors,
  conflictingEvents,
  FoundRequestsSchema,
  featuresOf,
  foundView,
  headView,
  RequestSchema,
  ReviewersSchema,
  requestView,
  reviewerView,
  scheduledView,
} from './views.ts';

const REQUESTS = '/projects/:projectId/change-requests';
const ONE = `${REQUESTS}/:id`;

/** Requests that a list shows, newest first; a search finds the others. */
const LISTED_MAX = 1_000;
/** Requests that a list shows with their changes, each of which may be long. */
const PENDING_MAX = 20;
const TEXT_MAX = textUpTo(COMMENT_LENGTH_MAX);

const ChangeBody = titled('ChangeRequestChangeInput', {
  feature: v.optional(v.nullable(v.string())),
  action: v.picklist(ACTION_NAMES, `one of ${ACTION_NAMES.join(', ')}`),
  payload: v.optional(v.unknown()),
});

const ChangesBody = v.pipe(
  v.union([ChangeBody, listUpTo(CHANGES_MAX, 'changes', ChangeBody)], 'a change, or a list of changes'),
  v.title('ChangeRequestChangesInput'),
);

const STATES_SENT = [...WANTED_STATES, 'Applied', 'Scheduled'] as const;

const StateBody = titled('ChangeRequestStateInput', {
  state: v.picklist(STATES_SENT, `one of ${STATES_SENT.join(', ')}`),
  comment: v.optional(TEXT_MAX),
  version: described(
    v.optional(Integer),
    'The version that the caller has seen; refused where it was edited since.',
  ),
  scheduledAt: v.optional(
    described(DateTimeSchema, 'With the state Scheduled: when the request is applied.'),
  ),
});

const TitleBody = titled('ChangeRequestTitle', { title: textUpTo(TITLE_LENGTH_MAX) });
const CommentBody = titled('ChangeRequestComment', { text: TEXT_MAX });
const ReviewersBody = titled('ChangeRequestReviewersInput', {
  reviewers: listUpTo(REVIEWERS_MAX, 'ids of users', IdSchema),
});

const TotalSchema = titled('ChangeRequestTotal', { total: Count });
const CountSchema = titled('ChangeRequestCount', {
  ...{
    total: Count,
    applied: Count,
    approved: Count,
    rejected: Count,
    reviewRequired: Count,
    scheduled: Count,
  },
});

const RequestsSchema = v.array(RequestSchema);
const ScheduledSchema = titled('ScheduledChangeRequest', {
  id: Integer,
  title: v.string(),
  environment: v.string(),
});

const located = (world: World, { projectId, id }: Params) =>
  locateRequest(world, projectId, numericId(id), id);

const named = ({ projectId: project, id }: Params) => ({ project, id: numericId(id) });
const namedChange = (params: Params) => ({ ...named(params), changeId: numericId(params.changeId) });

/** People propose and review, under whichever of their own tokens: nobody knows who holds any other. */
const BY_PEOPLE = { permission: 'personal' } as const;

const WRITTEN = {
  ...BY_PEOPLE,
  locate: located,
  refusals: [
    'NoAccessError',
    'NotFoundError',
    'ValidationError',
    'InvalidOperationError',
    'PayloadTooLargeError',
  ],
  success: { status: 200, schema: RequestSchema },
} as const;

/** A write whose response is the request after it. */
const UPDATED = {
  ...WRITTEN,
  shows: ({ world }: RequestContext<unknown>, { data }: { readonly data: StoredRequest }) =>
    requestView(world, data),
} as const;

const own = <Sent extends object>(sent: Sent, decide: OwnCommand<Sent>['decide']): Command =>
  ownCommand({ sent, decide, faultPath: '/body' });

function addCommand({ params, body }: RequestContext<v.InferOutput<typeof ChangesBody>>): Command | Refusal {
  const isList = Array.isArray(body);
  const sent = isList ? body : [body];
  if (sent.length === 0) return invalid('A change is needed.', '/body');
  const paths = sent.map((_, index) => (isList ? `/body/${index}` : '/body'));
  const changes = [];
  for (const [index, one] of sent.entries()) {
    const parsed = parsedChange(one, paths[index]!);
    if (isRefusal(parsed)) return parsed;
    changes.push(parsed);
  }
  return own({ project: params.projectId, environment: params.environment, changes, paths }, addChanges);
}

/** Nobody where the history cannot be read yet. */
async function authorsOf(context: RequestContext<unknown>, ids: readonly number[]): Promise<Authors> {
  const { reads, engine, requester } = context;
  const page = await reads.search({ ids, limit: ids.length, offset: 0 }, engine.durableId, requester);
  if (isRefusal(page)) return new Map();
  const events = JSON.parse(Buffer.from(page.json).toString()) as readonly {
    readonly id: number;
    readonly createdBy: string;
  }[];
  return new Map(events.map(({ id, createdBy }) => [id, createdBy]));
}

function stateCommand({
  params,
  body: { state, comment, version, scheduledAt },
}: RequestContext<v.InferOutput<typeof StateBody>>): Command | Refusal {
  const sent = { ...named(params), comment, version };
  if (state === 'Applied')
    return ownCommand({ sent, decide: applyRequest, faultPath: '/body', onWholeState: true });
  if (state !== 'Scheduled') return own({ ...sent, state }, setState);
  if (scheduledAt === undefined) return invalid('The field scheduledAt is needed.', '/body/scheduledAt');
  return ownCommand({
    sent: { ...sent, scheduledAt },
    decide: scheduleRequest,
    faultPath: '/body',
    onWholeState: true,
  });
}

/** The request without what it changes. */
const listedView = (world: World, request: StoredRequest) => ({
  ...headView(world, request),
  features: featuresOf(request).map((name) => ({ name, changes: [] })),
  segments: [],
});

/** The first of the requests, as many as have no more changes together than a single one may have. */
function shownWhole(requests: readonly StoredRequest[]): readonly StoredRequest[] {
  let count = 0;
  return requests.slice(0, PENDING_MAX).filter(({ changes }, index) => {
    count += changes.length;
    return index === 0 || count <= CHANGES_MAX;
  });
}

const isOpen = ({ state }: StoredRequest): boolean => !CLOSED.includes(state);

/** Whether the request waits for the user: for a review, for being applied, or for another time. */
function waitsFor(world: World, request: StoredRequest, userId: number): boolean {
  const state = stateOf(world, request);
  if (state === 'Scheduled') return request.createdBy === userId && isStuck(world, request);
  if (state === 'Approved')
    return request.createdBy === userId && userMay(world, userId, 'APPLY_CHANGE_REQUEST', request);
  return (
    state === 'In review' &&
    !request.authors.includes(userId) &&
    countingApprovals(world, request).every((one) => one.userId !== userId) &&
    mayReview(world, userId, request)
  );
}

/** How many of the requests are in which state; in turns, because there may be many. */
async function countStates(
  { world, requester }: RequestContext<unknown>,
  requests: readonly StoredRequest[],
): Promise<(state: State) => number> {
  const counts = new Map<State, number>();
  const add = (request: StoredRequest) => {
    const state = stateOf(world, request);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  };
  await inTurns(each(requests, add), requester);
  return (state) => counts.get(state) ?? 0;
}

const readRoutes: readonly Route[] = underTag('Change Requests', [
  readRoute(`GET ${REQUESTS}`, {
    operationId: 'getProjectChangeRequests',
    summary: `List the change requests of a project without their changes, newest first, ${LISTED_MAX} at most.`,
    locate: locate.project,
    success: { status: 200, schema: RequestsSchema },
    read: (context) => {
      const { world, params } = context;
      const listed = requestsOf(world, params.projectId).slice(0, LISTED_MAX);
      return textsResponse(context, ['[', ']'], listed, (request) =>
        JSON.stringify(listedView(world, request)),
      );
    },
  }),
  readRoute(`GET ${REQUESTS}/count`, {
    operationId: 'getProjectChangeRequestsCount',
    summary: 'Count the change requests of a project by state.',
    locate: locate.project,
    success: { status: 200, schema: CountSchema },
    read: async (context) => {
      const requests = requestsOf(context.world, context.params.projectId);
      const count = await countStates(context, requests);
      return settledResponse(context, {
        ...{ total: requests.length, applied: count('Applied'), approved: count('Approved') },
        ...{ rejected: count('Rejected'), reviewRequired: count('In review') },
        scheduled: count('Scheduled'),
      });
    },
  }),
  readRoute(`GET ${REQUESTS}/actionable`, {
    operationId: 'getActionableChangeRequests',
    summary: 'Count the change requests of a project that wait for the caller.',
    ...BY_PEOPLE,
    locate: locate.project,
    success: { status: 200, schema: TotalSchema },
    read: async (context) => {
      const { world, params, requester } = context;
      const { id } = callingUser(context);
      let total = 0;
      const add = (request: StoredRequest) => {
        total += Number(waitsFor(world, request, id));
      };
      await inTurns(each(requestsOf(world, params.projectId), add), requester);
      return settledResponse(context, { total });
    },
  }),
  readRoute(`GET ${REQUESTS}/scheduled`, {
    operationId: 'getScheduledChangeRequests',
    summary:
      'List the scheduled change requests of a project that change any of what is named, else all of them.',
    query: {
      feature: { description: 'A flag. More than one can be sent.' },
      strategyId: { description: 'A strategy.' },
      variantForFlag: { description: 'A flag whose variants are changed.' },
    },
    locate: locate.project,
    success: { status: 200, schema: v.array(ScheduledSchema) },
    shows: (context) =>
      scheduledFor(requestsOf(context.world, context.params.projectId), {
        features: context.queryAll('feature'),
        strategyIds: context.queryAll('strategyId'),
        variantFlags: context.queryAll('variantForFlag'),
      })
        .slice(0, LISTED_MAX)
        .map(scheduledView),
  }),
  readRoute(`GET ${REQUESTS}/pending`, {
    operationId: 'getPendingChangeRequestsForUser',
    summary: `List the open change requests of the caller in a project, and the ${PENDING_MAX} newest scheduled ones at most.`,
    ...BY_PEOPLE,
    locate: locate.project,
    success: { status: 200, schema: RequestsSchema },
    shows: (context) => {
      const { world, params } = context;
      const { id } = callingUser(context);
      const own = requestsOf(world, params.projectId).filter(
        (request) => request.createdBy === id && isOpen(request),
      );
      // Any number may be scheduled, and pages look here for those that can still be added to.
      const unscheduled = own.filter(({ state }) => state !== 'Scheduled');
      const scheduled = own.filter(({ state }) => state === 'Scheduled');
      return [...unscheduled, ...shownWhole(scheduled)].map((request) => requestView(world, request));
    },
  }),
  readRoute(`GET ${REQUESTS}/pending/:featureName`, {
    operationId: 'getPendingChangeRequestsForFeature',
    summary: `List the ${PENDING_MAX} newest open change requests that change a flag, with what they change of it.`,
    locate: locate.flag,
    success: { status: 200, schema: RequestsSchema },
    shows: ({ world, params }) =>
      shownWhole(
        findRequests(world, flagKey(params.projectId, params.featureName), PENDING_MAX).map((request) => ({
          ...request,
          changes: request.changes.filter(({ feature }) => feature === params.featureName),
        })),
      ).map((request) => requestView(world, request)),
  }),
  readRoute(`GET ${REQUESTS}/available-reviewers/:environment`, {
    operationId: 'getAvailableReviewers',
    summary: 'List the people who may approve change requests of an environment.',
    locate: locate.projectEnvironment,
    success: { status: 200, schema: ReviewersSchema },
    shows: ({ world, params }) => ({
      reviewers: reviewersOf(world, { project: params.projectId, environment: params.environment }).map(
        reviewerView,
      ),
    }),
  }),
  readRoute(`GET ${ONE}`, {
    operationId: 'getChangeRequest',
    summary: 'Read a change request with its changes and their conflicts.',
    locate: located,
    success: { status: 200, schema: RequestSchema },
    read: async (context, { data }) => {
      const { world, engine } = context;
      const revision = engine.lastId;
      const ids = conflictingEvents(world, data);
      const authors = ids.length === 0 ? new Map() : await authorsOf(context, ids);
      return { revision, response: jsonResponse(200, requestView(world, data, authors)) };
    },
  }),
  readRoute(`GET ${ONE}/approvers`, {
    operationId: 'getChangeRequestApprovers',
    summary: 'List the people who were asked to review a change request.',
    locate: located,
    success: { status: 200, schema: ReviewersSchema },
    shows: ({ world }, { data }) => ({
      reviewers: data.reviewers.flatMap((id) => {
        const user = world.directory.users.get(id);
        return user === undefined ? [] : reviewerView(user);
      }),
    }),
  }),
]);

const writeRoutes: readonly Route[] = underTag('Change Requests', [
  writeRoute('POST /projects/:projectId/environments/:environment/change-requests', {
    ...WRITTEN,
    operationId: 'addChange',
    summary: "Add changes to the caller's open change request of an environment, or begin one with them.",
    locate: locate.projectEnvironment,
    body: ChangesBody,
    command: addCommand,
    respond: ({ world }, events) => {
      const request = events.find((event) => isRecordEvent(event) && event.hidden.kind === REQUEST.name)!;
      return jsonResponse(200, requestView(world, request.data as StoredRequest));
    },
  }),
  writeRoute(`PUT ${ONE}/changes/:changeId`, {
    ...UPDATED,
    operationId: 'editChange',
    summary: 'Replace a change of a change request; approvals before that do not count any more.',
    body: ChangeBody,
    command: ({ params, body }) => {
      const parsed = parsedChange(body, '/body');
      return isRefusal(parsed) ? parsed : own({ ...namedChange(params), parsed }, editChange);
    },
  }),
  writeRoute(`DELETE ${ONE}/changes/:changeId`, {
    ...UPDATED,
    operationId: 'discardChange',
    summary: 'Take a change out of a change request; approvals before that do not count any more.',
    command: ({ params }) => own(namedChange(params), discardChange),
  }),
  writeRoute(`DELETE ${ONE}`, {
    ...WRITTEN,
    operationId: 'discardChangeRequest',
    summary: 'Discard a draft.',
    success: { status: 200, schema: null },
    command: ({ params }) => own(named(params), discardRequest),
  }),
  writeRoute(`PUT ${ONE}/state`, {
    ...UPDATED,
    operationId: 'changeChangeRequestState',
    summary: 'Send a change request to review, approve, reject, cancel, schedule or apply it.',
    body: StateBody,
    command: stateCommand,
  }),
  writeRoute(`PUT ${ONE}/title`, {
    ...UPDATED,
    operationId: 'updateChangeRequestTitle',
    summary: 'Give a change request another title.',
    body: TitleBody,
    command: ({ params, body }) => own({ ...named(params), ...body }, setTitle),
  }),
  writeRoute(`PUT ${ONE}/approvers`, {
    ...UPDATED,
    operationId: 'updateChangeRequestApprovers',
    summary: 'Set who is asked to review a change request.',
    body: ReviewersBody,
    command: ({ params, body }) => own({ ...named(params), ...body }, setReviewers),
  }),
  writeRoute(`POST ${ONE}/comments`, {
    ...UPDATED,
    operationId: 'addChangeRequestComment',
    summary: 'Comment on a change request.',
    body: CommentBody,
    command: ({ params, body }) => own({ ...named(params), ...body }, addComment),
  }),
]);

const CONDITIONS = {
  createdBy: ['IS'],
  requestedApproverId: ['IS'],
  state: ['IS'],
  actionable: ['IS'],
} as const;

const PAGE = pageParameters({
  limitMax: LISTED_MAX,
  limitInitial: 50,
  limit: 'How many change requests to list.',
  offset: 'How many to leave out at the beginning.',
});

const search = readRoute('GET /search/change-requests', {
  operationId: 'searchChangeRequests',
  summary: 'Find change requests in all projects that the caller sees, newest first.',
  query: {
    createdBy: conditionParameter('Id of the author', CONDITIONS.createdBy),
    requestedApproverId: conditionParameter('Id of a person who was asked for a review', ['IS']),
    state: conditionParameter('`open` or `closed`', CONDITIONS.state),
    actionable: conditionParameter('`true`: those that wait for the caller', CONDITIONS.actionable),
    ...PAGE.parameters,
  },
  refusals: ['ValidationError'],
  success: { status: 200, schema: FoundRequestsSchema },
  read: async (context) => {
    const { world, requester } = context;
    const page = PAGE.of(context);
    if (isRefusal(page)) return page;
    const conditions = conditionsOf(context, CONDITIONS);
    if (isRefusal(conditions)) return conditions;
    const { createdBy, requestedApproverId, state, actionable } = conditions;
    const callerId = context.caller.user?.id;
    const isWanted = (request: StoredRequest): boolean =>
      (createdBy === null || createdBy.values.includes(String(request.createdBy))) &&
      (requestedApproverId === null ||
        request.reviewers.some((id) => requestedApproverId.values.includes(String(id)))) &&
      (state === null || state.values.includes(isOpen(request) ? 'open' : 'closed')) &&
      (actionable === null || (callerId !== undefined && waitsFor(world, request, callerId)));
    const listed: StoredRequest[] = [];
    let total = 0;
    const add = (request: StoredRequest): void => {
      if (!isWanted(request)) return;
      if (total >= page.offset && listed.length < page.limit) listed.push(request);
      total += 1;
    };
    await inTurns(each(requestsIn(world), add), requester);
    return textsResponse(context, ['{"changeRequests":[', `],"total":${total}}`], listed, (request) =>
      JSON.stringify(foundView(world, request)),
    );
  },
});

export const requestRoutes: readonly Route[] = [
  ...readRoutes,
  ...writeRoutes,
  ...underTag('Change Requests', [search]),
];
