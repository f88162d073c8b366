/** Change requests as responses show them. */
import * as v from 'valibot';
import { environmentOf } from '../../domain/flags/flag.ts';
import { isJsonObject, type JsonValue } from '../../domain/json/json.ts';
import { Count, described, Integer, Timestamp, titled } from '../../domain/json/schema.ts';
import type { Segment } from '../../domain/kinds/segment.ts';
import { findAddonRecord } from '../../domain/state/addon-records.ts';
import type { User, World } from '../../domain/state/world.ts';
import { recordText } from '../../http/admin/records.ts';
import { imageUrlOf } from '../../http/admin/views.ts';
import { authorOf } from '../../http/serving/access.ts';
import { ACTION_NAMES } from './action-names.ts';
import { countingApprovals, stateOf } from './approvals.ts';
import { type Conflict, conflictOf } from './conflicts.ts';
import { CLOSED, REQUEST, type Schedule, STATES, type StoredChange, type StoredRequest } from './kind.ts';
import { requiredApprovals } from './protection.ts';
import { refuseNow } from './schedule.ts';
import { scheduledBeside } from './scheduled.ts';

const PersonSchema = v.object({ id: Integer, username: v.string(), imageUrl: v.string() });

const ChangeSchema = titled('ChangeRequestChange', {
  id: Integer,
  action: v.picklist(ACTION_NAMES),
  payload: v.pipe(v.unknown(), v.description('With `snapshot`, what the author saw, where it is an object.')),
  conflict: v.exactOptional(v.string()),
  scheduleConflicts: v.exactOptional(
    described(
      v.object({ changeRequests: v.array(v.object({ id: Integer, title: v.string() })) }),
      'Other scheduled requests about the same strategy or flag.',
    ),
  ),
  createdBy: PersonSchema,
  createdAt: Timestamp,
});

const FeatureSchema = titled('ChangeRequestFeature', {
  name: v.string(),
  conflict: v.exactOptional(v.string()),
  changes: v.array(ChangeSchema),
  defaultChange: v.exactOptional(
    v.pipe(
      v.object({ action: v.literal('addStrategy'), payload: v.unknown() }),
      v.description('What switching the flag on adds, because it has no strategy.'),
    ),
  ),
});

const SegmentSchema = titled('ChangeRequestSegment', { name: v.string(), ...ChangeSchema.entries });

const ScheduleSchema = titled('ChangeRequestSchedule', {
  scheduledAt: Timestamp,
  status: v.picklist(['pending', 'applied', 'suspended', 'failed']),
  reason: v.exactOptional(described(v.string(), 'Why it is suspended, or was applied late.')),
  failureReason: v.exactOptional(v.string()),
});

export const RequestSchema = titled('ChangeRequest', {
  id: Integer,
  title: v.string(),
  project: v.string(),
  environment: v.string(),
  minApprovals: Integer,
  state: v.picklist(STATES),
  stateTimestamps: v.record(v.string(), Timestamp),
  version: v.pipe(Integer, v.description('The number of edits.')),
  createdBy: PersonSchema,
  createdAt: Timestamp,
  features: v.array(FeatureSchema),
  segments: v.array(SegmentSchema),
  approvals: described(
    v.array(v.object({ createdBy: PersonSchema, createdAt: Timestamp })),
    'Of the present version, by people who may approve it; where it is closed, those that there were.',
  ),
  rejections: v.array(v.object({ createdBy: PersonSchema, createdAt: Timestamp })),
  comments: v.array(
    v.object({ id: Integer, text: v.string(), createdBy: PersonSchema, createdAt: Timestamp }),
  ),
  schedule: v.exactOptional(ScheduleSchema),
  events: v.pipe(v.array(Integer), v.description('Ids of the events that applying it has recorded.')),
});

export const FoundRequestSchema = titled('FoundChangeRequest', {
  ...RequestSchema.entries,
  features: v.array(v.string()),
  segments: v.array(v.string()),
});

export const FoundRequestsSchema = titled('FoundChangeRequests', {
  changeRequests: v.array(FoundRequestSchema),
  total: Count,
});

export const ReviewersSchema = titled('ChangeRequestReviewers', {
  reviewers: v.array(
    v.object({
      ...PersonSchema.entries,
      name: v.exactOptional(v.string()),
      email: v.nullable(v.string()),
      username: v.exactOptional(v.string()),
    }),
  ),
});

export function reviewerView({ id, name, email, username, ...others }: User) {
  return {
    ...{ id, email, imageUrl: imageUrlOf({ email, username, ...others }) },
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { username }),
  };
}

function personView(world: World, userId: number) {
  const { id, name, email } = authorOf(world, userId);
  return { id, username: name, imageUrl: imageUrlOf({ email, username: name }) };
}

/** Names of authors of events, by id. */
export type Authors = ReadonlyMap<number, string>;

const NOBODY_KNOWN: Authors = new Map();

/** Ids of the events that conflicts of the request name. */
export const conflictingEvents = (world: World, request: StoredRequest): readonly number[] =>
  CLOSED.includes(request.state)
    ? []
    : [...new Set(request.changes.flatMap((change) => conflictOf(world, request, change)?.eventId ?? []))];

const namedView = ({ id, title }: StoredRequest) => ({ id, title });

/** The request of a schedule, as a page of the flag names it. */
export const scheduledView = ({ id, title, environment }: StoredRequest) => ({ id, title, environment });

function scheduleView({ scheduledAt, status, reason }: Schedule) {
  const told = reason === null ? {} : { [status === 'failed' ? 'failureReason' : 'reason']: reason };
  return { schedule: { scheduledAt, status, ...told } };
}

/** The schedule as it is kept, but for a pending one that would be suspended now. */
function scheduleNow(world: World, request: StoredRequest) {
  const { schedule } = request;
  if (schedule === null) return {};
  const refusal = schedule.status === 'pending' ? refuseNow(world, request, schedule) : null;
  const now: Schedule =
    refusal === null ? schedule : { ...schedule, status: 'suspended', reason: refusal.message };
  return scheduleView(now);
}

interface Surroundings {
  readonly conflict: Conflict | null;
  readonly authors: Authors;
  readonly beside: readonly StoredRequest[];
}

function changeView(world: World, change: StoredChange, { conflict, authors, beside }: Surroundings) {
  const { id, action, payload, createdBy, createdAt } = change;
  const isShownInside = payload === null || isJsonObject(payload as JsonValue);
  return {
    ...{ id, action, payload: isShownInside ? payloadView(world, change) : payload },
    ...(conflict === null ? {} : { conflict: textOf(conflict, authors) }),
    ...(beside.length === 0 ? {} : { scheduleConflicts: { changeRequests: beside.map(namedView) } }),
    ...{ createdBy: personView(world, createdBy), createdAt },
  };
}

/** With what the author saw, in the form in which it is read elsewhere: pages compare both by field. */
function payloadView(world: World, { feature, action, payload, snapshot }: StoredChange): object {
  const sent = payload as object | null;
  if (feature === null) {
    const segment = snapshot as Segment;
    return { name: segment.name, ...sent, snapshot: JSON.parse(recordText(world, 'segments', segment)) };
  }
  if (action !== 'updateStrategy' && action !== 'deleteStrategy') return { ...sent, snapshot };
  const inFlag = (strategy: object) => ({ ...strategy, featureName: feature });
  return { ...inFlag(sent!), snapshot: inFlag(snapshot as object) };
}

function textOf({ message, eventId }: Conflict, authors: Authors): string {
  const author = eventId === null ? undefined : authors.get(eventId);
  const by = author === undefined ? '' : `, by ${author}`;
  return eventId === null ? message : `${message} The newest event about it is ${eventId}${by}.`;
}

/** Ids of the events that applying it has recorded; none where it was imported since, so that they are those of another history. */
function eventsOf(world: World, { id, appliedEvents }: StoredRequest): readonly number[] {
  const record = findAddonRecord(world, REQUEST, id);
  if (appliedEvents === null || record === undefined || record.createdRevision === record.revision) return [];
  const { first, last } = appliedEvents;
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** Fields that lists show, too, without comments. */
export function headView(world: World, request: StoredRequest, comments: StoredRequest['comments'] = []) {
  const { id, title, project, environment, version, createdAt, stateTimestamps } = request;
  const isClosed = CLOSED.includes(request.state);
  // Who has approved an earlier version may do it again; and what has become of approvers does not change what is closed.
  const approvals = isClosed
    ? request.approvals.filter((one) => one.version === version)
    : countingApprovals(world, request);
  const by = ({ userId, createdAt: at }: { readonly userId: number; readonly createdAt: string }) => ({
    createdBy: personView(world, userId),
    createdAt: at,
  });
  const minApprovals = requiredApprovals(world, request);
  const approvedAt = approvals[minApprovals - 1]?.createdAt;
  const { schedule } = request;
  return {
    ...{ id, title, project, environment, minApprovals, state: stateOf(world, request), version },
    stateTimestamps:
      approvedAt === undefined ? stateTimestamps : { ...stateTimestamps, Approved: approvedAt },
    ...{ createdBy: personView(world, request.createdBy), createdAt },
    ...(schedule === null ? {} : scheduleView(schedule)),
    approvals: approvals.map(by),
    rejections: request.rejections.map(by),
    comments: comments.map((one) => ({ id: one.id, text: one.text, ...by(one) })),
    events: eventsOf(world, request),
  };
}

export const featuresOf = ({ changes }: StoredRequest): readonly string[] => [
  ...new Set(changes.flatMap(({ feature }) => feature ?? [])),
];

export const segmentsOf = ({ changes }: StoredRequest): readonly string[] =>
  changes.flatMap(({ feature, snapshot }) =>
    feature === null ? (snapshot as { readonly name: string }).name : [],
  );

export const foundView = (world: World, request: StoredRequest) => ({
  ...headView(world, request),
  features: featuresOf(request),
  segments: segmentsOf(request),
});

/** With all that it changes; a closed one has no conflicts any more. */
export function requestView(world: World, request: StoredRequest, authors = NOBODY_KNOWN) {
  const isClosed = CLOSED.includes(request.state);
  const view = (change: StoredChange) =>
    changeView(world, change, {
      conflict: isClosed ? null : conflictOf(world, request, change),
      authors,
      beside: isClosed ? [] : scheduledBeside(world, request, change),
    });
  return {
    ...headView(world, request, request.comments),
    ...scheduleNow(world, request),
    features: featuresOf(request).map((name) => featureView(world, request, name, view)),
    segments: request.changes.flatMap((change) =>
      change.feature === null
        ? { name: (change.snapshot as { readonly name: string }).name, ...view(change) }
        : [],
    ),
  };
}

function featureView(
  world: World,
  request: StoredRequest,
  name: string,
  view: (change: StoredChange) => ReturnType<typeof changeView>,
) {
  const own = request.changes.filter(({ feature }) => feature === name);
  const changes = own.map(view);
  const conflict = changes.find((one) => one.conflict !== undefined)?.conflict;
  const defaultStrategy = own.find((one) => one.defaultStrategy !== undefined)?.defaultStrategy;
  const flag = world.projects.get(request.project)?.flags.get(name)?.flag;
  const isAdded =
    defaultStrategy !== undefined &&
    own.every(({ action }) => action !== 'addStrategy') &&
    (flag === undefined || environmentOf(flag, request.environment).strategies.length === 0);
  return {
    name,
    ...(conflict === undefined ? {} : { conflict }),
    changes,
    ...(isAdded ? { defaultChange: { action: 'addStrategy', payload: defaultStrategy } } : {}),
  };
}
