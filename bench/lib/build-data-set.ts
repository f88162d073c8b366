/**
 * Makes a data folder: `node --import tsx build-data-set.ts <folder> <JSON of a DataSet>`. Every event comes from a
 * command that is decided, applied and appended as in the server, many to a batch.
 */
import { parse } from 'valibot';
import type { Engine } from '../../src/actors/engine.ts';
import { readConfig } from '../../src/config.ts';
import type { Command } from '../../src/domain/decide/decide.ts';
import { type StrategyInput, StrategyInputSchema } from '../../src/domain/strategy.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/server.ts';
import { type DataSet, FLAG_ENVIRONMENT, flagName, projectName } from './data-set.ts';
import { BENCH_TOKEN } from './server-process.ts';

/** Commands under way: below the length of a mailbox, enough for large batches. */
const AT_ONCE = 1_000;

const ACTOR = { name: 'bench', userId: -42 } as const;

/** The schema fills in what a client leaves out, as it does for every request. */
function strategy(flag: string, rollout: string): StrategyInput {
  return parse(StrategyInputSchema, {
    name: 'flexibleRollout',
    parameters: { rollout, stickiness: 'default', groupId: flag },
    constraints: [{ contextName: 'country', operator: 'IN', values: ['AT', 'CH', 'DE'] }],
  });
}

function* projectCommands(set: DataSet): Generator<Command> {
  for (let number = 1; number < set.projects; number += 1) {
    const id = projectName(number);
    yield {
      type: 'create-project',
      id,
      fields: { name: id, mode: 'open' },
      environments: ['development', FLAG_ENVIRONMENT],
    };
  }
}

function* flagCommands(set: DataSet): Generator<Command> {
  for (let number = 0; number < set.flags; number += 1) {
    const project = projectName(number % set.projects);
    const flag = flagName(number);
    yield { type: 'create-flag', project, name: flag, metadata: { description: 'One of many' } };
    for (const rollout of ['25', '75']) {
      const place = { project, flag, environment: FLAG_ENVIRONMENT };
      yield { type: 'add-strategy', ...place, strategy: strategy(flag, rollout) };
    }
  }
}

function* switchCommands(set: DataSet, count: number): Generator<Command> {
  for (let number = 0; number < count; number += 1) {
    const flag = number % set.flags;
    const place = {
      project: projectName(flag % set.projects),
      flag: flagName(flag),
      environment: FLAG_ENVIRONMENT,
    };
    yield { type: 'switch-environment', ...place, enabled: Math.floor(number / set.flags) % 2 === 0 };
  }
}

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
    batch.map((command) => engine.execute({ command, actor: ACTOR, answer: () => null })),
  );
  for (const outcome of outcomes) {
    if (outcome.kind !== 'answer') throw new Error(`a command failed: ${JSON.stringify(outcome)}`);
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
    announceToken: () => undefined,
  });
  const { engine } = server.store;
  // One kind after the other: commands of different projects do not wait for each other.
  await carryOutAll(engine, projectCommands(set));
  await carryOutAll(engine, flagCommands(set));
  await carryOutAll(engine, switchCommands(set, set.events - engine.lastId));
  await server.close();
}

const [folder = '', set = ''] = process.argv.slice(2);
await build(folder, JSON.parse(set) as DataSet);
