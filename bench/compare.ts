/**
 * `npm run bench:compare -- <folder of another checkout>`: the same load on this build and on another one, in turn, each on
 * a new data folder. It prints the processor time that each server takes for a request, which depends less on what
 * else the machine does than throughput, and both throughputs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { runClosedLoop } from './lib/load/closed-loop.ts';
import type { Operation } from './lib/load/operation.ts';
import type { Target } from './lib/measurement.ts';
import { cpuMicrosOf } from './lib/servers/cpu-time.ts';
import { seedPeer } from './lib/servers/seed-peer.ts';
import { ROOT_FOLDER, type ServerProcess, startServerProcess } from './lib/servers/server-process.ts';
import { median } from './lib/statistics.ts';
import { create } from './scenarios/create.ts';
import { eventFilter } from './scenarios/event-search.ts';
import { flagList } from './scenarios/flag-list.ts';
import { flagRead } from './scenarios/flag-read.ts';
import { overview } from './scenarios/overview.ts';
import { readsOf } from './scenarios/sdk-reads.ts';
import { strategyPatch } from './scenarios/strategy-patch.ts';
import { toggle } from './scenarios/toggle.ts';

/** One of the reads of sdk-reads.ts, which that scenario compares with a bare server. */
const sdkRead = (name: string, what: string) => ({
  name,
  async prepare(target: Target): Promise<Operation> {
    const read = (await readsOf(target)).find((one) => one.what === what);
    if (read === undefined) throw new Error(`there is no read "${what}"`);
    return { requests: read.requests };
  },
});

const SCENARIOS = [
  sdkRead('sdk-poll', 'features, not modified'),
  sdkRead('frontend', 'frontend, 1,000 users in turn'),
  ...[flagRead, flagList, overview, toggle, strategyPatch, create, eventFilter],
];
/** Starts on a folder of many flags, until the server is ready. */
const START = 'start';
const START_FLAGS = 100_000;
const FLAGS = 1_000;
/** Runs for nothing before those that count: a server compiles what it runs often. */
const WARM_UP_ROUNDS = 2;

interface Run {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

interface Options {
  readonly rounds: string;
  readonly seconds: string;
  readonly connections: string;
  readonly only?: string;
}

const isChosen = (name: string, { only }: Options): boolean =>
  only === undefined || only.split(',').includes(name);

async function compare(other: string, options: Options) {
  process.stdout.write('scenario         ours µs  theirs µs   ratio    ours/s  theirs/s\n');
  for (const scenario of SCENARIOS) {
    if (!isChosen(scenario.name, options)) continue;
    process.stdout.write(`${rowOf(scenario.name, await pairsOf(scenario, resolve(other), options))}\n`);
  }
  if (isChosen(START, options))
    process.stdout.write(`${rowOf(START, await startsOf(resolve(other), options))}\n`);
}

type Pairs = readonly (readonly [Run, Run])[];

/** Starts both servers for each scenario, so that none is measured on what the one before it left: flags, tokens, caches. */
async function pairsOf(
  scenario: (typeof SCENARIOS)[number],
  other: string,
  options: Options,
): Promise<Pairs> {
  const folder = await mkdtemp(join(tmpdir(), 'flagstaff-bench-'));
  const connections = Number(options.connections);
  const servers: ServerProcess[] = [];
  try {
    for (const root of [ROOT_FOLDER, other]) {
      const server = await startServerProcess(join(folder, String(servers.length)), { root });
      servers.push(server);
      await seedPeer(server.target, FLAGS);
    }
    return await inPairs(servers, options, async (server) => {
      const operation = await scenario.prepare(server.target, { flags: FLAGS, connections });
      const before = cpuMicrosOf(server);
      const load = { target: server.target, operation, connections, folder };
      const { requests, perSecond } = await runClosedLoop({ ...load, seconds: Number(options.seconds) });
      return { cpuMicros: (cpuMicrosOf(server) - before) / requests, perSecond };
    });
  } finally {
    for (const server of servers) await server.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each build starts on the folder that it made itself: opening a folder of another one may be an upgrade. */
async function startsOf(other: string, options: Options): Promise<Pairs> {
  const folder = await mkdtemp(join(tmpdir(), 'flagstaff-bench-'));
  const builds = [ROOT_FOLDER, other].map((root, at) => ({ root, place: join(folder, String(at)) }));
  try {
    for (const { root, place } of builds) {
      const server = await startServerProcess(place, { root });
      await seedPeer(server.target, START_FLAGS).finally(() => server.stop());
    }
    return await inPairs(builds, options, async ({ root, place }) => {
      const server = await startServerProcess(place, { root });
      const run = { cpuMicros: cpuMicrosOf(server), perSecond: 1000 / server.startMs };
      await server.kill();
      return run;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inPairs<T>(
  [ours, theirs]: readonly T[],
  { rounds }: Options,
  run: (one: T) => Promise<Run>,
): Promise<Pairs> {
  const pairs: (readonly [Run, Run])[] = [];
  for (let round = -WARM_UP_ROUNDS; round < Number(rounds); round += 1) {
    const pair = [await run(ours!), await run(theirs!)] as const;
    if (round >= 0) pairs.push(pair);
  }
  return pairs;
}

/** The ratio is the median over pairs of neighbours, as in paired.ts. */
function rowOf(name: string, pairs: Pairs): string {
  const of = (at: 0 | 1, key: keyof Run): number => median(pairs.map((pair) => pair[at][key]));
  const ratio = median(pairs.map(([ours, theirs]) => ours.cpuMicros / theirs.cpuMicros));
  const cells = [of(0, 'cpuMicros').toFixed(2), of(1, 'cpuMicros').toFixed(2), ratio.toFixed(3)];
  const rates = [of(0, 'perSecond').toFixed(0), of(1, 'perSecond').toFixed(0)];
  return `${name.padEnd(16)}${[...cells, ...rates].map((cell) => cell.padStart(9)).join(' ')}`;
}

await new Command('bench:compare')
  .argument('<folder>', 'of another checkout with its node_modules')
  .option(
    '--only <names>',
    `some scenarios, separated by commas: ${[...SCENARIOS.map(({ name }) => name), START].join(', ')}`,
  )
  .option('--rounds <number>', 'pairs of runs for each scenario', '7')
  .option('--seconds <number>', 'of each run', '2')
  .option('--connections <number>', 'at once', '64')
  .action(compare)
  .parseAsync();
