/** Durable switches on a server that has something else to do, and in turn on one beside it that has not. */

import { runClosedLoop } from './load/closed-loop.ts';
import type { ClosedLoopRun } from './load/closed-loop-run.ts';
import { toggles } from './load/operation.ts';
import type { BenchRun } from './measurement.ts';
import { runPaired } from './paired.ts';
import { environmentPath, flagsInTurn } from './paths.ts';
import { dataFolderOf } from './servers/data-set.ts';
import { type ServerProcess, startServerProcess } from './servers/server-process.ts';

const CONNECTIONS = 64;

export async function switchesBeside(
  bench: BenchRun,
  {
    server: busy,
    flags,
    rounds = bench.effort.roundsForGoals,
    around = (_, run) => run(),
  }: {
    readonly server: ServerProcess;
    readonly flags: number;
    readonly rounds?: number;
    /** Makes a run of one of the servers. */
    readonly around?: (server: ServerProcess, run: () => Promise<ClosedLoopRun>) => Promise<ClosedLoopRun>;
  },
) {
  const { effort, folder } = bench;
  const quiet = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
  try {
    const operation = {
      requests: toggles(flagsInTurn({ flags, connections: CONNECTIONS }).map(environmentPath)),
    };
    const run = ({ target }: ServerProcess) =>
      runClosedLoop({ target, operation, connections: CONNECTIONS, seconds: effort.runSeconds, folder });
    await run(busy);
    await run(quiet);
    const { ours, theirs, share } = await runPaired(
      rounds,
      () => around(busy, () => run(busy)),
      () => around(quiet, () => run(quiet)),
    );
    return { perSecond: ours.perSecond, withoutPerSecond: theirs.perSecond, share };
  } finally {
    await quiet.kill();
  }
}
