/**
 * The measurements of a scenario: rows of named tables, each row a few named numbers. Reports, charts and goals read
 * these and know nothing of how they came about; results of an earlier run are the same shape, read from a file.
 */

export const TABLES = [
  'http',
  'latency',
  'alone',
  'metrics',
  'kill-switch',
  'idle-streams',
  'beside-streams',
  'first-attempt',
  'beside-integrations',
  'usage',
  'sdk-reads',
  'one-core',
  'peer',
  'databases',
  'cluster',
  'cluster-log',
  'cost',
  'micro',
  'flags',
  'holds',
  'projects',
  'events',
  'snapshot',
  'console',
] as const;
export type TableName = (typeof TABLES)[number];

export interface Measurement {
  readonly table: TableName;
  /** The name of what was measured; unique in its table together with `at`. */
  readonly what: string;
  /** At how many connections, flags, projects or events; null where the table has no such axis. */
  readonly at: number | null;
  readonly values: Readonly<Record<string, number>>;
}

export interface Scenario {
  /** The name that is given to `--only`. */
  readonly name: string;
  readonly title: string;
  run(bench: BenchRun): Promise<Measurement[]>;
}

/** How much is measured. All that takes time is here, so that one scenario serves the bench and its own test. */
export interface Effort {
  readonly name: 'full' | 'quick' | 'tiny';
  /** The duration of one closed-loop run; null: a fixed number of requests instead, for tests. */
  readonly runSeconds: number | null;
  /** Pairs of runs, ours and the limit's in turn. */
  readonly rounds: number;
  /** Pairs for the figures that a goal is set for. */
  readonly roundsForGoals: number;
  readonly connections: readonly number[];
  readonly openLoopSeconds: number;
  /** Time spent on each micro benchmark, in milliseconds. */
  readonly microMs: number;
  /** Flags in the set that single operations run on. */
  readonly flags: number;
  /** Sizes of the growth scenarios. */
  readonly flagSizes: readonly number[];
  readonly projectSizes: readonly number[];
  readonly eventSizes: readonly number[];
  readonly flagsAmongProjects: number;
  /** Open at once. */
  readonly streams: number;
  readonly killSwitchStreams: number;
  readonly killSwitches: number;
}

export const EFFORTS: Readonly<Record<Effort['name'], Effort>> = {
  full: {
    name: 'full',
    runSeconds: 1,
    rounds: 1,
    roundsForGoals: 3,
    connections: [64, 256, 1],
    openLoopSeconds: 0.3,
    microMs: 100,
    flags: 1_000,
    flagSizes: [100, 10_000, 100_000],
    projectSizes: [1, 100, 1_000],
    eventSizes: [10_000, 1_000_000],
    flagsAmongProjects: 10_000,
    streams: 10_000,
    killSwitchStreams: 1_000,
    killSwitches: 100,
  },
  quick: {
    name: 'quick',
    runSeconds: null,
    rounds: 1,
    roundsForGoals: 1,
    connections: [16],
    openLoopSeconds: 0.1,
    microMs: 5,
    flags: 100,
    flagSizes: [100],
    projectSizes: [10],
    eventSizes: [2_000],
    flagsAmongProjects: 100,
    streams: 100,
    killSwitchStreams: 20,
    killSwitches: 5,
  },
  tiny: {
    name: 'tiny',
    runSeconds: null,
    rounds: 1,
    roundsForGoals: 1,
    connections: [2],
    openLoopSeconds: 0.02,
    microMs: 0,
    flags: 8,
    flagSizes: [8],
    projectSizes: [2],
    eventSizes: [60],
    flagsAmongProjects: 8,
    streams: 4,
    killSwitchStreams: 2,
    killSwitches: 2,
  },
};

export interface Target {
  readonly name: string;
  /** Without a path. */
  readonly origin: string;
  /** The part of the address before `/api/admin`. */
  readonly basePath: string;
  readonly token: string;
}

/** The input of a scenario. */
export interface BenchRun {
  readonly effort: Effort;
  /** A folder of this run's own, on the disk that is measured; removed at the end. */
  readonly folder: string;
  /** A line of progress. */
  say(line: string): void;
}
