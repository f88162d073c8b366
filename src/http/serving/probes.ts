/**
 * The probes of supervisors and load balancers: `/health` whether the process is alive and can write, `/ready`
 * whether it should get requests, and the metrics page, which is made at most once a second.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { basename } from 'node:path';
import type { Registry } from 'prom-client';
import type { Engine } from '../../actors/engine.ts';
import type { HistoryCheck } from '../../actors/history-check.ts';
import { memoryWarning } from '../../actors/memory-budget.ts';
import { stateBytes } from '../../domain/state/records.ts';
import { refuse } from '../../domain/state/refusal.ts';
import type { HttpResponse, RequestHandler, TransportRequest } from '../transport/transport.ts';
import { errorOfRefusal, plainErrorResponse } from './errors.ts';
import { jsonResponse } from './json-response.ts';
import { METRICS_PATH, metricsPage } from './metrics-page.ts';
import type { PlainRoute } from './route.ts';
import { OPEN_AT_ROOT, type Surface } from './surface.ts';

/** The phase of the process's life. */
export type Phase = 'starting' | 'ready' | 'draining';

interface MetricsPage {
  readonly registry: Registry;
  /** Null: every client of the port may read them. */
  readonly token: string | null;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
}

/** The health of an add-on. */
export interface AddonHealth {
  /** A sentence on what needs an operator; null where nothing does. */
  readonly warning: string | null;
  /** Its fields in the response. */
  readonly shown: object;
  /** Its part of `/ready`, where it may keep the server from being ready. */
  readonly readiness?: { readonly isReady: boolean; readonly shown: object };
}

export interface ProbeOptions {
  readonly engine: Engine;
  readonly historyCheck: HistoryCheck;
  /** The health of each add-on that has one. */
  readonly addons: readonly (() => AddonHealth)[];
  /** Null: there is no metrics page. */
  readonly metrics: MetricsPage | null;
  phase(): Phase;
}

const PROBE = { tag: 'Probes', contentType: 'application/json' } as const;

/** Asked by machines that have no token, and that need a response most when little else works. */
export function probeSurface(options: ProbeOptions): Surface {
  const { addons, metrics, phase } = options;
  return {
    ...OPEN_AT_ROOT,
    routes: [
      {
        kind: 'plain',
        method: 'GET',
        path: '/health',
        described: {
          ...PROBE,
          operationId: 'getHealth',
          summary: 'Tell whether the process works, and what is wrong.',
          statuses: { 200: 'It works; a `warning` says what needs somebody.', 503: 'It accepts no writes.' },
        },
        respond: () => healthResponse(options),
      },
      {
        kind: 'plain',
        method: 'GET',
        path: '/ready',
        described: {
          ...PROBE,
          operationId: 'getReadiness',
          summary: 'Tell whether requests can be served.',
          statuses: { 200: 'They can.', 503: 'Not yet, or not any more.' },
        },
        respond: () =>
          readyResponse(
            phase(),
            addons.map((health) => health()),
          ),
      },
      ...(metrics === null ? [] : [metricsRoute(metrics)]),
    ],
  };
}

const TOKEN_REQUIRED = refuse(
  'AuthenticationRequired',
  'The token of the metrics is required in the header Authorization, as "Bearer <token>".',
);

function metricsRoute({ registry, token, monotonicMs }: MetricsPage): PlainRoute {
  const page = metricsPage(() => registry, monotonicMs);
  return {
    kind: 'plain',
    method: 'GET',
    path: METRICS_PATH,
    described: {
      ...PROBE,
      contentType: 'text/plain',
      operationId: 'getMetrics',
      summary: 'Tell what the server has measured, for Prometheus.',
      statuses: {
        200: 'The metrics, in the text format of Prometheus.',
        401: 'The operator asks for a token of the metrics, and none or another was sent.',
      },
    },
    respond: (request) =>
      token === null || holdsToken(request, token)
        ? page()
        : plainErrorResponse(errorOfRefusal(TOKEN_REQUIRED)),
  };
}

/** Compares digests, so that the time it takes reveals nothing about the token. */
function holdsToken(request: TransportRequest, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(request.header('authorization')), digest(`Bearer ${token}`));
}

/**
 * Above the memory budget and with damage in old history, the process is healthy all the same: a restart would not help, and switches
 * still work.
 */
function healthResponse({ engine, historyCheck, addons }: ProbeOptions): HttpResponse {
  const { journal, world, memoryBudgetBytes } = engine;
  const ofAddons = addons.map((health) => health());
  const warnings = [
    memoryWarning(stateBytes(world), memoryBudgetBytes),
    damageWarning(historyCheck),
    ...ofAddons.map((one) => one.warning),
  ];
  const warning = warnings.filter((one) => one !== null).join(' ');
  const more = {
    ...(warning !== '' && { warning }),
    ...(historyCheck.lastPassAt !== null && {
      historyCheckedAt: new Date(historyCheck.lastPassAt).toISOString(),
    }),
    ...Object.assign({}, ...ofAddons.map(({ shown }) => shown)),
  };
  if (journal.writable) return jsonResponse(200, { health: 'GOOD', ...more });
  return jsonResponse(503, { health: 'BAD', reason: journal.refusalReason, ...more });
}

function damageWarning({ damages }: HistoryCheck): string | null {
  const [first] = damages;
  if (first === undefined) return null;
  const where =
    first.offset === null ? basename(first.file) : `${basename(first.file)}, offset ${first.offset}`;
  const others = damages.length === 1 ? '' : ` and ${damages.length - 1} more`;
  return `Old history is damaged (${where}${others}); flags and changes are not affected. Run "flagstaff verify".`;
}

function readyResponse(phase: Phase, addons: readonly AddonHealth[] = []): HttpResponse {
  const parts = addons.flatMap(({ readiness }) => readiness ?? []);
  const ready = phase === 'ready' && parts.every(({ isReady }) => isReady);
  return jsonResponse(ready ? 200 : 503, {
    ready,
    phase,
    ...Object.assign({}, ...parts.map(({ shown }) => shown)),
  });
}

/**
 * Answers while the journal is being replayed, or a cluster joined: alive, not ready, and nothing of the state is shown. `waitsFor` says
 * what holds the start up; null where nothing does.
 */
export function startingHandler(basePath: string, waitsFor: () => string | null): RequestHandler {
  return ({ path }, responder) => {
    if (path === `${basePath}/ready`) responder.send(readyResponse('starting'));
    else if (path === `${basePath}/health`)
      responder.send(jsonResponse(503, { health: 'BAD', reason: `Starting. ${waitsFor() ?? ''}`.trim() }));
    else {
      const message = 'The server is starting and still reads its journal. Try again in a moment.';
      responder.send(plainErrorResponse(errorOfRefusal(refuse('ServiceUnavailableError', message))));
    }
  };
}
