/** Closed-loop load by autocannon: for machines without wrk, and for a fixed number of requests. */
import autocannon from 'autocannon';
import type { ClosedLoopRun } from './closed-loop.ts';
import type { Target } from './measurement.ts';
import { fillUnique, type Operation, type Request, uniqueBase } from './operation.ts';

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
    const { method, path } = operation.requests[at] as Request;
    const body = bodies[at];
    sent += 1;
    number += 1;
    return {
      ...template,
      method: method as 'GET',
      path: `${target.basePath}/api/admin${path}`,
      headers: {
        authorization: target.token,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: fillUnique(body, number) }),
    };
  };
  const result = await autocannon({
    url: target.origin,
    connections,
    ...(seconds === undefined ? {} : { duration: seconds }),
    ...(amount === undefined ? {} : { amount }),
    requests: [{ setupRequest }],
  });
  if (result.errors + result.non2xx > 0) {
    throw new Error(`${result.errors} errors and ${result.non2xx} refusals at ${target.name}`);
  }
  const requests = result['2xx'];
  const { p50, p99 } = result.latency;
  return { requests, perSecond: requests / result.duration, p50, p99 };
}
