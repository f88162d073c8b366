/** Answers to what operators ask of an edge. Secrets are in none of it. */
import type { Registry } from 'prom-client';
import { metricsPage } from '../../http/serving/metrics-page.ts';
import type { HttpResponse } from '../../http/transport/transport.ts';
import { VERSION } from '../../process/installation.ts';
import type { EdgeMetricsSources } from './metrics.ts';
import type { UpstreamOptions } from './upstream-client.ts';

export interface OperatorRoutes {
  /** Loads what it takes when it is first asked for, because a start has no time for it. */
  metrics(): Promise<HttpResponse>;
  health(): object;
  /** Null when it is ready, or why it is not. */
  unready(): string | null;
  features(): object;
  tokens(): object;
  waitingMetrics(): object;
  instance(): object;
}

export interface OperatorSources extends EdgeMetricsSources {
  readonly upstream: Pick<UpstreamOptions, 'appName' | 'instanceId'>;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  unready(): string | null;
  monotonicMs(): number;
}

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

export function operatorRoutes(sources: OperatorSources): OperatorRoutes {
  const { mirrors, tokens, reports, upstream, startedAt, transport, unready } = sources;
  const environments = (): readonly object[] =>
    [...mirrors].map(({ token, served, feed }) => ({
      environment: served.mirror.environment,
      projects: token.projects,
      flags: served.mirror.world.flagProjects.size,
      eventId: served.mirror.lastId,
      way: feed.way,
      ageMs: served.mirror.isFilled ? Math.round(feed.ageMs) : null,
    }));
  let registry: Registry | undefined;
  const registryOf = async (): Promise<Registry> => {
    const { edgeMetrics } = await import('./metrics.ts');
    registry ??= edgeMetrics(sources);
    return registry;
  };
  return {
    metrics: metricsPage(registryOf, sources.monotonicMs),
    health: () => ({ status: 'OK', environments: environments() }),
    unready,
    features: () => ({ environments: environments() }),
    tokens: () => ({
      known: tokens.validCount,
      tokens: firstOf(tokens.values()).map(({ type, projects, environment, token }) => ({
        ...{ token: `${token.slice(0, SHOWN_CHARACTERS)}…`, type, projects, environment },
      })),
    }),
    waitingMetrics: () => ({
      waiting: reports.size,
      reports: firstOf(reports.waiting()),
    }),
    instance: () => ({
      identifier: upstream.instanceId,
      appName: upstream.appName,
      edgeVersion: VERSION,
      started: new Date(startedAt).toISOString(),
      connectedStreamingClients: transport().openStreams,
    }),
  };
}
