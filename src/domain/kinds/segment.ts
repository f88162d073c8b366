/**
 * A segment: constraints under a name, which strategies of many flags refer to by its id (docs/specification/targeting.md#segments).
 * All constraints of a segment must hold, as if they stood in the strategy itself.
 */
import * as v from 'valibot';
import { type Constraint, ConstraintSchema, KeptConstraintSchema } from '../flags/constraint.ts';
import { segmentCost } from '../flags/evaluation-cost.ts';
import type { Issue } from '../json/issues.ts';
import { filledText, listUpTo, textUpTo } from '../json/schema.ts';
import { Id, Text, Time } from './document-values.ts';
import { managedKind, type RecordWith, type SentOf } from './kind.ts';

/** Segments of the service. Each one that a document of flags uses is sent with it. */
export const SEGMENTS_MAX = 300;
/** The largest segment as JSON. Protects the list of segments, and every document of flags that a segment is sent with. */
export const SEGMENT_BYTES_MAX = 64 * 1024;
const SEGMENT_CONSTRAINTS_MAX = 30;
/** Values of all constraints of a segment together. The largest known use is a list of customers. */
export const SEGMENT_VALUES_MAX = 1_000;
/** Microseconds that testing one takes at worst: ten regular expressions. Every flag that has the segment may take as long. */
export const SEGMENT_COST_MAX = 100_000;
const SEGMENT_NAME_LENGTH_MAX = 255;
const SEGMENT_DESCRIPTION_LENGTH_MAX = 10_000;

const SENT = {
  name: v.pipe(
    filledText('a name', SEGMENT_NAME_LENGTH_MAX),
    v.description('Unique over the whole service.'),
  ),
  description: v.optional(v.nullable(textUpTo(SEGMENT_DESCRIPTION_LENGTH_MAX, ', or null')), null),
  project: v.optional(
    v.pipe(
      v.nullable(v.string('the id of a project, or null')),
      v.description('The one project whose strategies may use the segment; null: any.'),
    ),
    null,
  ),
  constraints: v.pipe(
    listUpTo(SEGMENT_CONSTRAINTS_MAX, 'constraints', ConstraintSchema),
    v.check(
      (constraints) => valueCount(constraints) <= SEGMENT_VALUES_MAX,
      `The constraints of a segment may have ${SEGMENT_VALUES_MAX} values together.`,
    ),
  ),
} as const;

/** `createdBy`: name of the user or token that made it. */
const ADDED = { id: Id, createdBy: Text, createdAt: Time } as const;

export type SegmentInput = SentOf<typeof SENT>;
export type Segment = RecordWith<typeof SENT, typeof ADDED>;

/** A strategy without its segment would serve more people than before, so a segment in use stays. */
export const SEGMENT = managedKind({
  noun: 'segment',
  since: { release: '0.1.0', contentVersion: 1, documentVersion: 2 },
  events: { created: 'segment-created', changed: ['segment-updated'], deleted: 'segment-deleted' },
  lastId: 'lastSegmentId',
  sent: SENT,
  added: ADDED,
  defaults: {},
  countMax: SEGMENTS_MAX,
  bytesMax: SEGMENT_BYTES_MAX,
  refersTo: { project: 'project' },
  use: { by: 'segment', isShown: true, advice: 'Remove it from their strategies' },
  example: {
    id: 1,
    name: 'Nordic customers',
    description: 'Who sees new things first',
    project: null,
    constraints: [
      {
        contextName: 'country',
        operator: 'IN',
        caseInsensitive: false,
        inverted: false,
        values: ['fi', 'se'],
      },
    ],
    createdBy: 'ada',
    createdAt: '2024-05-01T09:30:00.000Z',
  },
  faultOf: ({ after, before, usedIn }) => foreignUse(after, usedIn) ?? slowness(after, before),
  routes: {
    path: '/segments',
    param: 'id',
    tag: 'Segments',
    tagDescription: 'Constraints that strategies of many flags share.',
    permission: 'targeting:write',
    needs: { create: ['CREATE_SEGMENT'], update: ['UPDATE_SEGMENT'], remove: ['DELETE_SEGMENT'] },
    list: { id: 'getSegments', summary: 'List the segments by name.', field: 'segments' },
    create: { id: 'createSegment', summary: 'Create a segment.' },
    read: { id: 'getSegment', summary: 'Read a segment.' },
    update: { id: 'updateSegment', summary: 'Replace a segment.' },
    remove: { id: 'removeSegment', summary: 'Delete a segment that no strategy uses.' },
    doneStatus: 204,
    body: 'SegmentInput',
    isPinned: true,
    shown: {
      description: v.exactOptional(v.string()),
      project: v.exactOptional(v.string()),
      constraints: v.array(KeptConstraintSchema),
    },
  },
});

/** A segment that is used elsewhere cannot be kept for one project. */
function foreignUse(
  { name, project }: Segment,
  usedIn: (except: string) => readonly string[],
): string | null {
  const others = project === null ? [] : usedIn(project);
  if (others.length === 0) return null;
  return `The segment "${name}" cannot be kept for the project "${project}": it is used by flags: ${others.join(', ')}.`;
}

/** One that is beyond the limit already may become faster. */
function slowness(after: Segment, before: Segment | null): Issue | null {
  const cost = segmentCost(after).worst;
  if (cost <= SEGMENT_COST_MAX || (before !== null && cost <= segmentCost(before).worst)) return null;
  const message = `The segment "${after.name}" may take ${Math.round(cost / 1_000)} ms to evaluate for the longest context; the limit is ${SEGMENT_COST_MAX / 1_000} ms.`;
  return { path: '/body/constraints', message };
}

function valueCount(constraints: readonly Constraint[]): number {
  return constraints.reduce((count, { values }) => count + values.length, 0);
}
