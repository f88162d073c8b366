/**
 * Impact metrics: figures of their own that applications report beside their counts. Counters and histograms add up; of a gauge the last
 * value counts. They are known by environment, name and labels, and bounded in bytes: a sample for which there is no room is left out.
 */
import * as v from 'valibot';

/** Labels are made by applications, and some make one for each user. */
export const IMPACT_BYTES_MAX = 4 * 1024 * 1024;

const SAMPLE_BYTES = 300;
/** Protects the event loop: a body has room for a hundred times as many. */
export const IMPACT_SAMPLES_MAX = 1_000;
const BUCKETS_MAX = 100;
const LABELS_MAX = 20;
const TEXT_LENGTH_MAX = 200;

const Text = v.pipe(v.string(), v.maxLength(TEXT_LENGTH_MAX));
const Labels = v.nullish(
  v.custom<Readonly<Record<string, unknown>>>((value) => typeof value === 'object'),
  {},
);
const Finite = v.pipe(v.number(), v.finite());
const Bucket = v.object({ le: v.union([v.number(), v.string()]), count: Finite });

const SAMPLE = v.union([
  v.object({ value: Finite, labels: Labels }),
  v.object({
    count: Finite,
    sum: Finite,
    buckets: v.pipe(v.array(Bucket), v.maxLength(BUCKETS_MAX)),
    labels: Labels,
  }),
]);

const METRIC = v.object({
  name: Text,
  help: v.nullish(Text, ''),
  type: v.picklist(['counter', 'gauge', 'histogram']),
  samples: v.array(v.unknown()),
});

/** A sum of samples. */
export const IMPACT = v.object({
  kind: v.literal('impact'),
  environment: v.string(),
  name: v.string(),
  help: v.string(),
  type: v.picklist(['counter', 'gauge', 'histogram']),
  /** Sorted by name. */
  labels: v.array(v.tuple([v.string(), v.string()])),
  /** The value of a counter or a gauge; null for a histogram. */
  value: v.nullable(v.number()),
  count: v.number(),
  sum: v.number(),
  buckets: v.array(v.tuple([v.union([v.number(), v.string()]), v.number()])),
});

export type ImpactSample = v.InferOutput<typeof IMPACT>;

export class ImpactSums {
  readonly #byKey = new Map<string, ImpactSample>();
  #bytes = 0;

  get size(): number {
    return this.#byKey.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes those that can be read. */
  take(environment: string, metrics: readonly unknown[]): void {
    for (const sent of metrics) {
      const read = v.safeParse(METRIC, sent);
      if (!read.success) continue;
      const { name, help, type, samples } = read.output;
      for (const one of samples.slice(0, IMPACT_SAMPLES_MAX)) {
        const sample = v.safeParse(SAMPLE, one);
        const labels = sample.success ? labelsOf(sample.output.labels) : null;
        if (sample.success && labels !== null)
          this.#add({ kind: 'impact', environment, name, help, type, labels, ...figuresOf(sample.output) });
      }
    }
  }

  /** Puts back what was not taken by the upstream: the value of a gauge that came meanwhile is the newer one. */
  putBack(sample: ImpactSample): void {
    if (sample.type !== 'gauge' || !this.#byKey.has(keyOf(sample))) this.#add(sample);
  }

  values(): Iterable<ImpactSample> {
    return this.#byKey.values();
  }

  #add(sample: ImpactSample): void {
    const key = keyOf(sample);
    const known = this.#byKey.get(key);
    const bytes = SAMPLE_BYTES + 4 * key.length + 40 * sample.buckets.length;
    if (known === undefined) {
      if (this.#bytes + bytes > IMPACT_BYTES_MAX) return;
      this.#bytes += bytes;
    }
    this.#byKey.set(key, known === undefined || sample.type === 'gauge' ? sample : summed(known, sample));
  }
}

const keyOf = ({ environment, name, type, labels, buckets }: ImpactSample): string =>
  JSON.stringify([environment, name, type, labels, buckets.map(([le]) => le)]);

function labelsOf(labels: Readonly<Record<string, unknown>> | null): ImpactSample['labels'] | null {
  const pairs = Object.entries(labels ?? {}).map(([name, value]): [string, string] => [name, String(value)]);
  const isSmall = pairs.every(([name, value]) => name.length + value.length <= TEXT_LENGTH_MAX);
  return pairs.length <= LABELS_MAX && isSmall ? pairs.sort(([a], [b]) => (a < b ? -1 : 1)) : null;
}

function figuresOf(
  sample: v.InferOutput<typeof SAMPLE>,
): Pick<ImpactSample, 'value' | 'count' | 'sum' | 'buckets'> {
  if ('value' in sample) return { value: sample.value, count: 0, sum: 0, buckets: [] };
  const { count, sum, buckets } = sample;
  return { value: null, count, sum, buckets: buckets.map((one) => [one.le, one.count]) };
}

function summed(a: ImpactSample, b: ImpactSample): ImpactSample {
  return {
    ...b,
    value: a.value === null || b.value === null ? null : a.value + b.value,
    count: a.count + b.count,
    sum: a.sum + b.sum,
    // Those of one key have the same bounds, in the same order.
    buckets: a.buckets.map(([le, count], at) => [le, count + (b.buckets[at]?.[1] ?? 0)]),
  };
}

/** Samples as upstreams take them, by metric. */
export function sentImpact(samples: readonly ImpactSample[]): readonly object[] {
  const metrics = new Map<string, { name: string; help: string; type: string; samples: object[] }>();
  for (const { name, help, type, labels, value, count, sum, buckets } of samples) {
    const key = JSON.stringify([name, type]);
    let metric = metrics.get(key);
    if (metric === undefined) {
      metric = { name, help, type, samples: [] };
      metrics.set(key, metric);
    }
    const figures =
      value === null ? { count, sum, buckets: buckets.map(([le, n]) => ({ le, count: n })) } : { value };
    metric.samples.push({ ...figures, labels: Object.fromEntries(labels) });
  }
  return [...metrics.values()];
}
