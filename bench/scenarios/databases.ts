/** Durable switches beside the smallest durable change of Redis and of PostgreSQL, where Debian's packages of them are installed. */
import { runClosedLoop } from '../lib/load/closed-loop.ts';
import { toggles } from '../lib/load/operation.ts';
import type { BenchRun, Measurement, Scenario, Target } from '../lib/measurement.ts';
import { environmentPath, flagsInTurn } from '../lib/paths.ts';
import type { Database, Engine } from '../lib/peer/database.ts';
import { postgres } from '../lib/peer/postgres.ts';
import { redis } from '../lib/peer/redis.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import { startServerProcess } from '../lib/servers/server-process.ts';
import { median } from '../lib/statistics.ts';

/** The length of one run: a background write of PostgreSQL is in it. */
const SECONDS = 3;

const ENGINES = [redis, postgres];

export const DATABASES_SCENARIO_NAME = 'databases';

/** Null where none is installed. */
export function databasesScenario(): Scenario | null {
  const installed = ENGINES.filter((engine) => engine.version() !== null);
  if (installed.length === 0) return null;
  const names = installed.map((engine) => `${engine.name} ${engine.version()}`);
  return {
    name: DATABASES_SCENARIO_NAME,
    title: `Beside ${names.join(' and ')}`,
    async run(bench) {
      const measurements: Measurement[] = [];
      for (const engine of installed) measurements.push(...(await besideEngine(bench, engine)));
      return measurements;
    },
  };
}

/** A server of its own for each engine, so that the second meets no larger journal. */
async function besideEngine(bench: BenchRun, engine: Engine): Promise<Measurement[]> {
  const { flags, connections } = bench.effort;
  const server = await startServerProcess(await dataFolderOf(bench, { flags, projects: 1, events: 0 }));
  try {
    const database = await engine.start(bench.folder, flags);
    try {
      const measurements: Measurement[] = [];
      for (const at of connections.filter((count) => count > 1 && count <= engine.connectionsMax))
        measurements.push(await measured(bench, server.target, { ...database, name: engine.name }, at));
      return measurements;
    } finally {
      await database.stop();
    }
  } finally {
    await server.kill();
  }
}

async function measured(
  { effort, folder, say }: BenchRun,
  target: Target,
  { name, change, measure }: Database & Pick<Engine, 'name'>,
  connections: number,
): Promise<Measurement> {
  const seconds = effort.runSeconds === null ? null : SECONDS;
  const operation = {
    requests: toggles(flagsInTurn({ flags: effort.flags, connections }).map(environmentPath)),
  };
  const switches = async (): Promise<number> =>
    (await runClosedLoop({ target, operation, connections, seconds, folder })).perSecond;
  const changes = (): Promise<number> => measure({ connections, seconds });
  // Once each for nothing: a server compiles what it runs often.
  await switches();
  await changes();
  const pairs: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round < effort.roundsForGoals; round += 1)
    pairs.push({ ours: await switches(), theirs: await changes() });
  const values = {
    perSecond: median(pairs.map(({ ours }) => ours)),
    theirs: median(pairs.map(({ theirs }) => theirs)),
    share: median(pairs.map(({ ours, theirs }) => ours / theirs)),
  };
  const what = `${name}, ${change}`;
  say(
    `${what}, ${connections} connections: ${Math.round(values.perSecond)}/s beside ${Math.round(values.theirs)}/s, ${values.share.toFixed(2)} ×`,
  );
  return { table: 'databases', what, at: connections, values };
}
