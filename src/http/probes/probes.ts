/**
 * What supervisors and load balancers ask: `/health` whether the process is alive and can write, `/ready` whether
 * it should get requests, and the metrics page.
 */
import type { Registry } from 'prom-client';
import type { Engine } from '../../actors/engine.ts';
import { refuse } from '../../domain/state/refusal.ts';
import { COMMON_ERRORS, refusalReply } from '../dispatch/errors.ts';
import { jsonReply } from '../dispatch/json-reply.ts';
import type { PlainRoute } from '../dispatch/route.ts';
import type { Surface } from '../dispatch/surface.ts';
import { ReplyHeaders } from '../transport/reply-headers.ts';
import type { Reply, RequestHandler } from '../transport/transport.ts';

export const METRICS_PATH = '/internal-backstage/prometheus';

/** Where the process is in its life. */
export type Phase = 'starting' | 'ready' | 'draining';

export interface ProbeOptions {
  readonly engine: Engine;
  /** Null: there is no metrics page. */
  readonly metrics: Registry | null;
  phase(): Phase;
}

/** Asked by machines that have no token, and that need an answer most when little else works. */
export function probeSurface({ engine, metrics, phase }: ProbeOptions): Surface {
  return {
    prefix: '',
    access: null,
    errors: COMMON_ERRORS,
    description: null,
    routes: [
      { kind: 'plain', method: 'GET', path: '/health', answer: () => healthReply(engine) },
      { kind: 'plain', method: 'GET', path: '/ready', answer: () => readyReply(phase()) },
      ...(metrics === null ? [] : [metricsRoute(metrics)]),
    ],
  };
}

function metricsRoute(registry: Registry): PlainRoute {
  return {
    kind: 'plain',
    method: 'GET',
    path: METRICS_PATH,
    answer: async () => ({
      status: 200,
      headers: ReplyHeaders.of('content-type', registry.contentType),
      body: await registry.metrics(),
    }),
  };
}

function healthReply({ journal }: Engine): Reply {
  if (journal.writable) return jsonReply(200, { health: 'GOOD' });
  return jsonReply(503, { health: 'BAD', reason: journal.refusalReason });
}

function readyReply(phase: Phase): Reply {
  return jsonReply(phase === 'ready' ? 200 : 503, { ready: phase === 'ready', phase });
}

/** Answers while the journal is being replayed: alive, not ready, and nothing of the state is shown. */
export function startingHandler(basePath: string): RequestHandler {
  return ({ path }, response) => {
    if (path === `${basePath}/ready`) response.send(readyReply('starting'));
    else if (path === `${basePath}/health`)
      response.send(jsonReply(503, { health: 'BAD', reason: 'Starting.' }));
    else {
      const message = 'The server is starting and still reads its journal. Try again in a moment.';
      response.send(refusalReply(refuse('ServiceUnavailableError', message)));
    }
  };
}
