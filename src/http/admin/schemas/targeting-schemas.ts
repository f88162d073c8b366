/** The shapes of responses about segments, context fields and strategy types. */
import * as v from 'valibot';
import { LegalValueSchema } from '../../../domain/kinds/context-field.ts';
import { ParameterDefinitionSchema } from '../../../domain/kinds/strategy-type.ts';
import { TAG_TYPE_SHOWN } from '../../../domain/kinds/tag-type.ts';
import { KeptConstraintSchema } from './schemas.ts';

const Integer = v.pipe(v.number(), v.integer());
const Timestamp = v.pipe(v.string(), v.isoTimestamp(), v.description('ISO 8601, UTC.'));
const UseCount = v.pipe(Integer, v.minValue(0));

const USE_COUNTS = {
  usedInFeatures: v.pipe(
    UseCount,
    v.description('Flags whose strategies refer to it, archived ones included.'),
  ),
  usedInProjects: v.pipe(UseCount, v.description('Projects that have such flags.')),
} as const;

export const SegmentSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.string(),
    description: v.exactOptional(v.string()),
    project: v.exactOptional(v.string()),
    constraints: v.array(KeptConstraintSchema),
    createdBy: v.string(),
    createdAt: Timestamp,
    ...USE_COUNTS,
  }),
  v.title('Segment'),
);

export const SegmentsSchema = v.pipe(v.object({ segments: v.array(SegmentSchema) }), v.title('Segments'));

export const StrategySegmentsSchema = v.pipe(
  v.object({
    projectId: v.string(),
    environmentId: v.string(),
    strategyId: v.string(),
    segmentIds: v.array(Integer),
  }),
  v.title('StrategySegments'),
);

export const ContextFieldSchema = v.pipe(
  v.object({
    name: v.string(),
    description: v.string(),
    stickiness: v.boolean(),
    sortOrder: v.number(),
    legalValues: v.array(LegalValueSchema),
    createdAt: v.nullable(Timestamp),
    ...USE_COUNTS,
  }),
  v.title('ContextField'),
);

export const ContextFieldsSchema = v.array(ContextFieldSchema);

const StrategyUseSchema = v.pipe(
  v.object({
    id: v.string(),
    projectId: v.string(),
    featureName: v.string(),
    environment: v.string(),
    strategyName: v.string(),
  }),
  v.title('StrategyUse'),
);

export const StrategyUsesSchema = v.pipe(
  v.object({ strategies: v.array(StrategyUseSchema) }),
  v.title('StrategyUses'),
);

export const StrategyTypeSchema = v.pipe(
  v.object({
    name: v.string(),
    displayName: v.string(),
    title: v.nullable(v.string()),
    description: v.string(),
    editable: v.pipe(v.boolean(), v.description('False for the predefined ones.')),
    deprecated: v.boolean(),
    parameters: v.array(ParameterDefinitionSchema),
  }),
  v.title('StrategyType'),
);

export const StrategyTypesSchema = v.pipe(
  v.object({ version: v.literal(1), strategies: v.array(StrategyTypeSchema) }),
  v.title('StrategyTypes'),
);

export const TagTypeSchema = v.pipe(
  v.object({
    name: v.string(),
    ...TAG_TYPE_SHOWN,
  }),
  v.title('TagType'),
);

export const FoundTagTypeSchema = v.pipe(
  v.object({ version: v.literal(1), tagType: TagTypeSchema }),
  v.title('FoundTagType'),
);

export const TagTypesSchema = v.pipe(
  v.object({ version: v.literal(1), tagTypes: v.array(TagTypeSchema) }),
  v.title('TagTypes'),
);

export const TagTypeCheckSchema = v.pipe(
  v.object({ valid: v.literal(true), tagType: TagTypeSchema }),
  v.title('TagTypeCheck'),
);
