/**
 * The types that Unleash Edge decodes, as strictly as it does: each of its structs, in which a field of another type makes the whole response
 * useless to it. Fields that it does not know, it ignores; those that it may lack may also be null.
 */
import * as v from 'valibot';

const Int32 = v.pipe(v.number(), v.integer(), v.minValue(-(2 ** 31)), v.maxValue(2 ** 31 - 1));
const UInt32 = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1));
const Text = v.string();
const Texts = v.array(Text);

/** A header as Edge parses it: an entity tag in quotes. Others are dropped, and every poll gets everything. */
export const EntityTag = v.pipe(Text, v.regex(/^(?:W\/)?"[\x21\x23-\x7e]*"$/));

export const ValidatedTokens = v.object({
  tokens: v.array(
    v.object({
      token: Text,
      type: v.nullish(v.picklist(['client', 'backend', 'frontend', 'admin'])),
      environment: v.nullish(Text),
      projects: Texts,
    }),
  ),
});

const Payload = v.object({ type: Text, value: Text });

const Constraint = v.object({
  contextName: Text,
  operator: Text,
  caseInsensitive: v.optional(v.boolean()),
  inverted: v.optional(v.boolean()),
  values: v.nullish(Texts),
  value: v.nullish(Text),
});

const Variant = v.object({
  name: Text,
  weight: Int32,
  weightType: v.nullish(v.picklist(['fix', 'variable'])),
  stickiness: v.nullish(Text),
  payload: v.nullish(Payload),
  overrides: v.nullish(v.array(v.object({ contextName: Text, values: Texts }))),
});

const Strategy = v.object({
  name: Text,
  sortOrder: v.nullish(Int32),
  segments: v.nullish(v.array(Int32)),
  constraints: v.nullish(v.array(Constraint)),
  parameters: v.nullish(v.record(Text, Text)),
  variants: v.nullish(v.array(Variant)),
});

const Feature = v.object({
  name: Text,
  type: v.nullish(Text),
  description: v.nullish(Text),
  createdAt: v.nullish(v.pipe(Text, v.isoTimestamp())),
  lastSeenAt: v.nullish(v.pipe(Text, v.isoTimestamp())),
  enabled: v.boolean(),
  stale: v.nullish(v.boolean()),
  impressionData: v.nullish(v.boolean()),
  project: v.nullish(Text),
  strategies: v.nullish(v.array(Strategy)),
  variants: v.nullish(v.array(Variant)),
  dependencies: v.nullish(
    v.array(v.object({ feature: Text, enabled: v.nullish(v.boolean()), variants: v.nullish(Texts) })),
  ),
});

const Segment = v.object({ id: Int32, constraints: v.array(Constraint) });

export const Features = v.object({
  version: UInt32,
  features: v.array(Feature),
  segments: v.nullish(v.array(Segment)),
  query: v.nullish(
    v.object({
      tags: v.nullish(v.array(Texts)),
      projects: v.nullish(Texts),
      namePrefix: v.nullish(Text),
      environment: v.nullish(Text),
      inlineSegmentConstraints: v.nullish(v.boolean()),
    }),
  ),
  meta: v.nullish(
    v.object({ etag: v.nullish(Text), revisionId: v.nullish(UInt32), queryHash: v.nullish(Text) }),
  ),
});

export const Delta = v.object({
  events: v.pipe(
    v.array(
      v.variant('type', [
        v.object({
          type: v.literal('hydration'),
          eventId: UInt32,
          features: v.array(Feature),
          segments: v.array(Segment),
        }),
        v.object({ type: v.literal('feature-updated'), eventId: UInt32, feature: Feature }),
        v.object({ type: v.literal('feature-removed'), eventId: UInt32, featureName: Text, project: Text }),
        v.object({ type: v.literal('segment-updated'), eventId: UInt32, segment: Segment }),
        v.object({ type: v.literal('segment-removed'), eventId: UInt32, segmentId: Int32 }),
      ]),
    ),
    v.minLength(1),
  ),
});
