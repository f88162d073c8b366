/** Schemas of responses about why flags are on or off. */
import * as v from 'valibot';
import { VariantSchema } from '../../../domain/flags/variant.ts';

const Integer = v.pipe(v.number(), v.integer());
const Verdict = v.union([v.boolean(), v.literal('unknown')]);
const AnyObject = v.record(v.string(), v.unknown());

const ConstraintResultSchema = v.pipe(
  v.object({
    contextName: v.string(),
    operator: v.string(),
    caseInsensitive: v.boolean(),
    inverted: v.boolean(),
    values: v.array(v.string()),
    value: v.exactOptional(v.string()),
    result: v.boolean(),
  }),
  v.title('ConstraintResult'),
);

const SegmentResultSchema = v.pipe(
  v.object({
    id: Integer,
    name: v.pipe(v.string(), v.description('Empty when there is no such segment, which is false.')),
    constraints: v.array(ConstraintResultSchema),
    result: v.boolean(),
  }),
  v.title('SegmentResult'),
);

const RolloutResultSchema = v.pipe(
  v.object({
    percentage: v.number(),
    stickiness: v.string(),
    groupId: v.string(),
    bucket: v.pipe(
      Integer,
      v.description(
        'From 1 to 100; within the rollout up to the percentage. 0 when the context lacks the field.',
      ),
    ),
    result: v.boolean(),
  }),
  v.title('RolloutResult'),
);

const StrategyResultSchema = v.pipe(
  v.object({
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
    rollout: v.pipe(
      v.nullable(RolloutResultSchema),
      v.description('Null for a strategy without a percentage.'),
    ),
  }),
  v.title('StrategyResult'),
);

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
    feature: v.pipe(v.exactOptional(v.string()), v.description('The parent.')),
    id: v.pipe(v.exactOptional(v.string()), v.description('Of the strategy.')),
  }),
  v.description('The last rule that was needed to know whether the flag is on.'),
  v.title('DecidedBy'),
);

const VariantDecisionSchema = v.pipe(
  v.object({
    of: v.pipe(v.picklist(['strategy', 'flag']), v.description('Whose variants they were.')),
    by: v.picklist(['override', 'weight']),
    stickiness: v.string(),
    groupId: v.string(),
    totalWeight: v.number(),
    bucket: v.pipe(v.nullable(Integer), v.description('From 1 to the total weight; null for an override.')),
  }),
  v.title('VariantDecision'),
);

const EVALUATION_ENTRIES = {
  name: v.string(),
  projectId: v.string(),
  isEnabled: v.boolean(),
  isEnabledInCurrentEnvironment: v.pipe(
    v.boolean(),
    v.description('Whether the flag and its environment are switched on.'),
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
    v.pipe(
      v.object({
        feature: v.string(),
        enabled: v.boolean(),
        variants: v.array(v.string()),
        result: v.boolean(),
      }),
      v.title('ParentResult'),
    ),
  ),
  variantDecision: v.pipe(
    v.nullable(VariantDecisionSchema),
    v.description('How the variant was chosen; null when there was nothing to choose from.'),
  ),
  contextValues: v.pipe(
    v.record(v.string(), v.nullable(v.string())),
    v.description('Of each field that a constraint names; null when the context lacks it.'),
  ),
} as const;

const Variants = v.pipe(v.array(VariantSchema), v.description('Of the flag in the environment.'));

export const ExplanationSchema = v.pipe(
  v.object({
    ...EVALUATION_ENTRIES,
    environment: v.string(),
    eventId: v.pipe(
      v.nullable(Integer),
      v.description('The flag is as it was right after this event; null: as it is now.'),
    ),
  }),
  v.title('Explanation'),
);

export const PlaygroundSchema = v.pipe(
  v.object({
    input: AnyObject,
    features: v.array(
      v.pipe(v.object({ ...EVALUATION_ENTRIES, variants: Variants }), v.title('PlaygroundFeature')),
    ),
  }),
  v.title('Playground'),
);

export const AdvancedPlaygroundSchema = v.pipe(
  v.object({
    input: AnyObject,
    features: v.array(
      v.pipe(
        v.object({
          name: v.string(),
          projectId: v.string(),
          environments: v.record(
            v.string(),
            v.array(
              v.pipe(
                v.object({
                  ...EVALUATION_ENTRIES,
                  variants: Variants,
                  environment: v.string(),
                  context: AnyObject,
                }),
                v.title('AdvancedPlaygroundEvaluation'),
              ),
            ),
          ),
        }),
        v.title('AdvancedPlaygroundFeature'),
      ),
    ),
    warnings: v.object({
      invalidContextProperties: v.pipe(
        v.array(v.string()),
        v.description('Fields of the context that are left out, because their values are lists or objects.'),
      ),
    }),
  }),
  v.title('AdvancedPlayground'),
);
