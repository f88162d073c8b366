/**
 * The metrics page, in the text format of Prometheus. docs/operating-reference.md repeats the help that says what to look for. Everything is
 * read when the page is requested; between two scrapes nothing is computed.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Engine } from '../../actors/engine.ts';
import type { HistoryCheck } from '../../actors/history-check.ts';
import type { SnapshotKeeper } from '../../actors/snapshot-keeper.ts';
import { stateBytes } from '../../domain/state/records.ts';
import type { CommitObservation } from '../../persistence/journal/journal.ts';
import type { Transport } from '../transport/transport.ts';
import { COUNT_BUCKETS, Distribution, type RouteMeter, SECONDS_BUCKETS } from './meters.ts';

/** Meters each commit of the journal. Made before the journal, which reports to it. */
export class CommitMeter {
  readonly frames = new Distribution(COUNT_BUCKETS);
  readonly commitSeconds = new Distribution(SECONDS_BUCKETS);

  observe({ frames, tookMs }: CommitObservation): void {
    this.frames.observe(frames);
    this.commitSeconds.observe(tookMs / 1000);
  }
}

export interface MetricsSources {
  readonly version: string;
  readonly recoveryMs: number;
  readonly historyCheck: HistoryCheck;
  /** Responses with 401 since the start. */
  refusedLogins(): number;
  readonly engine: Engine;
  readonly keeper: SnapshotKeeper;
  readonly transport: Transport;
  readonly commits: CommitMeter;
  /** Up to date at the moment of the call. */
  routes(): readonly RouteMeter[];
  /** Milliseconds since 1970. */
  now(): number;
}

/** Name, help for operators, and how it is read. */
type Row<Source> = readonly [name: string, help: string, read: (source: Source) => number];

/** The figures of an add-on. */
export interface AddonMetrics {
  readonly counters?: readonly Row<void>[];
  readonly gauges?: readonly Row<void>[];
}

const COUNTERS: readonly Row<MetricsSources>[] = [
  [
    'flagstaff_mailbox_refusals_total',
    'Commands refused because a mailbox was full: clients got 503 and should slow down.',
    ({ engine }) => engine.refusedCount,
  ],
  [
    'flagstaff_evicted_readers_total',
    'Clients disconnected because of too many unread bytes.',
    ({ transport }) => transport.evictedReaders,
  ],
  [
    'flagstaff_slow_streams_total',
    'Streams closed because their clients did not read. Clients reconnect and continue.',
    ({ transport }) => transport.slowStreams,
  ],
  [
    'flagstaff_auth_failures_total',
    'Requests without a valid token. Fast growth: guessing, or an application with an old token.',
    ({ refusedLogins }) => refusedLogins(),
  ],
  [
    'flagstaff_long_requests_waited_total',
    'Requests that had to wait because earlier ones of their callers took long.',
    ({ engine }) => engine.loopAccounts.waitedCount,
  ],
  [
    'flagstaff_snapshot_failures_total',
    'Snapshots that failed since the start. The log says why; the next start replays more.',
    ({ keeper }) => keeper.failures,
  ],
  [
    'flagstaff_journal_written_bytes_total',
    'Bytes appended to the journal since the start.',
    ({ engine }) => engine.journal.stats().bytes,
  ],
  [
    'flagstaff_journal_commits_total',
    'Batches made durable since the start.',
    ({ engine }) => engine.journal.stats().batches,
  ],
];

const GAUGES: readonly Row<MetricsSources>[] = [
  [
    'flagstaff_replay_seconds',
    'Time that this start took to read the snapshot and replay the journal.',
    ({ recoveryMs }) => recoveryMs / 1000,
  ],
  [
    'flagstaff_journal_unchecked_bytes',
    'Old history not checked yet. Above 0 for minutes: it could not be read, and the log says why.',
    ({ historyCheck }) => historyCheck.bytesLeft,
  ],
  [
    'flagstaff_journal_checked_timestamp_seconds',
    'When the whole journal was last read again; 0 before.',
    ({ historyCheck }) => (historyCheck.lastPassAt ?? 0) / 1000,
  ],
  [
    'flagstaff_journal_damaged_files',
    'Damaged files of old history. Above 0: the log names the place.',
    ({ historyCheck }) => historyCheck.damages.length,
  ],
  [
    'flagstaff_writable',
    '1 while the journal accepts writes; 0: the disk is full or nearly full.',
    ({ engine }) => (engine.journal.writable ? 1 : 0),
  ],
  [
    'flagstaff_disk_free_bytes',
    'Free space where the journal is; writes stop at 64 MiB.',
    ({ engine }) => engine.journal.stats().freeBytes,
  ],
  ['flagstaff_last_event_id', 'Id of the newest event.', ({ engine }) => engine.lastId],
  [
    'flagstaff_durable_event_id',
    'Id of the newest event on disk. Behind `flagstaff_last_event_id` for more than a moment: the disk is stuck.',
    ({ engine }) => engine.durableId,
  ],
  ['flagstaff_events', 'Events that can be searched.', ({ engine }) => engine.eventLog.count],
  ['flagstaff_projects', 'Projects.', ({ engine }) => engine.world.projects.size],
  ['flagstaff_flags', 'Flags, archived ones included.', ({ engine }) => engine.world.flagProjects.size],
  [
    'flagstaff_state_bytes',
    'Memory of the state, as it would be after a restart.',
    ({ engine }) => stateBytes(engine.world),
  ],
  [
    'flagstaff_state_budget_bytes',
    'Memory that the state may take. Changes that make it larger get 507.',
    ({ engine }) => engine.memoryBudgetBytes,
  ],
  [
    'flagstaff_mailbox_commands',
    'Waiting commands. Growing: more writes than the disk can take.',
    ({ engine }) => engine.queuedCount,
  ],
  [
    'flagstaff_mailbox_deepest',
    'Commands that wait for the busiest actor.',
    ({ engine }) => engine.deepestMailbox,
  ],
  [
    'flagstaff_unsynced_frames',
    'Changes appended and not yet durable. High for long: the disk is stuck.',
    ({ engine }) => engine.journal.pendingFrames,
  ],
  [
    'flagstaff_connections',
    'Open connections. Only growing: a client leaks them.',
    ({ transport }) => transport.openConnections,
  ],
  ['flagstaff_requests_in_flight', 'Requests under way.', ({ transport }) => transport.openRequests],
  [
    'flagstaff_long_requests_waiting',
    'Requests that wait because earlier ones of their callers took long.',
    ({ engine }) => engine.loopAccounts.waitingCount,
  ],
  [
    'flagstaff_streams',
    'Streams, each of which keeps a connection open.',
    ({ transport }) => transport.openStreams,
  ],
  [
    'flagstaff_unread_bytes',
    'Bytes of responses that clients have not read. Near 64 MiB: clients request more than they read.',
    ({ transport }) => transport.unreadBytes,
  ],
  [
    'flagstaff_snapshot_event_id',
    'Last event in the newest snapshot. A start replays everything after it.',
    ({ keeper }) => keeper.newestId,
  ],
  [
    'flagstaff_snapshot_age_seconds',
    'Time since this process last took a snapshot; -1 when none was taken yet.',
    ({ keeper, now }) => (keeper.lastTaken === null ? -1 : (now() - keeper.lastTaken.at) / 1000),
  ],
  [
    'flagstaff_snapshot_seconds',
    'Duration of the last snapshot; -1 when none was taken yet.',
    ({ keeper }) => (keeper.lastTaken === null ? -1 : keeper.lastTaken.durationMs / 1000),
  ],
];

export function createMetrics(sources: MetricsSources, ofAddons: readonly AddonMetrics[] = []): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerDistributions(registry, sources);
  registerCounters(registry, sources);
  registerGauges(registry, sources);
  for (const { counters = [], gauges = [] } of ofAddons) {
    for (const row of counters) counter(registry, single(row));
    for (const row of gauges) gauge(registry, single(row));
  }
  return registry;
}

function registerDistributions(registry: Registry, { commits, routes }: MetricsSources): void {
  const one = (distribution: Distribution) => () => [{ labels: {}, distribution }];
  const register = (name: string, help: string, read: () => LabelledDistribution[]): void => {
    // The registry reads a metric's values and prints them; its own histogram can only be filled one
    // observation at a time.
    registry.registerMetric(new DistributionMetric(name, help, read) as never);
  };
  register(
    'flagstaff_http_request_duration_seconds',
    'Time from the complete request to its response, by route: microseconds for a read, a sync for a write.',
    () =>
      routes()
        .filter((route) => route.seconds.count > 0)
        .map(({ method, route, seconds }) => ({ labels: { method, route }, distribution: seconds })),
  );
  register('flagstaff_commit_frames', 'Changes that share one write to the disk.', one(commits.frames));
  register(
    'flagstaff_commit_seconds',
    'Write and sync of one batch. A growing tail: the disk is slow, and every write waits for it.',
    one(commits.commitSeconds),
  );
}

function registerCounters(registry: Registry, sources: MetricsSources): void {
  const help = 'Responses, by route and status. Look for any 5xx, and many 401 or 403.';
  countResponses(registry, { name: 'flagstaff_http_requests_total', help }, sources.routes);
  for (const row of COUNTERS) counter(registry, single(row, sources));
}

function registerGauges(registry: Registry, sources: MetricsSources): void {
  const { transport, version } = sources;
  gauge(registry, {
    name: 'flagstaff_build_info',
    help: 'Always 1; its labels name the version, Node and the HTTP engine.',
    labels: ['version', 'node', 'engine'],
    read: () => [{ labels: { version, node: process.version, engine: transport.engine }, value: 1 }],
  });
  for (const row of GAUGES) gauge(registry, single(row, sources));
}

/** A metric of one value. */
function single<Source>([name, help, read]: Row<Source>, source?: Source): ReadMetric {
  return { name, help, read: () => [{ labels: {}, value: read(source as Source) }] };
}

type Labels = Readonly<Record<string, string>>;

/** A metric whose values are read at each scrape. */
interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  read(): readonly { readonly labels: Labels; readonly value: number }[];
}

export function counter(registry: Registry, { name, help, labels = [], read }: ReadMetric): void {
  new Counter({
    ...{ name, help, labelNames: [...labels], registers: [registry] },
    collect() {
      this.reset();
      for (const { labels, value } of read()) this.inc(labels, value);
    },
  });
}

export function gauge(registry: Registry, { name, help, labels = [], read }: ReadMetric): void {
  new Gauge({
    ...{ name, help, labelNames: [...labels], registers: [registry] },
    collect() {
      this.reset();
      for (const { labels, value } of read()) this.set(labels, value);
    },
  });
}

export function countResponses(
  registry: Registry,
  named: Pick<ReadMetric, 'name' | 'help'>,
  routes: () => readonly RouteMeter[],
): void {
  const read = () =>
    routes().flatMap((meter) =>
      meter.statuses().map(({ status, count }) => ({
        labels: { method: meter.method, route: meter.route, status: String(status) },
        value: count,
      })),
    );
  counter(registry, { ...named, labels: ['method', 'route', 'status'], read });
}

interface LabelledDistribution {
  readonly labels: Labels;
  readonly distribution: Distribution;
}

/** A metric in the registry, over distributions that are filled elsewhere. */
class DistributionMetric {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #read: () => readonly LabelledDistribution[];

  constructor(name: string, help: string, read: () => readonly LabelledDistribution[]) {
    this.name = name;
    this.help = help;
    this.#read = read;
  }

  get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#read().flatMap((one) => samplesOf(name, one)) };
  }

  reset(): void {
    throw new Error('a distribution is never reset: counters only grow');
  }
}

/** Cumulative buckets, as the format has them. */
function samplesOf(name: string, { labels, distribution }: LabelledDistribution) {
  const { bounds, counts, sum, count } = distribution;
  let below = 0;
  const buckets = bounds.map((bound, at) => {
    below += counts[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
