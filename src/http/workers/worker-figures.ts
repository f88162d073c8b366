/**
 * What one HTTP worker tells of itself: numbers in memory that the main thread reads when somebody asks. Only the worker writes them, and
 * each is written whole, so nobody waits for anybody.
 */
import { ROUTE_SECONDS_BUCKETS, type RouteMeter } from '../dispatch/meters.ts';

/** Those of an engine (transport.ts), in the order in which they stand. */
const FIGURES = [
  'openConnections',
  'openRequests',
  'openStreams',
  'unreadBytes',
  'evictedReaders',
  'slowStreams',
] as const;

export type EngineFigures = Readonly<Record<(typeof FIGURES)[number], number>>;

/** Routes whose responses a worker may keep and so give itself. */
export const KEPT_ROUTES = [
  'GET /api/admin/projects/:projectId/features/:featureName',
  'GET /api/client/features',
  'GET /api/admin/projects/:projectId/features',
  'GET /api/admin/projects/:projectId',
  'GET /api/frontend',
  'POST /api/frontend',
  'POST /ofrep/v1/evaluate/flags',
  'POST /ofrep/v1/evaluate/flags/:featureName',
] as const;
/** Its place among them. */
export type KeptRoute = number;

export const keptRoute = (route: (typeof KEPT_ROUTES)[number]): KeptRoute => KEPT_ROUTES.indexOf(route);

const STATUSES = [200, 304] as const;
const BUCKETS = ROUTE_SECONDS_BUCKETS.length + 1;
/** Of each route: buckets, the sum of seconds, and a count for each status. */
const ROUTE_NUMBERS = BUCKETS + 1 + STATUSES.length;

export class WorkerFigures {
  /** To be given to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  /** What of the responses has been added to the meters of the process. */
  readonly #added: Float64Array;

  constructor(
    memory = new SharedArrayBuffer(
      (FIGURES.length + KEPT_ROUTES.length * ROUTE_NUMBERS) * Float64Array.BYTES_PER_ELEMENT,
    ),
  ) {
    this.memory = memory;
    this.#numbers = new Float64Array(memory);
    this.#added = new Float64Array(this.#numbers.length);
  }

  get(figure: keyof EngineFigures): number {
    return this.#numbers[FIGURES.indexOf(figure)]!;
  }

  set(engine: EngineFigures): void {
    for (const [at, figure] of FIGURES.entries()) this.#numbers[at] = engine[figure];
  }

  responded(route: KeptRoute, status: number, durationMs: number): void {
    const numbers = this.#numbers;
    const begin = FIGURES.length + route * ROUTE_NUMBERS;
    const seconds = durationMs / 1000;
    let bucket = 0;
    while (bucket < BUCKETS - 1 && seconds > ROUTE_SECONDS_BUCKETS[bucket]!) bucket += 1;
    numbers[begin + bucket]! += 1;
    numbers[begin + BUCKETS]! += seconds;
    numbers[begin + BUCKETS + 1 + (status === 200 ? 0 : 1)]! += 1;
  }

  /** Adds to the meter of the route what has been given since the last call. */
  addTo(meter: RouteMeter, route: KeptRoute): void {
    const begin = FIGURES.length + route * ROUTE_NUMBERS;
    const fresh = this.#numbers.slice(begin, begin + ROUTE_NUMBERS);
    const added = this.#added.subarray(begin, begin + ROUTE_NUMBERS);
    const more = fresh.map((number, at) => number - added[at]!);
    added.set(fresh);
    meter.add({
      buckets: more.subarray(0, BUCKETS),
      seconds: more[BUCKETS]!,
      statuses: STATUSES.map((status, at) => ({ status, count: more[BUCKETS + 1 + at]! })),
    });
  }
}
