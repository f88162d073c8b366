/**
 * Counters for the hot path: plain numbers in arrays, which are read only when the metrics are requested. An
 * observation in a labelled histogram of the metrics library costs about as much as a cached read.
 */

/** Upper bounds in seconds, from a cached read to a disk that hangs. */
export const SECONDS_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** Buckets of each route, in seconds: few, because there are more than a hundred routes. */
export const ROUTE_SECONDS_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5] as const;

/** Upper bounds of numbers of frames in a batch. */
export const COUNT_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] as const;

/** A distribution: how many observations fell below each bound, and their sum. */
export class Distribution {
  readonly bounds: readonly number[];
  /** Not cumulative. Has one more entry than `bounds`, for everything above them. */
  readonly counts: Float64Array;
  sum = 0;
  count = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > (this.bounds[at] ?? 0)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
    this.count += 1;
  }
}

/** The responses of one route. */
export class RouteMeter {
  readonly method: string;
  readonly route: string;
  readonly seconds = new Distribution(ROUTE_SECONDS_BUCKETS);
  readonly #counts = new Map<number, number>();

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  responded(status: number, durationMs: number): void {
    this.seconds.observe(durationMs / 1000);
    this.counted(status);
  }

  /** For a request that was refused before its route: its time would say nothing of the route. */
  counted(status: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + 1);
  }

  /** The statuses that were answered, and how often. */
  statuses(): { readonly status: number; readonly count: number }[] {
    return [...this.#counts]
      .map(([status, count]) => ({ status, count }))
      .sort((a, b) => a.status - b.status);
  }
}
