/** Chooses the variant of a list that a context gets: an override's, or else by weight. */
import type { Variant } from '../flags/variant.ts';
import { BUCKET_COST, stickyReader, variantBucket } from './buckets.ts';
import { contextReader } from './context.ts';
import { type Cost, costBy, NO_COST } from './cost.ts';
import type { Run, Test } from './run.ts';

export interface VariantChoice {
  readonly variants: readonly Variant[];
  readonly stickiness: string;
  readonly groupId: string;
  readonly totalWeight: number;
  readonly cost: Cost;
  /** Null when nothing can be chosen, because the weights add up to nothing or are no weights. */
  pick(run: Run): VariantPick | null;
}

export interface VariantPick {
  /** The position in the list. */
  readonly position: number;
  /** From 1 to the total weight; null when an override decided. */
  readonly bucket: number | null;
}

export interface VariantChoiceOptions {
  readonly variants: readonly Variant[];
  readonly groupId: string;
  /** The stickiness of variants that name none: that of the list's first variant. */
  readonly stickiness: string;
}

/** Null for an empty list. */
export function compileVariants({
  variants,
  groupId,
  stickiness: otherwise,
}: VariantChoiceOptions): VariantChoice | null {
  const [first] = variants;
  if (first === undefined) return null;
  const stickiness = first.stickiness || otherwise || 'default';
  const totalWeight = variants.reduce((sum, { weight }) => sum + weight, 0);
  const sticky = variantBucket({ groupId, sticky: stickyReader(stickiness), highest: totalWeight });
  const overrides = variants.map(compileOverrides);
  const pick = (run: Run): VariantPick | null => {
    if (!(totalWeight > 0)) return null;
    const overridden = overrides.findIndex((test) => test?.(run));
    if (overridden !== -1) return { position: overridden, bucket: null };
    const bucket = sticky.of(run) || run.draw(totalWeight);
    const position = positionOf(bucket, variants);
    return position === -1 ? null : { position, bucket };
  };
  return { variants, stickiness, groupId, totalWeight, cost: choiceCost(variants), pick };
}

/** The cost of the compiled choice, found without compiling it. */
export function choiceCost(variants: readonly Variant[]): Cost {
  if (variants.length === 0) return NO_COST;
  const overrideCount = variants.reduce((count, one) => count + (one.overrides?.length ?? 0), 0);
  const fixed = 0.5 + variants.length * 0.02 + overrideCount * 0.1;
  return costBy((length) => fixed + length * BUCKET_COST);
}

function compileOverrides({ overrides }: Variant): Test | null {
  // Documents of older servers may lack the list.
  if (!overrides?.length) return null;
  const tests = overrides.map(({ contextName, values }): Test => {
    const read = contextReader(contextName);
    const texts: ReadonlySet<string | undefined> = new Set(values);
    return ({ context }) => texts.has(read(context));
  });
  return (run) => tests.some((test) => test(run));
}

/** The position of the variant whose share holds the bucket; -1 for none, as when weights are negative. */
function positionOf(bucket: number, variants: readonly Variant[]): number {
  let end = 0;
  return variants.findIndex(({ weight }) => {
    end += weight;
    return weight > 0 && bucket <= end;
  });
}
