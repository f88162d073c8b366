/** The cost of one request of each common kind: processor time of the thread that serves it, and the functions that it calls. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { BenchRun, Measurement, Scenario } from '../lib/measurement.ts';
import { mainThreadMicrosOf } from '../lib/servers/cpu-time.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { ROOT_FOLDER, type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';
import { create } from './create.ts';
import { flagRead } from './flag-read.ts';
import { strategyPatch } from './strategy-patch.ts';
import { toggle } from './toggle.ts';

const CONNECTIONS = 64;

/** With their names in `bench/calls.ts`. */
const OPERATIONS = [
  [flagRead, 'read'],
  [toggle, 'toggle'],
  [create, 'create'],
  [strategyPatch, 'patch'],
] as const;

export const cost: Scenario = {
  name: 'cost',
  title: 'What a request costs',
  async run(bench) {
    const counted = await countedCalls();
    const { flags } = bench.effort;
    const measurements: Measurement[] = [];
    for (const [scenario, kind] of OPERATIONS) {
      const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
      try {
        const micros = await mainThreadMicros(bench, server, scenario);
        const { calls, files } = counted.find((one) => one.kind === kind)!;
        bench.say(`${scenario.name}: ${micros.toFixed(1)} µs, ${Math.round(calls)} calls in ${files} files`);
        measurements.push({ table: 'cost', what: scenario.name, at: null, values: { micros, calls, files } });
      } finally {
        await server.kill();
      }
    }
    return measurements;
  },
};

async function mainThreadMicros(
  { effort, folder }: BenchRun,
  server: ServerProcess,
  { prepare }: (typeof OPERATIONS)[number][0],
): Promise<number> {
  const { target } = server;
  const connections = Math.min(CONNECTIONS, effort.connections[0] ?? 1);
  const operation = await prepare(target, { flags: effort.flags, connections });
  const load = { target, operation, connections, seconds: effort.runSeconds, folder };
  // Twice without counting: the compiler runs on the same thread.
  for (let round = 0; round < 2; round += 1) await runClosedLoop(load);
  const rounds: number[] = [];
  for (let round = 0; round < effort.roundsForGoals; round += 1) {
    const before = mainThreadMicrosOf(server);
    const { requests } = await runClosedLoop(load);
    rounds.push((mainThreadMicrosOf(server) - before) / requests);
  }
  return median(rounds);
}

interface Counted {
  readonly kind: string;
  readonly calls: number;
  readonly files: number;
}

/** A process of its own, which counts every call and is slow for it. */
async function countedCalls(): Promise<Counted[]> {
  const script = join(ROOT_FOLDER, 'bench', 'calls.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script, '--json'], {
    cwd: ROOT_FOLDER,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Counted);
}
