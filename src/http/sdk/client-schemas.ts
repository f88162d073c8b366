/** The schemas of responses to SDKs (docs/specification/surfaces.md#what-applications-get). */
import * as v from 'valibot';
import { ConstraintSchema } from '../../domain/flags/constraint.ts';
import { FLAG_TYPES } from '../../domain/flags/flag-type.ts';
import { VariantSchema } from '../../domain/flags/variant.ts';

const SentVariantSchema = v.pipe(
  v.object({
    ...VariantSchema.entries,
    weightType: v.picklist(['variable', 'fix']),
    stickiness: v.string(),
    overrides: v.exactOptional(v.array(v.object({ contextName: v.string(), values: v.array(v.string()) }))),
  }),
  v.title('Client variant'),
);

const SentConstraintSchema = v.pipe(
  v.object({
    ...ConstraintSchema.entries,
    caseInsensitive: v.boolean(),
    inverted: v.boolean(),
    values: v.array(v.string()),
  }),
  v.title('Client constraint'),
);

const SentStrategySchema = v.pipe(
  v.object({
    name: v.string(),
    title: v.exactOptional(v.string()),
    sortOrder: v.number(),
    constraints: v.array(SentConstraintSchema),
    parameters: v.pipe(v.record(v.string(), v.string()), v.description('All values as texts.')),
    variants: v.array(SentVariantSchema),
    segments: v.pipe(
      v.exactOptional(v.array(v.number())),
      v.description('Ids of segments; only when there are any, and for clients that know them.'),
    ),
  }),
  v.title('Client strategy'),
);

export const ClientFlagSchema = v.pipe(
  v.object({
    name: v.string(),
    type: v.picklist(FLAG_TYPES),
    enabled: v.pipe(v.boolean(), v.description("In the token's environment.")),
    project: v.string(),
    stale: v.boolean(),
    impressionData: v.boolean(),
    description: v.nullable(v.string()),
    strategies: v.pipe(v.array(SentStrategySchema), v.description('Without disabled ones.')),
    variants: v.array(SentVariantSchema),
    dependencies: v.exactOptional(
      v.array(v.object({ feature: v.string(), enabled: v.boolean(), variants: v.array(v.string()) })),
    ),
  }),
  v.title('Client feature'),
);

const SentSegmentSchema = v.object({
  id: v.number(),
  name: v.string(),
  constraints: v.array(SentConstraintSchema),
});

export const ClientFlagsSchema = v.pipe(
  v.object({
    version: v.number(),
    features: v.array(ClientFlagSchema),
    query: v.object({
      environment: v.string(),
      inlineSegmentConstraints: v.boolean(),
      project: v.exactOptional(v.array(v.string())),
      namePrefix: v.exactOptional(v.string()),
      tag: v.exactOptional(v.array(v.array(v.string()))),
    }),
    segments: v.exactOptional(v.array(SentSegmentSchema)),
    meta: v.object({ etag: v.string(), queryHash: v.string() }),
  }),
  v.title('Client features'),
);

const EventIdSchema = v.pipe(v.number(), v.description('Of the event in the log that it comes from.'));

export const DeltaSchema = v.pipe(
  v.object({
    events: v.pipe(
      v.array(
        v.variant('type', [
          v.object({
            type: v.literal('hydration'),
            eventId: EventIdSchema,
            features: v.array(ClientFlagSchema),
            segments: v.array(SentSegmentSchema),
          }),
          v.object({ type: v.literal('feature-updated'), eventId: EventIdSchema, feature: ClientFlagSchema }),
          v.object({
            type: v.literal('feature-removed'),
            eventId: EventIdSchema,
            featureName: v.string(),
            project: v.string(),
          }),
          v.object({
            type: v.literal('segment-updated'),
            eventId: EventIdSchema,
            segment: SentSegmentSchema,
          }),
          v.object({ type: v.literal('segment-removed'), eventId: EventIdSchema, segmentId: v.number() }),
        ]),
      ),
      v.description('In this order. A hydration replaces everything that the client has.'),
    ),
  }),
  v.title('Client delta'),
);
