/** Schedules of change requests (docs/specification/change-requests.md#schedules): decided by their times, and so the same whoever carries them out. */
import { findAddonRecord } from '../../domain/state/addon-records.ts';
import type { DecideContext, Decision } from '../../domain/state/decision.ts';
import { UNCHANGED } from '../../domain/state/decision.ts';
import { invalid, invalidOperation, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { changesOf, refuseToApply } from './apply-request.ts';
import { changed, commented, locateOpen, moved, type NamesRequest } from './decisions.ts';
import {
  isOrphan,
  REQUEST,
  requestEvent,
  SCHEDULED_APPLIED,
  type Schedule,
  type StoredRequest,
} from './kind.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const SCHEDULE_DAYS_MAX = 2 * 365;
const DRAFT_DAYS_MAX = 90;

/** A request that was applied later than this says so. */
const LATE_MS = 5_000;

/** Milliseconds since 1970 at which something becomes of the request by itself: it is applied, or cancelled as a draft that nobody touches. */
export function dueAt({ state, schedule, createdAt, changes, comments }: StoredRequest): number {
  if (state === 'Scheduled' && schedule?.status === 'pending') return Date.parse(schedule.scheduledAt);
  if (state !== 'Draft') return Number.POSITIVE_INFINITY;
  const touches = [createdAt, ...[...changes, ...comments].map((one) => one.createdAt)];
  return Math.max(...touches.map((at) => Date.parse(at))) + DRAFT_DAYS_MAX * DAY_MS;
}

export interface ScheduleRequest extends NamesRequest {
  readonly scheduledAt: string;
  readonly comment?: string | undefined;
}

export function scheduleRequest(
  world: World,
  { scheduledAt, comment, ...named }: ScheduleRequest,
  context: DecideContext,
): Decision {
  const before = locateOpen(world, named);
  if (isRefusal(before)) return before;
  const { userId } = context.actor;
  const refusal = refuseToApply(world, before, userId) ?? refuseTime(scheduledAt, context);
  if (refusal !== null) return refusal;
  const request = comment === undefined || comment === '' ? before : commented(before, comment, context);
  if (isRefusal(request)) return request;
  const schedule: Schedule = { scheduledAt, scheduledBy: userId, status: 'pending', reason: null };
  return changed('change-request-scheduled', before, { ...moved(request, 'Scheduled', context), schedule });
}

function refuseTime(scheduledAt: string, { now }: DecideContext): Refusal | null {
  const aheadMs = Date.parse(scheduledAt) - Date.parse(now);
  if (aheadMs > 0 && aheadMs <= SCHEDULE_DAYS_MAX * DAY_MS) return null;
  return invalid(
    `The field scheduledAt must be a time after now, and at most ${SCHEDULE_DAYS_MAX} days ahead.`,
    '/body/scheduledAt',
  );
}

export interface DueRequest extends NamesRequest {
  /** The refusal that the limits gave when it was carried out; null before that. */
  readonly failure: string | null;
}

/** Carries out what is due of a request, and takes away one without its project. It is decided again here, so a request that was carried out meanwhile stays as it is. */
export function carryOutDue(
  world: World,
  { failure, ...named }: DueRequest,
  context: DecideContext,
): Decision {
  const { data: orphan } = findAddonRecord(world, REQUEST, named.id) ?? {};
  if (orphan !== undefined && isOrphan(world, orphan))
    return [requestEvent('change-request-discarded', orphan, null)];
  const request = locateOpen(world, named);
  const nowMs = Date.parse(context.now);
  if (isRefusal(request) || dueAt(request) > nowMs) return UNCHANGED;
  if (request.state === 'Draft') return cancelDraft(request, context);
  const schedule = request.schedule!;
  const suspended = refuseNow(world, request, schedule);
  if (suspended !== null) return stopped(request, 'suspended', suspended.message);
  if (failure !== null) return stopped(request, 'failed', failure);
  const lateMs = nowMs - Date.parse(schedule.scheduledAt);
  const reason =
    lateMs > LATE_MS
      ? `It was applied ${Math.round(lateMs / 1_000)} seconds late: no server could apply it in time.`
      : null;
  const decision = changesOf(world, request, context, {
    type: SCHEDULED_APPLIED,
    schedule: { ...schedule, status: 'applied', reason },
  });
  return isRefusal(decision) ? stopped(request, 'failed', decision.message) : decision;
}

/** Whether a request will not be applied at its time, as the state is now, or was not. */
export const isStuck = (world: World, request: StoredRequest): boolean =>
  request.schedule !== null &&
  (request.schedule.status !== 'pending' || refuseNow(world, request, request.schedule) !== null);

/** The reason for which a request is not applied at its time, as the state is now. */
export function refuseNow(world: World, request: StoredRequest, { scheduledBy }: Schedule): Refusal | null {
  const { users } = world.directory;
  return users.has(request.createdBy) && users.has(scheduledBy)
    ? refuseToApply(world, request, scheduledBy)
    : invalidOperation('Its author, or the person who scheduled it, was deleted.');
}

const STOPPED = {
  suspended: 'change-request-schedule-suspended',
  failed: 'change-request-scheduled-application-failure',
} as const;

const REASON_LENGTH_MAX = 1_000;

function stopped(request: StoredRequest, status: keyof typeof STOPPED, message: string): Decision {
  const reason = message.slice(0, REASON_LENGTH_MAX);
  const after = { ...request, schedule: { ...request.schedule!, status, reason } };
  return [requestEvent(STOPPED[status], request, after)];
}

function cancelDraft(request: StoredRequest, context: DecideContext): Decision {
  const text = `Nobody has touched this draft for ${DRAFT_DAYS_MAX} days.`;
  const said = commented(request, text, context);
  const after = moved(isRefusal(said) ? request : said, 'Cancelled', context);
  return [requestEvent('change-request-cancelled', request, after)];
}
