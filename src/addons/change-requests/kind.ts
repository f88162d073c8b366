/** The kind `change-request`: commands that are not carried out yet, with who made, reviewed and approved them. */
import * as v from 'valibot';
import { Count, Integer, Timestamp } from '../../domain/json/schema.ts';
import type { AddonKind } from '../../domain/kinds/addon-kind.ts';
import { addonRecordLists, findAddonRecord, type ReadRecord } from '../../domain/state/addon-records.ts';
import { type DomainEvent, recordEvent } from '../../domain/state/events.ts';
import { notFound, type Refusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { ACTION_NAMES } from './action-names.ts';
import { schemaIssues } from './protection.ts';

export const CHANGES_MAX = 500;
export const REQUEST_BYTES_MAX = 1024 * 1024;
/** The part of it that only the end of a request may take, which nothing that others wrote may hold up. */
const END_BYTES_MAX = 16 * 1024;
export const WRITTEN_BYTES_MAX = REQUEST_BYTES_MAX - END_BYTES_MAX;
export const COMMENTS_MAX = 200;
export const REVIEWERS_MAX = 100;
export const COMMENT_LENGTH_MAX = 1_000;
export const TITLE_LENGTH_MAX = 255;

export const APPLIED = 'change-request-applied';
/** The type of the event in place of that one where the request was applied by its schedule. */
export const SCHEDULED_APPLIED = 'change-request-scheduled-application-success';

/** `Approved` is not kept: it is what a request in review is while enough of its approvals count. */
export const KEPT_STATES = ['Draft', 'In review', 'Scheduled', 'Applied', 'Rejected', 'Cancelled'] as const;
export const STATES = [...KEPT_STATES, 'Approved'] as const;
export type State = (typeof STATES)[number];
/** Nothing of a request in such a state changes any more. */
export const CLOSED: readonly State[] = ['Applied', 'Rejected', 'Cancelled'];

const ChangeSchema = v.object({
  id: Integer,
  /** Null for a change of a segment. */
  feature: v.nullable(v.string()),
  action: v.picklist(ACTION_NAMES),
  payload: v.unknown(),
  /** The part of the state that the change is about, as its author saw it. */
  snapshot: v.unknown(),
  /** Id of the newest event about the target when the author saw it. */
  eventId: Count,
  /** Segments that the change relies on, each with a digest of the constraints that its author saw. */
  segments: v.exactOptional(v.array(v.object({ id: Integer, digest: v.nullable(v.string()) }))),
  /** The strategy that a flag without one gets when it is switched on. */
  defaultStrategy: v.exactOptional(v.unknown()),
  createdBy: Integer,
  createdAt: Timestamp,
});

const ScheduleSchema = v.object({
  scheduledAt: Timestamp,
  /** The user with whose rights it is applied. */
  scheduledBy: Integer,
  status: v.picklist(['pending', 'applied', 'suspended', 'failed']),
  /** The reason for which it was not applied, or applied late. */
  reason: v.nullable(v.string()),
});

const RequestSchema = v.object({
  id: Integer,
  project: v.string(),
  environment: v.string(),
  title: v.string(),
  state: v.picklist(KEPT_STATES),
  stateTimestamps: v.record(v.picklist(KEPT_STATES), Timestamp),
  /** The number of edits. */
  version: Integer,
  createdBy: Integer,
  createdAt: Timestamp,
  /** Everybody who has created it, or added, edited or discarded a change: none of them may approve it. */
  authors: v.array(Integer),
  changes: v.array(ChangeSchema),
  /** The newest approval of each user. It counts for its version alone. */
  approvals: v.array(v.object({ userId: Integer, version: Integer, createdAt: Timestamp })),
  rejections: v.array(v.object({ userId: Integer, createdAt: Timestamp })),
  comments: v.array(v.object({ id: Integer, userId: Integer, text: v.string(), createdAt: Timestamp })),
  /** People who were asked for a review. */
  reviewers: v.array(Integer),
  /** The newest id of a change or a comment. */
  lastPartId: Count,
  /** Events that applying it has recorded; null before. */
  appliedEvents: v.nullable(v.object({ first: Integer, last: Integer })),
  schedule: v.nullable(ScheduleSchema),
  // The id, and the time of the schedule, by the names under which receivers of Unleash's events look for them.
  changeRequestId: v.exactOptional(Integer),
  scheduledDate: v.exactOptional(Timestamp),
});

type Read<T> = T extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Read<T[Key]> }
    : T;
export type StoredChange = Read<v.InferOutput<typeof ChangeSchema>>;
export type Schedule = Read<v.InferOutput<typeof ScheduleSchema>>;
export type StoredRequest = Read<v.InferOutput<typeof RequestSchema>>;

export const REQUEST: AddonKind<StoredRequest> = {
  name: 'change-request',
  noun: 'change request',
  events: {
    created: 'change-request-created',
    updated: 'change-request-updated',
    deleted: 'change-request-discarded',
  },
  upgrades: [],
  countMax: 100_000,
  bytesMax: REQUEST_BYTES_MAX,
  placeOf: (request) => request,
  issuesOf: ({ data }) => schemaIssues(RequestSchema, data, 'The change request'),
};

export type RequestRecord = ReadRecord<StoredRequest>;

/** The event that leaves the request as `after`; null: without it. It lacks the request as it was, which would double the journal. */
export function requestEvent(
  type: string,
  before: StoredRequest | null,
  after: StoredRequest | null,
): DomainEvent {
  const request = (after ?? before)!;
  const content = (data: StoredRequest | null) => (data === null ? null : { data: told(data), secrets: {} });
  const event = recordEvent(REQUEST, request.id, [content(before), content(after)]);
  return { ...event, type, preData: after === null ? event.preData : null } as unknown as DomainEvent;
}

function told({ scheduledDate: _, ...request }: StoredRequest): StoredRequest {
  const { id, schedule } = request;
  return {
    ...request,
    changeRequestId: id,
    ...(schedule === null ? {} : { scheduledDate: schedule.scheduledAt }),
  };
}

/** Whether the project that it was of was deleted, with or without another one under the same id since. */
export function isOrphan({ projects }: World, { project, createdAt }: StoredRequest): boolean {
  const known = projects.get(project);
  return known === undefined || createdAt < known.settings.createdAt;
}

/** The requests of all projects, newest first. */
export function* requestsIn(world: World): Generator<StoredRequest, undefined> {
  for (const list of addonRecordLists(world, REQUEST).toReversed())
    for (const { data } of list.toReversed()) if (!isOrphan(world, data)) yield data;
}

type ByProject = ReadonlyMap<string, readonly StoredRequest[]>;

const byProject = new WeakMap<readonly RequestRecord[], ByProject>();

function projectsIn(list: readonly RequestRecord[]): ByProject {
  const known = byProject.get(list);
  if (known !== undefined) return known;
  const projects = new Map<string, StoredRequest[]>();
  for (const { data } of list.toReversed()) {
    const requests = projects.get(data.project);
    if (requests === undefined) projects.set(data.project, [data]);
    else requests.push(data);
  }
  byProject.set(list, projects);
  return projects;
}

/** The requests of a project, newest first. */
export function requestsOf(world: World, project: string): readonly StoredRequest[] {
  const lists = addonRecordLists(world, REQUEST).toReversed();
  const all = lists.flatMap((list) => projectsIn(list).get(project) ?? []);
  const oldest = all.at(-1);
  return oldest !== undefined && isOrphan(world, oldest)
    ? all.filter((request) => !isOrphan(world, request))
    : all;
}

export function locateRequest(
  world: World,
  project: string,
  id: number,
  text: string,
): RequestRecord | Refusal {
  const found = findAddonRecord(world, REQUEST, id);
  return found?.data.project === project && !isOrphan(world, found.data)
    ? found
    : notFound(`There is no change request "${text}" in the project "${project}".`);
}
