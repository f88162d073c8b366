/** Decisions on segments. */

import { segmentCost } from '../evaluation/segment-test.ts';
import { refuseLargerThan } from '../growth/refuse-size.ts';
import { jsonEqual } from '../json/json.ts';
import {
  SEGMENT_BYTES_MAX,
  SEGMENT_COST_MAX,
  SEGMENTS_MAX,
  type Segment,
  type SegmentInput,
} from '../kinds/segment.ts';
import { type DecideContext, type Decision, UNCHANGED } from '../state/decision.ts';
import { locateSegment } from '../state/directory-records.ts';
import { ABOUT_NOTHING, type DomainEvent } from '../state/events.ts';
import { locateProject, noProject } from '../state/locate.ts';
import { invalid, invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { nameOfProject } from './guards.ts';

export interface CreateSegment {
  readonly type: 'create-segment';
  readonly fields: SegmentInput;
}

export function createSegment(world: World, { fields }: CreateSegment, context: DecideContext): Decision {
  const { directory } = world;
  const refusal = refuseTakenSegmentName(world, fields.name) ?? refuseUnknownProject(world, fields);
  if (refusal !== null) return refusal;
  if (directory.segments.size >= SEGMENTS_MAX) {
    return invalidOperation(`There are ${SEGMENTS_MAX} segments, and there cannot be more.`);
  }
  const data: Segment = {
    id: nextSegmentId(world),
    ...fields,
    createdBy: context.actor.name,
    createdAt: context.now,
  };
  return (
    refuseTooLarge(data) ??
    refuseTooSlow(data, null) ?? [{ type: 'segment-created', ...ABOUT_NOTHING, data, preData: null }]
  );
}

/** Never an id that a strategy names already: releases without segments kept whatever ids clients sent. */
function nextSegmentId({ directory, references }: World): number {
  let id = directory.lastSegmentId + 1;
  while (references.flagCounts('segment', id).size > 0) id += 1;
  return id;
}

export interface UpdateSegment {
  readonly type: 'update-segment';
  readonly id: number;
  readonly fields: SegmentInput;
}

/** Replaces all that a client can send. A segment that is used elsewhere cannot be kept for one project. */
export function updateSegment(world: World, { id, fields }: UpdateSegment): Decision {
  const preData = locateSegment(world, id);
  if (isRefusal(preData)) return preData;
  const refusal =
    (fields.name === preData.name ? null : refuseTakenSegmentName(world, fields.name)) ??
    refuseUnknownProject(world, fields) ??
    refuseForeignUse(world, preData, fields.project);
  if (refusal !== null) return refusal;
  const data: Segment = { ...preData, ...fields };
  if (jsonEqual(data, preData)) return UNCHANGED;
  return (
    refuseTooLarge(data) ??
    refuseTooSlow(data, preData) ?? [{ type: 'segment-updated', ...ABOUT_NOTHING, data, preData }]
  );
}

export interface DeleteSegment {
  readonly type: 'delete-segment';
  readonly id: number;
}

/** A strategy without its segment would serve more people than before, so a segment in use stays. */
export function deleteSegment(world: World, { id }: DeleteSegment): Decision {
  const segment = locateSegment(world, id);
  if (isRefusal(segment)) return segment;
  const users = usersOf(world, segment);
  if (users.length === 0) return [segmentDeleted(segment)];
  return invalidOperation(
    `The segment "${segment.name}" is used by flags: ${users.join(', ')}, archived ones included. Remove it from their strategies before deleting it.`,
  );
}

/** The segments that only the project's strategies may use end with it. */
export function segmentsOfProjectDeleted(world: World, project: string): DomainEvent[] {
  return [...world.directory.segments.values()]
    .filter((segment) => segment.project === project)
    .map(segmentDeleted);
}

function segmentDeleted(segment: Segment): DomainEvent {
  return { type: 'segment-deleted', ...ABOUT_NOTHING, data: null, preData: segment };
}

const refuseTooLarge = (segment: Segment): Refusal | null =>
  refuseLargerThan(SEGMENT_BYTES_MAX, `The segment "${segment.name}"`, segment);

/** One that is beyond the limit already may become faster. */
function refuseTooSlow(after: Segment, before: Segment | null): Refusal | null {
  const cost = segmentCost(after).worst;
  if (cost <= SEGMENT_COST_MAX || (before !== null && cost <= segmentCost(before).worst)) return null;
  return invalid(
    `The segment "${after.name}" may take ${Math.round(cost / 1_000)} ms to evaluate for the longest context; the limit is ${SEGMENT_COST_MAX / 1_000} ms.`,
    '/body/constraints',
  );
}

/** Segment names are unique over the whole service. */
export function refuseTakenSegmentName({ directory }: World, name: string): Refusal | null {
  for (const segment of directory.segments.values()) {
    if (segment.name === name) return nameExists(`A segment named "${name}" exists already.`);
  }
  return null;
}

function refuseUnknownProject(world: World, { project }: SegmentInput): Refusal | null {
  if (project === null || !isRefusal(locateProject(world, project))) return null;
  return invalid(noProject(world, project), '/body/project');
}

function refuseForeignUse(world: World, segment: Segment, project: string | null): Refusal | null {
  if (project === null) return null;
  const others = usersOf(world, segment, project);
  if (others.length === 0) return null;
  return invalidOperation(
    `The segment "${segment.name}" cannot be kept for the project "${project}": it is used by flags: ${others.join(', ')}.`,
  );
}

/** `3 in the project "x"`, for each project but `except` in which flags use the segment. */
function usersOf(world: World, { id }: Segment, except?: string): string[] {
  return [...world.references.flagCounts('segment', id)]
    .filter(([project]) => project !== except)
    .map(([project, count]) => `${count} in ${nameOfProject(world, project)}`);
}
