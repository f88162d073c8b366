/** Answers to what operators ask of an edge. Secrets are in none of it. */
import type { Registry } from 'prom-client';
import { VERSION } from '../../process/installation.ts';
import type { EdgeMetricsSources } from './metrics.ts';
import type { UpstreamOptions } from './upstream-client.ts';

export interface Backstage {
  /** What makes it is loaded when it is first asked for: a start has no time for it. */
  registry(): Promise<Registry>;
  health(): object;
  /** Null when it is ready, or why it is not. */
  unready(): string | null;
  features(): object;
  tokens(): object;
  waitingMetrics(): object;
  instance(): object;
}

export interface BackstageSources extends EdgeMetricsSources {
  readonly upstream: Pick<UpstreamOptions, 'appName' | 'instanceId'>;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  unready(): string | null;
}

/** Reports of one answer, so that it is made at once. */
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

export function backstageOf(sources: BackstageSources): Backstage {
  const { mirrors, tokens, reports, upstream, startedAt, transport, unready } = sources;
  const environments = (): readonly object[] =>
    [...mirrors].map(({ token, served, feed }) => ({
      environment: served.mirror.environment,
      projects: token.projects,
      flags: served.mirror.world.directory.flagProjects.size,
      eventId: served.mirror.lastId,
      way: feed.way,
      ageMs: served.mirror.isFilled ? Math.round(feed.ageMs) : null,
    }));
  let registry: Promise<Registry> | undefined;
  return {
    registry: () => (registry ??= import('./metrics.ts').then(({ edgeMetrics }) => edgeMetrics(sources))),
    health: () => ({ status: 'OK', environments: environments() }),
    unready,
    features: () => ({ environments: environments() }),
    tokens: () => ({
      tokens: [...tokens.values()].map(({ type, projects, environment, token }) => ({
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
