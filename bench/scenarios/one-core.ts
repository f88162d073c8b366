/** The server and its limit held to one processor each, in turn, as in a container with one core; the clients take the others. */
import { execFileSync } from 'node:child_process';
import { request } from '../lib/load/client.ts';
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { Operation } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { runPaired } from '../lib/paired.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { startLimitProcess } from '../lib/servers/limit-process.ts';
import type { LimitKind } from '../lib/servers/limit-server.ts';
import { type ServerProcess, startServerProcess } from '../lib/servers/server-process.ts';
import { create } from './create.ts';
import { flagRead } from './flag-read.ts';
import { toggle } from './toggle.ts';

const CONNECTIONS = 64;
const CORE = '0';

const OPERATIONS = [
  [flagRead, 'bare'],
  [toggle, 'group-commit'],
  [create, 'group-commit'],
] as const;

export const oneCore: Scenario = {
  name: 'one-core',
  title: 'On one processor',
  async run(bench) {
    const folder = await dataFolderOf(bench, { flags: bench.effort.flags, projects: 1, events: 0 });
    const server = await startServerProcess(folder);
    try {
      holdToOneCore(server.child.pid);
      const measurements: Measurement[] = [];
      for (const [scenario, limit] of OPERATIONS) {
        const operation = await scenario.prepare(server.target, {
          flags: bench.effort.flags,
          connections: CONNECTIONS,
        });
        const values = await compared(bench, server, operation, limit);
        bench.say(`${scenario.name} on one processor: ${Math.round(values.perSecond)}/s`);
        measurements.push({ table: 'one-core', what: scenario.name, at: CONNECTIONS, values });
      }
      return measurements;
    } finally {
      await server.kill();
    }
  },
};

async function compared(bench: BenchRun, { target }: ServerProcess, operation: Operation, kind: LimitKind) {
  const sample = await request(target, operation.requests[0]!);
  const limit = await startLimitProcess(kind, { response: sample, folder: bench.folder });
  try {
    holdToOneCore(limit.child.pid);
    const run = (of: Target) => () =>
      runClosedLoop({
        ...{ target: of, operation, folder: bench.folder },
        connections: bench.effort.runSeconds === null ? 2 : CONNECTIONS,
        seconds: bench.effort.runSeconds,
      });
    // Once each without counting: the compiler shares the processor with what is measured.
    await run(target)();
    await run(limit.target)();
    const { ours, theirs, share } = await runPaired(
      bench.effort.roundsForGoals,
      run(target),
      run(limit.target),
    );
    return {
      perSecond: ours.perSecond,
      theirs: theirs.perSecond,
      share,
      p50: ours.p50,
      theirP50: theirs.p50,
    };
  } finally {
    await limit.stop();
  }
}

/** All threads that the process has. */
function holdToOneCore(pid: number | undefined): void {
  if (pid === undefined) throw new Error('the process has ended');
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', CORE, String(pid)], { stdio: 'ignore' });
}
