/**
 * Makes a data folder: `node --import tsx build-data-set.ts <folder> <JSON of a DataSet>`. Every event comes from a
 * command that is decided, applied and appended as in the server, many to a batch. A folder that has the flags already only gets
 * more events.
 */
import type { Engine } from '../../../src/actors/engine.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { createLog } from '../../../src/process/log.ts';
import { startServer } from '../../../src/server.ts';
import { readConfig } from '../../../src/start/config.ts';
import type { DataSet } from './data-set.ts';
import { flagCommands, projectCommands, switchCommands } from './data-set-commands.ts';
import { BENCH_TOKEN } from './server-process.ts';

/** Commands under way: below the length of a mailbox, enough for large batches. */
const AT_ONCE = 1_000;

const ACTOR = { name: 'bench', userId: -42 } as const;

async function carryOutAll(engine: Engine, commands: Iterable<Command>): Promise<void> {
  let batch: Command[] = [];
  for (const command of commands) {
    batch.push(command);
    if (batch.length < AT_ONCE) continue;
    await carryOut(engine, batch);
    batch = [];
  }
  await carryOut(engine, batch);
}

async function carryOut(engine: Engine, batch: readonly Command[]): Promise<void> {
  const outcomes = await Promise.all(
    batch.map((command) => engine.execute({ command, actor: ACTOR, respond: () => null })),
  );
  for (const outcome of outcomes) {
    if (outcome.kind !== 'response') throw new Error(`a command failed: ${JSON.stringify(outcome)}`);
  }
}

async function build(folder: string, set: DataSet): Promise<void> {
  const env = { HTTP_HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, INIT_ADMIN_API_TOKENS: BENCH_TOKEN };
  const server = await startServer({
    config: readConfig(env),
    log: createLog('silent'),
    stop: (error) => {
      throw error;
    },
    announceToken: async () => undefined,
    // One at the end is all that anybody reads.
    store: { eventsPerSnapshot: Number.MAX_SAFE_INTEGER },
  });
  const { engine } = server.store;
  // One kind after the other: commands of different projects do not wait for each other.
  if (engine.world.flagProjects.size === 0) {
    await carryOutAll(engine, projectCommands(set));
    await carryOutAll(engine, flagCommands(set));
  }
  await carryOutAll(engine, switchCommands(set, set.events - engine.lastId));
  await server.close();
}

const [folder = '', set = ''] = process.argv.slice(2);
await build(folder, JSON.parse(set) as DataSet);
