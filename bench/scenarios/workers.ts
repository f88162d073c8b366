/**
 * What HTTP workers gain and cost: two servers on the same flags, one with two workers and one without, in turn. Reads of all flags at
 * random, alone and beside switches. The clients take the same processors, so that processor time says more than throughput.
 * Two bare servers, with as many threads, tell how much of the difference is there without anything of ours.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from '../lib/load/client.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import type { Operation } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { cpuMicrosOf } from '../lib/servers/cpu-time.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { type LimitProcess, startLimitProcess } from '../lib/servers/limit-process.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';
import { flagReadRandom } from './flag-read-random.ts';
import { toggle } from './toggle.ts';

const WORKERS = 2;
const CONNECTIONS = 64;
/** Of those, the ones that switch in the mixed load. */
const SWITCHING = 16;

/** A run that is shorter than a step of the clock counts as one step. */
const MICROS_MIN = 10_000;

/**
 * In one run, because each run begins with the same flags. The server makes the bytes of each flag first, and then each worker has to get
 * them: 100,000 flags are asked for half a dozen times. What is measured before is how long that takes.
 */
const WARM_UP_SECONDS = 30;

interface Side {
  readonly server: ServerProcess;
  readonly reads: Operation;
  readonly switches: Operation;
}

interface ReadFigures {
  readonly perCpuSecond: number;
  readonly readsPerSecond: number;
}

interface Figures extends ReadFigures {
  /** Beside as many reads as the server takes. */
  readonly switchesPerSecond: number;
}

const BARE = [
  ['perCpuSecond', 'reads, for each second of processor time'],
  ['readsPerSecond', 'reads a second'],
] as const;

const OURS = [...BARE, ['switchesPerSecond', 'switches a second beside reads']] as const;

export const workers: Scenario = {
  name: 'workers',
  title: 'HTTP workers',
  async run(bench) {
    const flags = Math.max(...bench.effort.flagSizes);
    const sides: Side[] = [];
    try {
      for (const count of [WORKERS, 0]) sides.push(await startSide(bench, flags, count));
      const bare = await measureBare(bench, sides[0]!);
      for (const side of sides) await warmUp(bench, side);
      const pairs: Figures[][] = [];
      for (let round = 0; round < bench.effort.roundsForGoals; round += 1) {
        const pair: Figures[] = [];
        for (const side of sides) pair.push(await measure(bench, side));
        pairs.push(pair);
      }
      return [
        ...measurementsOf({ bench, flags, of: '' }, OURS, pairs as [Figures, Figures][]),
        ...measurementsOf({ bench, flags, of: 'bare server: ' }, BARE, bare),
      ];
    } finally {
      for (const { server } of sides) await server.kill();
    }
  },
};

async function startSide(bench: BenchRun, flags: number, count: number): Promise<Side> {
  const folder = await dataFolderOf(bench, { flags, projects: 1, events: 0 });
  const server = await startServerProcess(folder, { env: { HTTP_WORKERS: String(count) } });
  const load = { flags, connections: CONNECTIONS };
  return {
    server,
    reads: await flagReadRandom.prepare(server.target, load),
    switches: await toggle.prepare(server.target, load),
  };
}

async function warmUp(bench: BenchRun, { server, reads }: Side): Promise<void> {
  const seconds = bench.effort.runSeconds === null ? null : WARM_UP_SECONDS;
  const load = { operation: reads, connections: CONNECTIONS, seconds, folder: bench.folder };
  await runClosedLoop({ target: server.target, ...load });
}

async function measure(bench: BenchRun, { server, reads, switches }: Side): Promise<Figures> {
  const alone = await measureReads(bench, server, reads);
  const [, beside] = await Promise.all([
    run(bench, server.target, { operation: reads, connections: CONNECTIONS - SWITCHING }),
    run(bench, server.target, { operation: switches, connections: SWITCHING }),
  ]);
  return { ...alone, switchesPerSecond: beside.perSecond };
}

async function measureReads(
  bench: BenchRun,
  server: ServerProcess | LimitProcess,
  reads: Operation,
): Promise<ReadFigures> {
  const before = cpuMicrosOf(server);
  const alone = await run(bench, server.target, { operation: reads, connections: CONNECTIONS });
  const micros = Math.max(cpuMicrosOf(server) - before, MICROS_MIN) / alone.requests;
  return { perCpuSecond: 1e6 / micros, readsPerSecond: alone.perSecond };
}

/** With the same response to each request. */
async function measureBare(bench: BenchRun, { server, reads }: Side): Promise<[ReadFigures, ReadFigures][]> {
  const response = await request(server.target, reads.requests[0]!);
  const limits: LimitProcess[] = [];
  try {
    for (const workers of [WORKERS, 0])
      limits.push(await startLimitProcess('bare', { response, folder: bench.folder, workers }));
    const [withWorkers, without] = limits as [LimitProcess, LimitProcess];
    // Once each for nothing: the compiler has not seen it yet.
    for (const limit of limits) await measureReads(bench, limit, reads);
    const pairs: [ReadFigures, ReadFigures][] = [];
    for (let round = 0; round < bench.effort.roundsForGoals; round += 1)
      pairs.push([await measureReads(bench, withWorkers, reads), await measureReads(bench, without, reads)]);
    return pairs;
  } finally {
    for (const limit of limits) await limit.stop();
  }
}

/** Two runs at once must not write into one folder. */
async function run(
  bench: BenchRun,
  target: Target,
  load: { readonly operation: Operation; readonly connections: number },
): Promise<ClosedLoopRun> {
  const folder = await mkdtemp(join(bench.folder, 'load-'));
  return runClosedLoop({ ...load, target, seconds: bench.effort.runSeconds, folder });
}

function measurementsOf<Key extends string>(
  { bench, flags, of }: { readonly bench: BenchRun; readonly flags: number; readonly of: string },
  rows: readonly (readonly [Key, string])[],
  pairs: readonly (readonly [Readonly<Record<Key, number>>, Readonly<Record<Key, number>>])[],
): Measurement[] {
  return rows.map(([key, named]) => {
    const what = of + named;
    const values = {
      withWorkers: median(pairs.map(([ours]) => ours[key])),
      without: median(pairs.map(([, theirs]) => theirs[key])),
      ratio: median(pairs.map(([ours, theirs]) => ours[key] / theirs[key])),
    };
    bench.say(`${what}: ${Math.round(values.withWorkers)} of ${Math.round(values.without)}`);
    return { table: 'workers', what, at: flags, values };
  });
}
