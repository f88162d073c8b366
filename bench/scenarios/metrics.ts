/** The cost of counting and timing every response: reads of a flag on two servers, one with METRICS=off, in turn. */
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import type { Scenario } from '../lib/measurement.ts';
import { runPaired } from '../lib/paired.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { startServerProcess } from '../lib/servers/server-process.ts';
import { flagRead } from './flag-read.ts';

const CONNECTIONS = 64;

export const metrics: Scenario = {
  name: 'metrics',
  title: 'Metrics',
  async run(bench) {
    const { effort } = bench;
    const set = { flags: effort.flags, projects: 1, events: 0 };
    const counting = await startServerProcess(await dataFolderOf(bench, set));
    const silent = await startServerProcess(await dataFolderOf(bench, set), { env: { METRICS: 'off' } });
    try {
      const read = async (server: typeof counting) => {
        const load = { flags: effort.flags, connections: CONNECTIONS };
        const operation = await flagRead.prepare(server.target, load);
        const {
          folder,
          effort: { runSeconds: seconds },
        } = bench;
        return runClosedLoop({ target: server.target, operation, connections: CONNECTIONS, seconds, folder });
      };
      // Once each for nothing: a server compiles what it runs often.
      await read(counting);
      await read(silent);
      const runs = await runPaired(
        effort.roundsForGoals,
        () => read(counting),
        () => read(silent),
      );
      const values = {
        perSecond: runs.ours.perSecond,
        withoutPerSecond: runs.theirs.perSecond,
        share: runs.share,
      };
      return [{ table: 'metrics', what: 'flag-read', at: CONNECTIONS, values }];
    } finally {
      await counting.stop();
      await silent.stop();
    }
  },
};
