/**
 * Variants, the weighted alternatives of a flag or a strategy, and the distribution of their weights
 * (docs/specification/variants.md).
 * In a list that is not empty the weights of all variants add up to exactly 1000 once they are distributed: `fix`
 * variants keep theirs, the `variable` ones share the rest. The order of the list is never changed, since patch
 * paths are positions in it.
 */
import * as v from 'valibot';
import { type Issue, issuesOf, shown } from '../json/issues.ts';
import { described, differentBy, list, titled } from '../json/schema.ts';
import { isNumberText } from './constraint.ts';

/** Thousandths: a weight of 500 is half of the users. */
export const WEIGHT_TOTAL = 1000;

const WEIGHT_PHRASE = `an integer from 0 to ${WEIGHT_TOTAL}`;

const PayloadSchema = v.pipe(
  v.object({
    type: v.picklist(['json', 'csv', 'string', 'number'], 'one of json, csv, string, number'),
    value: v.string(),
  }),
  v.forward(
    v.partialCheck(
      [['type'], ['value']],
      ({ type, value }) => isPayloadOf(type, value),
      ({ input }) => `The field value must be ${PAYLOAD_PHRASES[input.type]}, not ${shown(input.value)}.`,
    ),
    ['value'],
  ),
  v.description('What the SDK hands to the application along with the name of the variant.'),
);

const OverrideSchema = v.object({
  contextName: v.pipe(v.string(), v.minLength(1, 'the name of a context field')),
  values: list(v.string(), 'a list of strings'),
});

const VARIANT_FIELDS = {
  name: v.pipe(
    v.string(),
    v.minLength(1, 'a name of at least one character'),
    v.description('Unique within its list.'),
  ),
  weight: v.pipe(
    v.number(WEIGHT_PHRASE),
    v.integer(WEIGHT_PHRASE),
    v.minValue(0, WEIGHT_PHRASE),
    v.maxValue(WEIGHT_TOTAL, WEIGHT_PHRASE),
    v.description('In thousandths. The service sets it for variable variants, whatever was sent.'),
  ),
  weightType: v.optional(v.picklist(['variable', 'fix'], 'variable or fix'), 'variable'),
  payload: v.exactOptional(PayloadSchema),
  overrides: v.optional(
    described(
      list(OverrideSchema, 'a list of overrides'),
      'Contexts that get this variant regardless of its weight.',
    ),
    [],
  ),
} as const;

const StickinessSchema = v.pipe(
  v.string(),
  v.minLength(1, 'default, random or the name of a context field'),
  v.description('The context field that keeps a user on the same variant, such as default or userId.'),
);

export const VariantSchema = titled('Variant', {
  ...VARIANT_FIELDS,
  stickiness: v.optional(StickinessSchema, 'default'),
});

const StrategyVariantSchema = titled('Strategy variant', { ...VARIANT_FIELDS, stickiness: StickinessSchema });

export interface Variant {
  readonly name: string;
  readonly weight: number;
  readonly weightType: 'variable' | 'fix';
  readonly stickiness: string;
  readonly payload?: { readonly type: 'json' | 'csv' | 'string' | 'number'; readonly value: string };
  readonly overrides: readonly { readonly contextName: string; readonly values: readonly string[] }[];
}

/** The rules over a whole list, the same for flags and strategies. */
const listRules = v.rawCheck<v.InferOutput<typeof VariantSchema>[]>(({ dataset, addIssue }) => {
  if (!dataset.typed) return;
  const message = listIssue(dataset.value);
  if (message !== null) addIssue({ message });
});

const NAMES_DIFFER = differentBy<v.InferOutput<typeof VariantSchema>, 'name'>('name', 'Variants');

export const VariantListSchema = v.pipe(list(VariantSchema, 'a list of variants'), NAMES_DIFFER, listRules);

export const StrategyVariantListSchema = v.pipe(
  list(StrategyVariantSchema, 'a list of variants'),
  NAMES_DIFFER,
  listRules,
  v.description('Variants of this strategy, which take precedence over those of the flag.'),
);

/**
 * Distributes the weights of a valid list (docs/specification/variants.md#weights): the `variable` variants share
 * what the `fix` ones leave of 1000, and the first ones take the remainder, so three get 334, 333 and 333. Weights that are such a share
 * already stay as they are, whichever variants have the remainder: a user of another server keeps his variant when its flags are brought
 * here.
 */
export function distributeWeights(variants: readonly Variant[]): Variant[] {
  const rest = WEIGHT_TOTAL - fixedWeight(variants);
  const variableCount = variants.filter((variant) => variant.weightType === 'variable').length;
  const share = Math.floor(rest / variableCount);
  const weights = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  const isShared = weights.every((weight) => weight === share || weight === share + 1);
  if (isShared && weights.reduce((sum, weight) => sum + weight, 0) === rest) return [...variants];
  let leftOver = rest % variableCount;
  return variants.map((variant) => {
    if (variant.weightType === 'fix') return variant;
    return { ...variant, weight: leftOver-- > 0 ? share + 1 : share };
  });
}

export type NormalisedVariants =
  | { readonly ok: true; readonly variants: Variant[] }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Turns the variants of a body or of a patched document into the list that is stored, or says what is wrong. */
export function normaliseVariants(list: unknown): NormalisedVariants {
  const parsed = v.safeParse(VariantListSchema, list);
  if (!parsed.success) return { ok: false, issues: issuesOf(parsed.issues) };
  return { ok: true, variants: distributeWeights(parsed.output) };
}

function listIssue(variants: readonly Variant[]): string | null {
  if (variants.length === 0) return null;
  if (variants.every((variant) => variant.weightType === 'fix')) {
    return 'At least one variant must have the weightType variable; all of them are fix.';
  }
  const fixed = fixedWeight(variants);
  if (fixed < WEIGHT_TOTAL) return null;
  return `The weights of fix variants must add up to less than ${WEIGHT_TOTAL}, not to ${fixed}.`;
}

function fixedWeight(variants: readonly Variant[]): number {
  return variants.reduce((sum, variant) => (variant.weightType === 'fix' ? sum + variant.weight : sum), 0);
}

const PAYLOAD_PHRASES = {
  json: 'valid JSON for a payload of type json',
  number: 'a number for a payload of type number',
  csv: 'a string',
  string: 'a string',
} as const;

function isPayloadOf(type: keyof typeof PAYLOAD_PHRASES, value: string): boolean {
  if (type === 'number') return isNumberText(value);
  return type !== 'json' || isJson(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
