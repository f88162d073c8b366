/** The goals of the server, and whether it reaches them: each goal is read from the results, never measured by itself. */
import type { TableName } from '../measurement.ts';
import { measuredValue, type Results } from './results.ts';
import { type Format, formatted } from './tables.ts';

export interface Goal {
  readonly what: string;
  readonly target: string;
  /** The name for `--only` that measures it again. */
  readonly scenario: string;
  readonly format: Format;
  /** Undefined until everything it needs has been measured. */
  value(results: Results): number | undefined;
  isMet(value: number): boolean;
}

export interface Verdict {
  readonly goal: Goal;
  readonly value: number | undefined;
  readonly text: string;
  readonly mark: string;
}

const LARGEST_FLAGS = 100_000;
const SMALLEST_FLAGS = 100;
const MOST_EVENTS = 1_000_000;
const FEWEST_EVENTS = 10_000;

type Reading = readonly [table: TableName, what: string, at: number | null, key: string];

const atLeast = (bound: number) => (value: number) => value >= bound;
const atMost = (bound: number) => (value: number) => value <= bound;

/** The smallest (or largest) of several readings, which all have to be there. */
function worstOf(pick: (...values: number[]) => number, ...readings: readonly Reading[]): Goal['value'] {
  return (results) => {
    const values = readings.map((reading) => measuredValue(results, ...reading));
    return values.every((value) => value !== undefined) ? pick(...values) : undefined;
  };
}

const share = (operation: string, ...connections: readonly number[]): Goal['value'] =>
  worstOf(Math.min, ...connections.map((at): Reading => ['http', operation, at, 'share']));

const flags = (at: number, key: string): Reading => ['flags', 'one project', at, key];
const events = (at: number, key: string): Reading => ['events', '1000 flags', at, key];

/** The cost of one more of something: the slope between two sizes. */
function perOne(small: Reading, large: Reading): Goal['value'] {
  return (results) => {
    const [few, many] = [measuredValue(results, ...small), measuredValue(results, ...large)];
    if (few === undefined || many === undefined) return undefined;
    return (many - few) / ((large[2] ?? 0) - (small[2] ?? 0));
  };
}

export const GOALS: readonly Goal[] = [
  {
    what: 'read a flag, 64 connections',
    target: '≥ 90 % of the bare server',
    scenario: 'flag-read',
    format: 'percent',
    value: share('flag-read', 64),
    isMet: atLeast(0.9),
  },
  {
    what: 'read a flag, one connection',
    target: '≥ 90 % of the bare server',
    scenario: 'flag-read',
    format: 'percent',
    value: share('flag-read', 1),
    isMet: atLeast(0.9),
  },
  ...(
    [
      ['flag-read-shuffled', '1,000', 0.85],
      ['flag-read-random', '100,000', 0.65],
    ] as const
  ).map(
    ([scenario, count, bound]): Goal => ({
      what: `read a flag, at random of ${count}`,
      target: `≥ ${100 * bound} % of the bare server`,
      scenario,
      format: 'percent',
      value: share(scenario, 64),
      isMet: atLeast(bound),
    }),
  ),
  ...(
    [
      ['toggle', 'switch a flag', 64, 100],
      ['toggle', 'switch a flag', 256, 80],
      ['create', 'create a flag', 64, 75],
      ['create', 'create a flag', 256, 55],
      ['strategy-patch', 'patch a strategy', 64, 70],
      ['strategy-patch', 'patch a strategy', 256, 50],
    ] as const
  ).map(
    ([scenario, change, at, percent]): Goal => ({
      what: `${change}, durable, ${at} connections`,
      target: `≥ ${percent} % of the group-commit server`,
      scenario,
      format: 'percent',
      value: share(scenario, at),
      isMet: atLeast(percent / 100),
    }),
  ),
  {
    what: 'create a flag, durable, 64 connections, p99',
    target: '≤ 10 ms',
    scenario: 'create',
    format: 'ms',
    value: worstOf(Math.max, ['http', 'create', 64, 'p99']),
    isMet: atMost(10),
  },
  {
    what: 'create a flag, durable, at a third of that rate, p99',
    target: '≤ 5 ms',
    scenario: 'create',
    format: 'ms',
    value: worstOf(Math.max, ['latency', 'create', null, 'p99']),
    isMet: atMost(5),
  },
  {
    what: 'one client alone, durable switch, p50',
    target: '≤ 1.5 × one fdatasync of the same bytes',
    scenario: 'toggle',
    format: 'ratio',
    value: worstOf(Math.max, ['alone', 'toggle', null, 'ratio']),
    isMet: atMost(1.5),
  },
  ...(
    [
      ['Redis', 'SET of 300 bytes, appendfsync always', 64, 0.9],
      ['Redis', 'SET of 300 bytes, appendfsync always', 256, 0.75],
      ['PostgreSQL', 'UPDATE of a row by its key, prepared', 64, 3.5],
    ] as const
  ).map(
    ([engine, change, at, bound]): Goal => ({
      what: `switch a flag, durable, ${at} connections, beside ${engine}: ${change}`,
      target: `≥ ${bound} × its changes`,
      scenario: 'databases',
      format: 'ratio',
      value: worstOf(Math.min, ['databases', `${engine}, ${change}`, at, 'share']),
      isMet: atLeast(bound),
    }),
  ),
  {
    what: 'switch at the leader of a cluster, 256 connections',
    target: '≥ 60 % of one node',
    scenario: 'cluster',
    format: 'percent',
    value: worstOf(Math.min, ['cluster', 'switch at the leader', 256, 'share']),
    isMet: atLeast(0.6),
  },
  {
    what: 'changes in a record of its log',
    target: '≥ 16',
    scenario: 'cluster',
    format: 'count',
    value: worstOf(Math.min, ['cluster-log', 'switch at the leader', 256, 'changes']),
    isMet: atLeast(16),
  },
  ...(
    [
      ['flag-read', 6],
      ['toggle', 16],
      ['create', 26],
      ['strategy-patch', 24],
    ] as const
  ).map(
    ([operation, bound]): Goal => ({
      what: `processor time of the main thread, ${operation}`,
      target: `≤ ${bound} µs`,
      scenario: 'cost',
      format: 'us',
      value: worstOf(Math.max, ['cost', operation, null, 'micros']),
      isMet: atMost(bound),
    }),
  ),
  {
    what: 'read a flag with metrics against without',
    target: '≥ 97 % of the throughput',
    scenario: 'metrics',
    format: 'percent',
    value: worstOf(Math.min, ['metrics', 'flag-read', 64, 'share']),
    isMet: atLeast(0.97),
  },
  {
    what: 'from a switch to the last of 1,000 streams, p99',
    target: '≤ 50 ms',
    scenario: 'streams',
    format: 'ms',
    value: worstOf(Math.max, ['kill-switch', 'switch', 1_000, 'lastP99']),
    isMet: atMost(50),
  },
  {
    what: 'from a switch to the first of 1,000 streams, p99',
    target: '≤ 5 ms',
    scenario: 'streams',
    format: 'ms',
    value: worstOf(Math.max, ['kill-switch', 'switch', 1_000, 'firstP99']),
    isMet: atMost(5),
  },
  {
    what: 'memory of an idle stream among 10,000, uWebSockets.js',
    target: '≤ 2 KiB',
    scenario: 'streams',
    format: 'bytes',
    value: worstOf(Math.max, ['idle-streams', 'uws', 10_000, 'rss']),
    isMet: atMost(2 * 1024),
  },
  {
    what: 'switches beside 10,000 streams against without',
    target: '≥ 80 % of the throughput',
    scenario: 'streams',
    format: 'percent',
    value: worstOf(Math.min, ['beside-streams', 'toggle', 10_000, 'share']),
    isMet: atLeast(0.8),
  },
  {
    what: 'from a change to the first attempt to deliver it, p99',
    target: '≤ 250 ms',
    scenario: 'integrations',
    format: 'ms',
    value: worstOf(Math.max, ['first-attempt', 'switch', 1, 'p99']),
    isMet: atMost(250),
  },
  {
    what: 'switches beside 100 integrations, half of them dead, against without',
    target: '≥ 98 % of the throughput',
    scenario: 'integrations',
    format: 'percent',
    value: worstOf(Math.min, ['beside-integrations', 'toggle', 100, 'share']),
    isMet: atLeast(0.98),
  },
  {
    what: 'any write at 100,000 flags against 100 (the least)',
    target: '≥ 90 % of the throughput',
    scenario: 'growth-flags',
    format: 'percent',
    value: worstOf(
      Math.min,
      ...['toggleRatio', 'createRatio', 'patchRatio'].map((key) => flags(LARGEST_FLAGS, key)),
    ),
    isMet: atLeast(0.9),
  },
  {
    what: 'overview of 10,000 flags, after one changed',
    target: '≤ 15 ms',
    scenario: 'growth-flags',
    format: 'ms',
    value: worstOf(Math.max, flags(10_000, 'overviewChangedMs')),
    isMet: atMost(15),
  },
  {
    what: 'event search by filter among 1,000,000',
    target: '≤ 5 ms',
    scenario: 'growth-events',
    format: 'ms',
    value: worstOf(Math.max, events(MOST_EVENTS, 'filterMs')),
    isMet: atMost(5),
  },
  {
    what: 'newest 10 events of a type among 1,000,000, 64 connections',
    target: '≥ 20,000/s',
    scenario: 'growth-events',
    format: 'rate',
    value: worstOf(Math.min, events(MOST_EVENTS, 'newestPerSecond')),
    isMet: atLeast(20_000),
  },
  {
    what: 'the same, p99',
    target: '≤ 10 ms',
    scenario: 'growth-events',
    format: 'ms',
    value: worstOf(Math.max, events(MOST_EVENTS, 'newestP99')),
    isMet: atMost(10),
  },
  {
    what: 'event search by text among 1,000,000',
    target: '≤ 1 s',
    scenario: 'growth-events',
    format: 'ms',
    value: worstOf(Math.max, events(MOST_EVENTS, 'textMs')),
    isMet: atMost(1_000),
  },
  {
    what: 'reads of a flag beside ten reports of 350 flags a second, p99',
    target: '≤ 110 % of without',
    scenario: 'usage',
    format: 'percent',
    value: worstOf(Math.max, ['usage', 'flag-read-random', 1_000, 'ratio']),
    isMet: atMost(1.1),
  },
  ...(
    [
      ['not modified', 0.8],
      ['gzip', 0.8],
      ['identity', 0.85],
    ] as const
  ).map(
    ([what, bound]): Goal => ({
      what: `/api/client/features of 350 flags, ${what}, in processor time`,
      target: `≥ ${bound * 100} % of the bare server`,
      scenario: 'sdk-reads',
      format: 'percent',
      value: worstOf(Math.min, ['sdk-reads', `features, ${what}`, 350, 'share']),
      isMet: atLeast(bound),
    }),
  ),
  ...['1,000 users in turn', 'each user once'].map((users) => ({
    what: `/api/frontend of 350 flags, ${users}, requests for each second of processor time`,
    target: '≥ 10,000',
    scenario: 'sdk-reads',
    format: 'rate' as const,
    value: worstOf(Math.min, ['sdk-reads', `frontend, ${users}`, 350, 'perCpuSecond']),
    isMet: atLeast(10_000),
  })),
  {
    what: 'reads of a flag beside text searches, p99',
    target: '≤ 10 ms',
    scenario: 'growth-events',
    format: 'ms',
    value: worstOf(Math.max, events(MOST_EVENTS, 'readBesideTextP99')),
    isMet: atMost(10),
  },
  {
    what: 'start with 100,000 flags from a snapshot',
    target: '≤ 1 s',
    scenario: 'growth-flags',
    format: 'ms',
    value: worstOf(Math.max, flags(LARGEST_FLAGS, 'startMs')),
    isMet: atMost(1_000),
  },
  {
    what: 'replay',
    target: '≥ 150,000 events/s',
    scenario: 'growth-events',
    format: 'rate',
    value: worstOf(Math.min, events(MOST_EVENTS, 'replayPerSecond')),
    isMet: atLeast(150_000),
  },
  {
    what: 'longest stall during a snapshot of 100,000 flags under load',
    target: '≤ 20 ms',
    scenario: 'growth-flags',
    format: 'ms',
    value: worstOf(Math.max, flags(LARGEST_FLAGS, 'snapshotStallMs')),
    isMet: atMost(20),
  },
  {
    what: 'longest stall of any read of the administrative interface at 100,000 flags',
    target: '≤ 20 ms',
    scenario: 'growth-flags',
    format: 'ms',
    value: worstOf(Math.max, flags(LARGEST_FLAGS, 'readStallMs')),
    isMet: atMost(20),
  },
  {
    what: 'throughput beside that snapshot',
    target: '≥ 80 %',
    scenario: 'growth-flags',
    format: 'percent',
    value: worstOf(Math.min, flags(LARGEST_FLAGS, 'snapshotShare')),
    isMet: atLeast(0.8),
  },
  {
    what: 'memory of a flag with two strategies, its events included',
    target: '≤ 3 KiB',
    scenario: 'growth-flags',
    format: 'bytes',
    value: perOne(flags(SMALLEST_FLAGS, 'heap'), flags(LARGEST_FLAGS, 'heap')),
    isMet: atMost(3 * 1024),
  },
  {
    what: 'memory of an event',
    target: '≤ 64 B',
    scenario: 'growth-events',
    format: 'bytes',
    // Of the process: the columns of the event log lie in shared memory, which no heap figure counts.
    value: perOne(events(FEWEST_EVENTS, 'rss'), events(MOST_EVENTS, 'rss')),
    isMet: atMost(64),
  },
  {
    what: 'console: list of 20,000 flags shown after its data',
    target: '≤ 300 ms',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'listMs']),
    isMet: atMost(300),
  },
  {
    what: 'console: a key in the search of 20,000 flags',
    target: '≤ 50 ms',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'keyMs']),
    isMet: atMost(50),
  },
  {
    what: 'console, processor 4 × slower: a key in the search of 20,000 flags',
    target: '≤ 100 ms',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'slowedKeyMs']),
    isMet: atMost(100),
  },
  {
    what: 'console, processor 4 × slower: the next paint after a key (INP)',
    target: '≤ 100 ms',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'slowedEchoMs']),
    isMet: atMost(100),
  },
  {
    what: 'console, processor 4 × slower: a switch',
    target: '≤ 50 ms',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'slowedSwitchMs']),
    isMet: atMost(50),
  },
  {
    what: 'console, processor 4 × slower, 150 ms, 1.6 Mbit/s: a first visit',
    target: '≤ 2 s',
    scenario: 'console',
    format: 'ms',
    value: worstOf(Math.max, ['console', 'one project', 20_000, 'visitMs']),
    isMet: atMost(2_000),
  },
];

export function verdictOf(goal: Goal, results: Results): Verdict {
  const value = goal.value(results);
  const text = formatted(value, goal.format);
  if (value === undefined) return { goal, value, text: 'not measured', mark: '·' };
  return { goal, value, text, mark: goal.isMet(value) ? '✓' : '✗' };
}
