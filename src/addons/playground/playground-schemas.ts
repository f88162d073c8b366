/** Schemas of responses about why flags are on or off. */
import * as v from 'valibot';
import { VariantSchema } from '../../domain/flags/variant.ts';
import { described, Integer, titled } from '../../domain/json/schema.ts';

const Verdict = v.union([v.boolean(), v.literal('unknown')]);
const AnyObject = v.record(v.string(), v.unknown());

const ConstraintResultSchema = titled('ConstraintResult', {
  contextName: v.string(),
  operator: v.string(),
  caseInsensitive: v.boolean(),
  inverted: v.boolean(),
  values: v.array(v.string()),
  value: v.exactOptional(v.string()),
  result: v.boolean(),
});

const SegmentResultSchema = titled('SegmentResult', {
  id: Integer,
  name: described(v.string(), 'Empty when there is no such segment, which is false.'),
  constraints: v.array(ConstraintResultSchema),
  result: v.boolean(),
});

const RolloutResultSchema = titled('RolloutResult', {
  percentage: v.number(),
  stickiness: v.string(),
  groupId: v.string(),
  bucket: described(
    Integer,
    'From 1 to 100; within the rollout up to the percentage. 0 when the context lacks the field.',
  ),
  result: v.boolean(),
});

const StrategyResultSchema = titled('StrategyResult', {
  id: v.string(),
  name: v.string(),
  title: v.nullable(v.string()),
  disabled: v.nullable(v.boolean()),
  parameters: v.nullable(AnyObject),
  result: v.object({
    enabled: Verdict,
    evaluationStatus: v.picklist(['complete', 'incomplete', 'unevaluated']),
  }),
  constraints: v.array(ConstraintResultSchema),
  segments: v.array(SegmentResultSchema),
  links: v.object({ edit: v.string() }),
  rollout: described(v.nullable(RolloutResultSchema), 'Null for a strategy without a percentage.'),
});

const DecidedBySchema = v.pipe(
  v.object({
    kind: v.picklist([
      'environment-disabled',
      'flag-disabled',
      'all-strategies-disabled',
      'parent',
      'no-strategies',
      'strategy',
      'no-strategy-matched',
    ]),
    feature: described(v.exactOptional(v.string()), 'The parent.'),
    id: described(v.exactOptional(v.string()), 'Of the strategy.'),
  }),
  v.description('The last rule that was needed to know whether the flag is on.'),
  v.title('DecidedBy'),
);

const VariantDecisionSchema = titled('VariantDecision', {
  of: described(v.picklist(['strategy', 'flag']), 'Whose variants they were.'),
  by: v.picklist(['override', 'weight']),
  stickiness: v.string(),
  groupId: v.string(),
  totalWeight: v.number(),
  bucket: described(v.nullable(Integer), 'From 1 to the total weight; null for an override.'),
});

const EVALUATION_ENTRIES = {
  name: v.string(),
  projectId: v.string(),
  isEnabled: v.boolean(),
  isEnabledInCurrentEnvironment: described(
    v.boolean(),
    'Whether the flag and its environment are switched on.',
  ),
  hasUnsatisfiedDependency: v.boolean(),
  strategies: v.object({ result: Verdict, data: v.array(StrategyResultSchema) }),
  variant: v.object({
    name: v.string(),
    enabled: v.boolean(),
    payload: v.exactOptional(v.object({ type: v.string(), value: v.string() })),
    feature_enabled: v.boolean(),
    featureEnabled: v.boolean(),
  }),
  decidedBy: DecidedBySchema,
  reason: v.picklist(['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED']),
  parentResults: v.array(
    titled('ParentResult', {
      feature: v.string(),
      enabled: v.boolean(),
      variants: v.array(v.string()),
      result: v.boolean(),
    }),
  ),
  variantDecision: described(
    v.nullable(VariantDecisionSchema),
    'How the variant was chosen; null when there was nothing to choose from.',
  ),
  contextValues: described(
    v.record(v.string(), v.nullable(v.string())),
    'Of each field that a constraint names; null when the context lacks it.',
  ),
} as const;

const Variants = described(v.array(VariantSchema), 'Of the flag in the environment.');

export const ExplanationSchema = titled('Explanation', {
  ...EVALUATION_ENTRIES,
  environment: v.string(),
  eventId: described(
    v.nullable(Integer),
    'The flag is as it was right after this event; null: as it is now.',
  ),
});

export const AdvancedPlaygroundSchema = titled('AdvancedPlayground', {
  input: AnyObject,
  features: v.array(
    titled('AdvancedPlaygroundFeature', {
      name: v.string(),
      projectId: v.string(),
      environments: v.record(
        v.string(),
        v.array(
          titled('AdvancedPlaygroundEvaluation', {
            ...EVALUATION_ENTRIES,
            variants: Variants,
            environment: v.string(),
            context: AnyObject,
          }),
        ),
      ),
    }),
  ),
  warnings: v.object({
    invalidContextProperties: described(
      v.array(v.string()),
      'Fields of the context that are left out, because their values are lists or objects.',
    ),
  }),
});
