/**
 * One seed: lives of a process on one disk, one after the other, and at last a calm one in which everything has to be
 * whole. Then the disk is damaged, which must never pass for a smaller state.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { MemoryFileSystem } from '../support/memory-file-system.ts';
import { CommandSource } from '../support/random-commands.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Client } from './client.ts';
import { damageAndReopen } from './damage.ts';
import { FOLDER } from './folder.ts';
import { Life, type Surroundings } from './life.ts';
import { CALM_LIFE, planLife } from './life-plan.ts';
import type { Tally } from './tally.ts';
import { Witness } from './witness.ts';

const LIVES_MAX = 5;
const CLIENTS = 3;
/** Little more than the first events and a few flags take. */
const SMALL_BUDGET_BYTES = 12_000;
/** Makes another seed of the one of a simulation. */
const STARTED_AT = Date.parse('2024-02-29T23:59:00Z');

/** The lines of a trace that a failure shows. */
const TRACE_LINES_MAX = 30;

export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  readonly seed: number;

  constructor(seed: number, trace: readonly string[], cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const replay = `node --import tsx test/simulation/simulate.ts --seed ${seed}`;
    super(`seed ${seed}: ${reason}\n${trace.slice(-TRACE_LINES_MAX).join('\n')}\nAgain: ${replay}`, {
      cause,
    });
    this.seed = seed;
  }
}

/**
 * Throws a SimulationFailure when anything that was promised did not hold. Returns the hash of the disk that is left:
 * the same seed does the same again, to the last byte.
 */
export async function simulate(seed: number, tally: Tally): Promise<string> {
  const trace: string[] = [];
  try {
    const disk = await liveThrough(seed, { tally, trace: (line) => trace.push(line) });
    tally.seeds += 1;
    return hashOf(disk);
  } catch (cause) {
    throw new SimulationFailure(seed, trace, cause);
  }
}

function hashOf(disk: MemoryFileSystem): string {
  const hash = createHash('sha256');
  const { journal, snapshots } = dataFolder(FOLDER);
  for (const folder of [journal, snapshots]) {
    for (const name of disk.namesIn(folder)) hash.update(name).update(disk.bytesOf(join(folder, name)));
  }
  return hash.digest('hex');
}

type Observers = Pick<Surroundings, 'tally' | 'trace'>;

async function liveThrough(seed: number, observers: Observers): Promise<MemoryFileSystem> {
  const around = surroundings(seed, observers);
  const { random, witness, trace, tally } = around;
  let disk = new MemoryFileSystem();
  const lives = 1 + random.below(LIVES_MAX);
  for (let life = 1; life <= lives; life += 1) {
    const plan = planLife(random);
    trace(`life ${life}: ${JSON.stringify(plan)}`);
    disk = await new Life(disk, plan, around).live();
  }
  for (const what of ['the calm life', 'once more']) {
    trace(what);
    disk = await new Life(disk, CALM_LIFE, around).live();
  }
  tally.events += witness.lastId;
  for (const { events } of witness.applied) {
    for (const { type } of events) tally.eventTypes.set(type, (tally.eventTypes.get(type) ?? 0) + 1);
  }
  await damageAndReopen(disk, around);
  return disk;
}

function surroundings(seed: number, observers: Observers): Surroundings {
  const random = seededRandom(seed);
  const witness = new Witness();
  const commands = new CommandSource(random);
  const { tally } = observers;
  let ids = 0;
  let requests = 0;
  const nextRequest = (): number => {
    requests += 1;
    return requests;
  };
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) => new Client({ name: `client-${index}`, random, commands, witness, tally, nextRequest }),
  );
  const newId = (): string => {
    ids += 1;
    return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
  };
  let names = 0;
  const newName = (): string => {
    names += 1;
    return names.toString(16).padStart(8, '0');
  };
  const memoryBudgetBytes = random.chance(0.3) ? SMALL_BUDGET_BYTES : Number.POSITIVE_INFINITY;
  const made = { random, witness, clients, newId, newName, memoryBudgetBytes };
  return { ...observers, ...made, wallMs: STARTED_AT };
}
