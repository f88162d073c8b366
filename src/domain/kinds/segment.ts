/**
 * A segment: constraints under a name, which strategies of many flags refer to by its id (docs/specification/targeting.md#segments).
 * All constraints of a segment must hold, as if they stood in the strategy itself.
 */
import * as v from 'valibot';
import { type Constraint, ConstraintSchema } from '../flags/constraint.ts';
import { list } from '../json/list-schema.ts';
import { Id, Text, Time } from './document-values.ts';
import { type Immutable, kind } from './kind.ts';

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

const NAME_PHRASE = `a name of 1 to ${SEGMENT_NAME_LENGTH_MAX} characters`;
const DESCRIPTION_PHRASE = `a text of at most ${SEGMENT_DESCRIPTION_LENGTH_MAX} characters, or null`;
const CONSTRAINTS_PHRASE = `a list of at most ${SEGMENT_CONSTRAINTS_MAX} constraints`;

export const SegmentNameSchema = v.pipe(
  v.string(NAME_PHRASE),
  v.minLength(1, NAME_PHRASE),
  v.maxLength(SEGMENT_NAME_LENGTH_MAX, NAME_PHRASE),
);

export const SegmentInputSchema = v.pipe(
  v.object({
    name: v.pipe(SegmentNameSchema, v.description('Unique over the whole service.')),
    description: v.optional(
      v.nullable(
        v.pipe(v.string(DESCRIPTION_PHRASE), v.maxLength(SEGMENT_DESCRIPTION_LENGTH_MAX, DESCRIPTION_PHRASE)),
      ),
      null,
    ),
    project: v.optional(
      v.pipe(
        v.nullable(v.string('the id of a project, or null')),
        v.description('The one project whose strategies may use the segment; null: any.'),
      ),
      null,
    ),
    constraints: v.pipe(
      list(ConstraintSchema, CONSTRAINTS_PHRASE),
      v.maxLength(SEGMENT_CONSTRAINTS_MAX, CONSTRAINTS_PHRASE),
      v.check(
        (constraints) => valueCount(constraints) <= SEGMENT_VALUES_MAX,
        `The constraints of a segment may have ${SEGMENT_VALUES_MAX} values together.`,
      ),
    ),
  }),
  v.title('SegmentInput'),
);

export type SegmentInput = v.InferOutput<typeof SegmentInputSchema>;

/** `createdBy`: name of the user or token that made it. */
const DocumentSchema = v.object({
  ...SegmentInputSchema.entries,
  id: Id,
  createdBy: Text,
  createdAt: Time,
});

export type Segment = Immutable<v.InferOutput<typeof DocumentSchema>>;

export const SEGMENT = kind({
  noun: 'segment',
  events: { created: 'segment-created', changed: ['segment-updated'], deleted: 'segment-deleted' },
  document: DocumentSchema,
  idOf: ({ id }: Segment) => id,
  lastId: 'lastSegmentId',
  unique: ['id', 'name'],
  refersTo: { project: 'project' },
});

function valueCount(constraints: readonly Constraint[]): number {
  return constraints.reduce((count, { values }) => count + values.length, 0);
}
