/**
 * What HTTP workers gain and cost: two servers on the same flags, one with two workers and one without, in turn. Reads of all flags at
 * random, alone and beside switches. The clients take the same processors, so that processor time says more than throughput.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { ClosedLoopRun } from '../lib/load/closed-loop-run.ts';
import type { Operation } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { cpuMicrosOf } from '../lib/servers/cpu-time.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
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

interface Figures {
  readonly perCpuSecond: number;
  readonly readsPerSecond: number;
  /** Beside as many reads as the server takes. */
  readonly switchesPerSecond: number;
}

export const workers: Scenario = {
  name: 'workers',
  title: 'HTTP workers',
  async run(bench) {
    const flags = Math.max(...bench.effort.flagSizes);
    const sides: Side[] = [];
    try {
      for (const count of [WORKERS, 0]) sides.push(await startSide(bench, flags, count));
      for (const side of sides) await warmUp(bench, side);
      const pairs: Figures[][] = [];
      for (let round = 0; round < bench.effort.roundsForGoals; round += 1) {
        const pair: Figures[] = [];
        for (const side of sides) pair.push(await measure(bench, side));
        pairs.push(pair);
      }
      return measurementsOf(bench, flags, pairs as [Figures, Figures][]);
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
  // Two runs at once must not write into one folder.
  const run = async (operation: Operation, connections: number): Promise<ClosedLoopRun> =>
    runClosedLoop({
      target: server.target,
      operation,
      connections,
      seconds: bench.effort.runSeconds,
      folder: await mkdtemp(join(bench.folder, 'load-')),
    });
  const before = cpuMicrosOf(server);
  const alone = await run(reads, CONNECTIONS);
  const micros = Math.max(cpuMicrosOf(server) - before, MICROS_MIN) / alone.requests;
  const [, beside] = await Promise.all([run(reads, CONNECTIONS - SWITCHING), run(switches, SWITCHING)]);
  return {
    perCpuSecond: 1e6 / micros,
    readsPerSecond: alone.perSecond,
    switchesPerSecond: beside.perSecond,
  };
}

function measurementsOf(
  bench: BenchRun,
  flags: number,
  pairs: readonly (readonly [Figures, Figures])[],
): Measurement[] {
  const row = (what: string, key: keyof Figures): Measurement => {
    const values = {
      withWorkers: median(pairs.map(([ours]) => ours[key])),
      without: median(pairs.map(([, theirs]) => theirs[key])),
      ratio: median(pairs.map(([ours, theirs]) => ours[key] / theirs[key])),
    };
    bench.say(`${what}: ${Math.round(values.withWorkers)} of ${Math.round(values.without)}`);
    return { table: 'workers', what, at: flags, values };
  };
  return [
    row('reads, for each second of processor time', 'perCpuSecond'),
    row('reads a second', 'readsPerSecond'),
    row('switches a second beside reads', 'switchesPerSecond'),
  ];
}
