/** Closed-loop load by autocannon: for machines without wrk, and for a fixed number of requests. */
import autocannon from 'autocannon';
import type { Target } from '../measurement.ts';
import type { ClosedLoopRun } from './closed-loop-run.ts';
import { fillUnique, headersOf, type Operation, pathOf, type Request, uniqueBase } from './operation.ts';

/** From here on, rounding to a millisecond is an error of a tenth at most. */
const ROUNDED_MS_MIN = 10;

/** How soon it notices that a number of requests is done; its default is a second. */
const NOTICED_MS = 10;

export interface AutocannonOptions {
  readonly target: Target;
  readonly operation: Operation;
  readonly connections: number;
  /** A time or a number of requests. */
  readonly seconds?: number;
  readonly requests?: number;
}

export async function runAutocannon(options: AutocannonOptions): Promise<ClosedLoopRun> {
  const { target, operation, connections, seconds, requests: amount } = options;
  const bodies = operation.requests.map(({ body }) =>
    body === undefined ? undefined : JSON.stringify(body),
  );
  let sent = 0;
  let number = uniqueBase();
  const setupRequest = (template: autocannon.Request): autocannon.Request => {
    const at = sent % operation.requests.length;
    const request = operation.requests[at] as Request;
    const body = bodies[at];
    sent += 1;
    number += 1;
    return {
      ...template,
      method: request.method as 'GET',
      path: pathOf(target, request),
      headers: headersOf(target, request),
      ...(body === undefined ? {} : { body: fillUnique(body, number) }),
    };
  };
  const result = await autocannon({
    url: target.origin,
    connections,
    ...(seconds === undefined ? {} : { duration: seconds }),
    ...(amount === undefined ? {} : { amount, sampleInt: NOTICED_MS }),
    requests: [{ setupRequest }],
  });
  const refused = result['4xx'] + result['5xx'];
  if (result.errors + refused > 0) {
    throw new Error(`${result.errors} errors and ${refused} refusals at ${target.name}`);
  }
  const requests = result['2xx'] + result['3xx'];
  const perSecond = requests / result.duration;
  const { p50, p99 } = result.latency;
  // Its latencies are whole milliseconds. Below a few of them the mean, as it follows from the throughput, is nearer.
  const meanMs = (connections * 1000) / perSecond;
  return { requests, perSecond, p50: p50 < ROUNDED_MS_MIN ? meanMs : p50, p99 };
}
