/** Decisions on change requests (docs/specification/change-requests.md): what their authors and reviewers do with them. */
import { decide } from '../../domain/decide/decide.ts';
import { refuseLargerThan } from '../../domain/growth/refuse-size.ts';
import { countOfRecords, nextRecordId } from '../../domain/state/addon-records.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../../domain/state/decision.ts';
import {
  invalid,
  invalidOperation,
  isRefusal,
  notFound,
  type Refusal,
  refuse,
} from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { commandsOf, defaultStrategyFor, lookAt, needsOf } from './actions.ts';
import { stateOf } from './approvals.ts';
import {
  CHANGES_MAX,
  CLOSED,
  COMMENTS_MAX,
  locateRequest,
  REQUEST,
  requestEvent,
  type StoredChange,
  type StoredRequest,
  WRITTEN_BYTES_MAX,
} from './kind.ts';
import type { Place } from './protection.ts';
import { authorKey, findRequests } from './request-index.ts';
import { mayReview, userMay } from './rights.ts';

export type ParsedChange = Pick<StoredChange, 'feature' | 'action' | 'payload'>;

export interface NamesRequest {
  readonly project: string;
  readonly id: number;
  /** The version that the caller has seen. */
  readonly version?: number | undefined;
}

/** The request that a command names, unless it is closed. */
export function locateOpen(world: World, { project, id, version }: NamesRequest): StoredRequest | Refusal {
  const located = locateRequest(world, project, id, String(id));
  if (isRefusal(located)) return located;
  const { data } = located;
  if (version !== undefined && version !== data.version)
    return invalidOperation(
      `The change request ${id} was edited: its version is ${data.version}, not ${version}. Read it again.`,
    );
  return CLOSED.includes(data.state)
    ? invalidOperation(
        `The change request ${id} is ${data.state.toLowerCase()}, and is not changed any more.`,
      )
    : data;
}

/** The event that makes `after` of a request; a refusal where that would be too large. */
export function changed(type: string, before: StoredRequest, after: StoredRequest): Decision {
  const tooLarge = refuseLargerThan(WRITTEN_BYTES_MAX, 'The change request', after);
  return tooLarge ?? [requestEvent(type, before, after)];
}

const lacks = (world: World, { userId }: DecideContext['actor'], place: Place, { action }: ParsedChange) => {
  const missing = needsOf(action).find((name) => !userMay(world, userId, name, place));
  return missing === undefined
    ? null
    : refuse('NoAccessError', `To propose the action ${action}, the permission ${missing} is needed there.`);
};

/** The change as it is kept, with what its author sees; refused where it could not be carried out now. */
function kept(
  world: World,
  place: Place,
  parsed: ParsedChange,
  context: DecideContext,
): Omit<StoredChange, 'id'> | Refusal {
  const wanted = { ...parsed, ...defaultStrategyFor(world, place, parsed) };
  const seen = lookAt(world, place, wanted);
  if (isRefusal(seen)) return seen;
  const { userId } = context.actor;
  const change: Omit<StoredChange, 'id'> = {
    ...wanted,
    ...seen,
    createdBy: userId,
    createdAt: context.now,
  };
  const refusal = lacks(world, context.actor, place, parsed);
  if (refusal !== null) return refusal;
  const [first] = commandsOf(world, place, { ...change, id: 0 });
  const decision = first === undefined ? UNCHANGED : decide(world, first, context);
  return isRefusal(decision) ? decision : change;
}

const withAuthor = (authors: readonly number[], userId: number): readonly number[] =>
  authors.includes(userId) ? authors : [...authors, userId];

/** The request after an edit: approvals of earlier versions do not count any more. */
const edited = (
  before: StoredRequest,
  { userId }: DecideContext['actor'],
  changes: readonly StoredChange[],
): StoredRequest => ({
  ...before,
  changes,
  version: before.version + 1,
  authors: withAuthor(before.authors, userId),
});

export interface AddChanges extends Place {
  readonly changes: readonly ParsedChange[];
  /** JSON pointers of the changes in the body. */
  readonly paths: readonly string[];
}

/** Adds to the open request that the author has for the environment, or begins one. */
export function addChanges(
  world: World,
  { project, environment, changes, paths }: AddChanges,
  context: DecideContext,
): Decision {
  const place = { project, environment };
  const { userId } = context.actor;
  const [known] = findRequests(world, authorKey(place, userId), 1);
  const before = known ?? newRequest(world, place, context);
  if (isRefusal(before)) return before;
  const added: StoredChange[] = [];
  for (const [index, parsed] of changes.entries()) {
    const change = kept(world, place, parsed, context);
    if (isRefusal(change)) return change.at(paths[index]!);
    added.push({ ...change, id: before.lastPartId + index + 1 });
  }
  const switched = new Set(
    added.flatMap(({ action, feature }) => (action === 'updateEnabled' ? feature : [])),
  );
  const staying = before.changes.filter(
    ({ action, feature }) => action !== 'updateEnabled' || !switched.has(feature),
  );
  const all = [...staying, ...added];
  if (all.length > CHANGES_MAX)
    return invalidOperation(
      `A change request has at most ${CHANGES_MAX} changes; this one would have ${all.length}.`,
    );
  const after = { ...edited(before, context.actor, all), lastPartId: before.lastPartId + added.length };
  return known === undefined
    ? (refuseLargerThan(WRITTEN_BYTES_MAX, 'The change request', after) ?? [
        requestEvent('change-request-created', null, { ...after, version: 1 }),
      ])
    : changed('change-added', before, after);
}

function newRequest(world: World, place: Place, { actor, now }: DecideContext): StoredRequest | Refusal {
  if (countOfRecords(world, REQUEST) >= REQUEST.countMax)
    return invalidOperation(`The limit is ${REQUEST.countMax} change requests.`);
  const id = nextRecordId(world, REQUEST);
  return {
    ...{ id, project: place.project, environment: place.environment, title: `Change request ${id}` },
    ...{ state: 'Draft', stateTimestamps: { Draft: now }, version: 0 },
    ...{ createdBy: actor.userId, createdAt: now, authors: [] },
    ...{ changes: [], approvals: [], rejections: [], comments: [], reviewers: [] },
    ...{ lastPartId: 0, appliedEvents: null, schedule: null },
  } as StoredRequest;
}

interface NamesChange extends NamesRequest {
  readonly changeId: number;
}

interface LocatedChange {
  readonly request: StoredRequest;
  readonly change: StoredChange;
}

function locateChange(world: World, named: NamesChange): LocatedChange | Refusal {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  if (request.state === 'Scheduled')
    return invalidOperation(`The change request ${request.id} is scheduled, and is not edited.`);
  const change = request.changes.find(({ id }) => id === named.changeId);
  return change === undefined
    ? notFound(`The change request ${request.id} has no change ${named.changeId}.`)
    : { request, change };
}

export interface EditChange extends NamesChange {
  readonly parsed: ParsedChange;
}

/** Puts another change in the place of one. Whoever sends the same again confirms it for what its target is now. */
export function editChange(world: World, { parsed, ...named }: EditChange, context: DecideContext): Decision {
  const located = locateChange(world, named);
  if (isRefusal(located)) return located;
  const { request, change } = located;
  const after = kept(world, request, parsed, context);
  if (isRefusal(after)) return after.at('/body');
  const changes = request.changes.map((one) => (one === change ? { ...after, id: change.id } : one));
  return changed('change-edited', request, edited(request, context.actor, changes));
}

export function discardChange(world: World, named: NamesChange, context: DecideContext): Decision {
  const located = locateChange(world, named);
  if (isRefusal(located)) return located;
  const { request, change } = located;
  const refusal = lacks(world, context.actor, request, change);
  if (refusal !== null) return refusal;
  const changes = request.changes.filter((one) => one !== change);
  return changed('change-discarded', request, edited(request, context.actor, changes));
}

/** Nobody but its author has seen to a draft, so it may go without a trace in the list. */
export function discardRequest(world: World, named: NamesRequest, { actor }: DecideContext): Decision {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  if (request.state !== 'Draft')
    return invalidOperation(`Only a draft is discarded; cancel the change request ${request.id}.`);
  return refuseOthers(request, actor.userId) ?? [requestEvent('change-request-discarded', request, null)];
}

const refuseOthers = ({ id, createdBy }: StoredRequest, userId: number): Refusal | null =>
  createdBy === userId
    ? null
    : refuse('NoAccessError', `Only the author of the change request ${id} may do this.`);

export interface SetTitle extends NamesRequest {
  readonly title: string;
}

export function setTitle(world: World, { title, ...named }: SetTitle, { actor }: DecideContext): Decision {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  if (request.title === title) return UNCHANGED;
  return (
    refuseOthers(request, actor.userId) ?? changed('change-request-updated', request, { ...request, title })
  );
}

export interface SetReviewers extends NamesRequest {
  readonly reviewers: readonly number[];
}

export function setReviewers(
  world: World,
  { reviewers, ...named }: SetReviewers,
  { actor }: DecideContext,
): Decision {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  const unable = reviewers.findIndex((id) => request.authors.includes(id) || !mayReview(world, id, request));
  if (unable >= 0)
    return invalid(
      `The user ${reviewers[unable]} may not approve this change request.`,
      `/body/reviewers/${unable}`,
    );
  const after = { ...request, reviewers: [...new Set(reviewers)] };
  return (
    refuseOthers(request, actor.userId) ??
    changed('change-request-requested-approvers-updated', request, after)
  );
}

export interface AddComment extends NamesRequest {
  readonly text: string;
}

export function addComment(world: World, { text, ...named }: AddComment, context: DecideContext): Decision {
  const request = locateOpen(world, named);
  if (isRefusal(request)) return request;
  const after = commented(request, text, context);
  return isRefusal(after) ? after : changed('change-request-updated', request, after);
}

export function commented(
  request: StoredRequest,
  text: string,
  { actor: { userId }, now }: DecideContext,
): StoredRequest | Refusal {
  if (request.comments.length >= COMMENTS_MAX)
    return invalidOperation(`A change request has at most ${COMMENTS_MAX} comments.`);
  const id = request.lastPartId + 1;
  const comments = [...request.comments, { id, userId, text, createdAt: now }];
  return { ...request, comments, lastPartId: id };
}

export const WANTED_STATES = ['In review', 'Approved', 'Rejected', 'Cancelled'] as const;

export interface SetState extends NamesRequest {
  readonly state: (typeof WANTED_STATES)[number];
  readonly comment?: string | undefined;
}

export function setState(
  world: World,
  { state, comment, ...named }: SetState,
  context: DecideContext,
): Decision {
  const before = locateOpen(world, named);
  if (isRefusal(before)) return before;
  const request = comment === undefined || comment === '' ? before : commented(before, comment, context);
  if (isRefusal(request)) return request;
  if (state === 'In review') return sentToReview(before, request, context);
  if (state === 'Approved') return approved(world, before, request, context);
  return state === 'Rejected'
    ? rejected(world, before, request, context)
    : cancelled(world, before, request, context);
}

export const moved = (
  request: StoredRequest,
  state: StoredRequest['state'],
  { now }: Pick<DecideContext, 'now'>,
): StoredRequest => ({ ...request, state, stateTimestamps: { ...request.stateTimestamps, [state]: now } });

type Transition = (
  world: World,
  before: StoredRequest,
  request: StoredRequest,
  context: DecideContext,
) => Decision;

function sentToReview(before: StoredRequest, request: StoredRequest, context: DecideContext): Decision {
  if (before.state === 'In review') return UNCHANGED;
  if (before.state !== 'Draft') return notPossible(before, 'In review');
  if (before.changes.length === 0)
    return invalidOperation(`The change request ${before.id} has no changes, so there is nothing to review.`);
  return (
    refuseOthers(before, context.actor.userId) ??
    changed('change-request-sent-to-review', before, moved(request, 'In review', context))
  );
}

const notPossible = ({ id, state }: StoredRequest, wanted: string): Refusal =>
  invalidOperation(`The change request ${id} cannot become ${wanted}: it is ${state}.`);

/** Refuses who wrote any of it, an Admin too, and who may not review. */
function refuseReview(world: World, request: StoredRequest, userId: number): Refusal | null {
  if (request.authors.includes(userId))
    return refuse(
      'NoAccessError',
      `You wrote a part of the change request ${request.id}, so you can neither approve nor reject it; you can cancel it.`,
    );
  if (mayReview(world, userId, request)) return null;
  return refuse(
    'NoAccessError',
    `To review a change request, a person needs the permission APPROVE_CHANGE_REQUEST in the environment "${request.environment}".`,
  );
}

const approved: Transition = (world, before, request, context) => {
  const { userId } = context.actor;
  if (before.state !== 'In review') return notPossible(before, 'Approved');
  const refusal = refuseReview(world, before, userId);
  if (refusal !== null) return refusal;
  const { version } = before;
  if (before.approvals.some((one) => one.userId === userId && one.version === version)) return UNCHANGED;
  const others = before.approvals.filter((one) => one.userId !== userId);
  const approval = { userId, version, createdAt: context.now };
  const after = { ...request, approvals: [...others, approval] };
  const isEnough = stateOf(world, after) === 'Approved';
  return changed(isEnough ? 'change-request-approved' : 'change-request-approval-added', before, after);
};

const rejected: Transition = (world, before, request, context) => {
  if (before.state === 'Draft') return notPossible(before, 'Rejected');
  const refusal = refuseReview(world, before, context.actor.userId);
  if (refusal !== null) return refusal;
  const rejection = { userId: context.actor.userId, createdAt: context.now };
  const after = { ...moved(request, 'Rejected', context), rejections: [...before.rejections, rejection] };
  return [requestEvent('change-request-rejected', before, after)];
};

const cancelled: Transition = (world, before, request, context) => {
  const { userId } = context.actor;
  const refusal = mayReview(world, userId, before) ? null : refuseOthers(before, userId);
  return refusal ?? [requestEvent('change-request-cancelled', before, moved(request, 'Cancelled', context))];
};
