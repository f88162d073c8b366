/** Responses to what operators ask of an edge, by the paths of Unleash Edge. Secrets are in none of it. */
import type { Registry } from 'prom-client';
import { jsonResponse } from '../../http/serving/json-response.ts';
import { METRICS_PATH, metricsPage } from '../../http/serving/metrics-page.ts';
import type { PlainRoute } from '../../http/serving/route.ts';
import { OPEN_AT_ROOT, type Surface } from '../../http/serving/surface.ts';
import { VERSION } from '../../process/installation.ts';
import type { EdgeMetricsSources } from './metrics.ts';
import type { UpstreamOptions } from './upstream-client.ts';

export interface OperatorSources extends EdgeMetricsSources {
  readonly upstream: Pick<UpstreamOptions, 'appName' | 'instanceId'>;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  unready(): string | null;
  monotonicMs(): number;
}

const BELOW = '/internal-backstage';

/** Tokens or reports in one response: the path is public, and the response is made at once. */
const SHOWN_MAX = 200;

function firstOf<T>(all: Iterable<T>): readonly T[] {
  const first: T[] = [];
  for (const one of all) {
    first.push(one);
    if (first.length === SHOWN_MAX) break;
  }
  return first;
}

/** Characters of a token that tell people which one it is. */
const SHOWN_CHARACTERS = 4;

/** `disabled`: names of what is switched off, such as `tokens`. */
export function operatorSurface(sources: OperatorSources, disabled: ReadonlySet<string>): Surface {
  const { mirrors, tokens, reports, upstream, startedAt, transport } = sources;
  const route = (path: string, respond: PlainRoute['respond']): PlainRoute => ({
    ...{ kind: 'plain', method: 'GET', path, respond },
  });
  const json = (path: string, read: () => object): PlainRoute => route(path, () => jsonResponse(200, read()));
  const ready: PlainRoute['respond'] = () => {
    const reason = sources.unready();
    return reason === null
      ? jsonResponse(200, { status: 'READY' })
      : jsonResponse(503, { status: 'NOT_READY', reason });
  };
  const environments = (): readonly object[] =>
    [...mirrors].map(({ token, served, feed }) => ({
      environment: served.mirror.environment,
      projects: token.projects,
      flags: served.mirror.world.flagProjects.size,
      eventId: served.mirror.lastId,
      way: feed.way,
      ageMs: served.mirror.isFilled ? Math.round(feed.ageMs) : null,
    }));
  const health = () => ({ status: 'OK', environments: environments() });
  let registry: Registry | undefined;
  // Loaded when it is first asked for, because a start has no time for it.
  const metrics = metricsPage(async () => {
    const { edgeMetrics } = await import('./metrics.ts');
    registry ??= edgeMetrics(sources);
    return registry;
  }, sources.monotonicMs);
  const offered: readonly (readonly [name: string, route: PlainRoute])[] = [
    ['features', json(`${BELOW}/features`, () => ({ environments: environments() }))],
    [
      'tokens',
      json(`${BELOW}/tokens`, () => ({
        known: tokens.validCount,
        tokens: firstOf(tokens.values()).map(({ type, projects, environment, token }) => ({
          ...{ token: `${token.slice(0, SHOWN_CHARACTERS)}…`, type, projects, environment },
        })),
      })),
    ],
    [
      'metrics-batch',
      json(`${BELOW}/metricsbatch`, () => ({ waiting: reports.size, reports: firstOf(reports.waiting()) })),
    ],
    [
      'instance-data',
      json(`${BELOW}/instancedata`, () => ({
        identifier: upstream.instanceId,
        appName: upstream.appName,
        edgeVersion: VERSION,
        started: new Date(startedAt).toISOString(),
        connectedStreamingClients: transport().openStreams,
      })),
    ],
    ['metrics', route(`${BELOW}/metrics`, metrics)],
    ['metrics', route(METRICS_PATH, metrics)],
  ];
  return {
    ...OPEN_AT_ROOT,
    routes: [
      ...[json(`${BELOW}/health`, health), json('/health', health)],
      ...[route(`${BELOW}/ready`, ready), route('/ready', ready)],
      ...offered.flatMap(([name, one]) => (disabled.has(name) ? [] : [one])),
    ],
  };
}
