/** Medians and quantiles of small samples. */
import assert from 'node:assert/strict';

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which the share `q` of the sample lies: the nearest rank, never an interpolation. */
export function quantile(values: readonly number[], q: number): number {
  assert(values.length > 0, 'a quantile needs a sample');
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
}
