/**
 * Random faults one after the other under writers and readers: leaders are cut off from the log, their disks hang or are full, their
 * loops stand still, and servers of the log are killed.
 */
import { seededRandom } from '../../../support/seeded-random.ts';
import { FAULTY_DISK } from './faulty-disk.ts';
import { Readers } from './readers.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';
import { STRICKEN } from './stricken-leaders.ts';
import { Writers } from './writers.ts';

/** Writes that have to succeed during each fault, and after it. */
const WRITES = 100;
const READERS = 4;

/** How often nodes that have ended because another one leads are started again. */
const LOOK_MS = 100;

const NATS = 'nats';
export const FAULTS: readonly string[] = [...Object.keys(STRICKEN), NATS];

export interface MixedOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly writers: number;
}

export interface MixedResult {
  readonly faults: number;
  readonly acknowledged: number;
  readonly repeated: number;
  readonly reads: number;
  /** The longest time without a success of any writer, in milliseconds: in faults of nodes, and of servers of the log. */
  readonly nodeGapMostMs: number;
  readonly natsGapMostMs: number;
}

/** Throws when a change is lost, there twice, out of order or taken back, or the nodes differ. */
export function mixFaults(options: MixedOptions): Promise<MixedResult> {
  return withCluster((cluster) => run(cluster, options), { env: { NODE_OPTIONS: FAULTY_DISK } });
}

async function run(cluster: Cluster, { rounds, seed, writers: count }: MixedOptions) {
  const random = seededRandom(seed);
  const writers = new Writers(cluster, { writers: count });
  await writers.start();
  const readers = new Readers(cluster, { readers: READERS, flags: count });
  readers.start();
  const supervisor = new Supervisor(cluster);
  const most = { nodeGapMostMs: 0, natsGapMostMs: 0 };
  for (let round = 1; round <= rounds; round += 1) {
    await writers.successes(WRITES);
    const fault = FAULTS[random.below(FAULTS.length)]!;
    writers.beginGap();
    const end = await begin(cluster, fault, random.below(NODES));
    await writers.successes(WRITES);
    await end();
    await writers.successes(WRITES);
    const key = fault === NATS ? 'natsGapMostMs' : 'nodeGapMostMs';
    most[key] = Math.max(most[key], writers.longestGapMs);
  }
  await readers.finish();
  await supervisor.stop();
  await writers.finish((flag, change) => readers.note(flag, change));
  const { acknowledged, repeated } = writers;
  return { faults: rounds, acknowledged, repeated, reads: readers.reads, ...most };
}

/** Returns what ends the fault. */
async function begin(cluster: Cluster, fault: string, server: number): Promise<() => Promise<void>> {
  if (fault === NATS) {
    await cluster.nats.servers[server]!.kill();
    return () => cluster.nats.servers[server]!.restart();
  }
  const at = await cluster.leader();
  STRICKEN[fault]!.begin(cluster, at);
  return async () => STRICKEN[fault]!.end(cluster, at);
}

/** Starts nodes again, as a supervisor does. */
class Supervisor {
  #isOver = false;
  readonly #watching: Promise<void>;

  constructor(cluster: Cluster) {
    this.#watching = this.#watch(cluster);
    this.#watching.catch(() => undefined);
  }

  async #watch(cluster: Cluster): Promise<void> {
    while (!this.#isOver) {
      await cluster.startDeposed();
      await pause(LOOK_MS);
    }
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#watching;
  }
}
