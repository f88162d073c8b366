/** The metrics of an edge. Metrics of requests sum over all mirrors, by route and status. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { RouteMeter } from '../../http/serving/meters.ts';
import { counter, countResponses, gauge } from '../../http/serving/metrics.ts';
import type { Transport } from '../../http/transport/transport.ts';
import { VERSION } from '../../process/installation.ts';
import { FEED_WAYS } from './feed.ts';
import type { Mirrors } from './mirrors.ts';
import type { Reports } from './reports.ts';
import type { Tokens } from './tokens.ts';

export interface EdgeMetricsSources {
  readonly mirrors: Mirrors;
  readonly tokens: Tokens;
  readonly reports: Reports;
  readonly transport: () => Pick<
    Transport,
    'openConnections' | 'openStreams' | 'openRequests' | 'unreadBytes'
  >;
  meters(): readonly RouteMeter[];
}

type Row = readonly [name: string, help: string, read: (sources: EdgeMetricsSources) => number];

const GAUGES: readonly Row[] = [
  ['flagstaff_edge_mirrors', 'Sets of flags read from the upstream.', ({ mirrors }) => mirrors.size],
  ['flagstaff_edge_mirror_bytes', 'Memory of the flags.', ({ mirrors }) => mirrors.bytes],
  ['flagstaff_edge_tokens', 'Tokens that the upstream validated.', ({ tokens }) => tokens.validCount],
  [
    'flagstaff_edge_tokens_waiting',
    'Tokens waiting for validation by the upstream. High for long: callers send made-up tokens.',
    ({ tokens }) => tokens.waitingCount,
  ],
  [
    'flagstaff_edge_reports_waiting_bytes',
    'Memory of reports not delivered yet, up to 32 MiB. Growing: the upstream is down.',
    ({ reports }) => reports.bytes,
  ],
  ['flagstaff_edge_connections', 'Open connections.', ({ transport }) => transport().openConnections],
  ['flagstaff_edge_requests_in_flight', 'Requests under way.', ({ transport }) => transport().openRequests],
  [
    'flagstaff_edge_streams',
    'Streams, each of which keeps a connection open.',
    ({ transport }) => transport().openStreams,
  ],
  [
    'flagstaff_edge_unread_bytes',
    'Bytes of responses that clients have not read.',
    ({ transport }) => transport().unreadBytes,
  ],
];

const COUNTERS: readonly Row[] = [
  [
    'flagstaff_edge_token_questions_total',
    'Token validation requests to the upstream.',
    ({ tokens }) => tokens.askedCount,
  ],
  [
    'flagstaff_edge_reports_dropped_total',
    'Dropped flag counts: no room, or a connection that broke while sending.',
    ({ reports }) => reports.droppedCount,
  ],
];

export function edgeMetrics(sources: EdgeMetricsSources): Registry {
  const { mirrors, meters } = sources;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const [name, help, read] of GAUGES)
    gauge(registry, { name, help, read: () => [{ labels: {}, value: read(sources) }] });
  for (const [name, help, read] of COUNTERS)
    counter(registry, { name, help, read: () => [{ labels: {}, value: read(sources) }] });
  gauge(registry, {
    name: 'flagstaff_edge_build_info',
    help: 'Always 1; its labels name the version and Node.',
    labels: ['version', 'node'],
    read: () => [{ labels: { version: VERSION, node: process.version }, value: 1 }],
  });
  gauge(registry, {
    name: 'flagstaff_edge_age_seconds',
    help: 'Time since the upstream last confirmed that the flags of an environment are current; the highest of several. Alert beyond a minute.',
    labels: ['environment'],
    read: () => [...agesOf(mirrors)].map(([environment, value]) => ({ labels: { environment }, value })),
  });
  gauge(registry, {
    name: 'flagstaff_edge_feeds',
    help: 'Mirrors by how the upstream is read. All in polling: it supports neither streams nor deltas.',
    labels: ['way'],
    read: () =>
      FEED_WAYS.map((way) => ({
        labels: { way },
        value: [...mirrors].filter(({ feed }) => feed.way === way).length,
      })),
  });
  const help = 'Responses, by route and status.';
  countResponses(registry, { name: 'flagstaff_edge_requests_total', help }, meters);
  return registry;
}

/** Seconds, by environment. */
function agesOf(mirrors: Mirrors): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const { served, feed } of mirrors) {
    const { environment, isFilled } = served.mirror;
    if (isFilled) ages.set(environment, Math.max(ages.get(environment) ?? 0, feed.ageMs / 1000));
  }
  return ages;
}
