/**
 * A client of a cluster: reads the number of a flag where somebody says that it leads, and writes the next one, on
 * the condition that the number is still the one that it read. What gets no response it sends again under the same
 * idempotency key, to whoever leads then.
 */
import assert from 'node:assert/strict';
import type { Outcome } from '../../../src/actors/submission.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import { refuse } from '../../../src/domain/state/refusal.ts';
import type { World } from '../../../src/domain/state/world.ts';
import type { TestCluster, TestNode } from '../../support/replication/test-cluster.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { History } from './linearizability.ts';
import type { Truth } from './truth.ts';

const FLAGS = ['one', 'two'] as const;
const THINK_MS_MAX = 400;
/** After that a client takes a request for lost. */
const TIMEOUT_MS = 3_000;

interface Condition {
  readonly flag: string;
  /** What it has to be, null for no flag at all, and what it will be. */
  readonly description: string | null;
  readonly next: string;
}

export interface CountingClientOptions {
  readonly name: string;
  readonly random: SeededRandom;
  readonly cluster: TestCluster;
  readonly truth: Truth;
  readonly history: History;
}

export class CountingClient {
  readonly #options: CountingClientOptions;
  /** Steps that were answered with a success. */
  readonly acknowledged = new Set<string>();
  /** Reads at any node that showed what they asked for. */
  readsElsewhere = 0;
  #steps = 0;
  #isStopped = false;
  #fault: unknown = null;

  constructor(options: CountingClientOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#isStopped = true;
  }

  throwFault(): void {
    if (this.#fault !== null) throw this.#fault;
  }

  async live(): Promise<void> {
    const { cluster, random } = this.#options;
    try {
      while (!this.#isStopped) {
        await cluster.time.sleep(1 + random.below(THINK_MS_MAX));
        await this.#step();
      }
    } catch (fault) {
      this.#fault = fault;
    }
  }

  /** To be called when all is over. */
  check(): void {
    for (const step of this.acknowledged)
      assert.equal(this.#options.truth.timesOf(step), 1, `the acknowledged step ${step} is there once`);
  }

  async #step(): Promise<void> {
    const { name, random } = this.#options;
    const leader = this.#leader();
    if (leader === null) return;
    const flag = FLAGS[random.below(FLAGS.length)]!;
    const description = this.#read(leader, flag);
    this.#steps += 1;
    const step = `${name}-${this.#steps}`;
    if (description === null) {
      await this.#untilKnown({ type: 'create-flag', project: 'default', name: flag, metadata: {} }, step, {
        flag,
        description,
        next: '',
      });
      return;
    }
    const number = Number.parseInt(description, 10) || 0;
    const metadata = { description: `${number + 1} by ${step}` };
    const update: Command = { type: 'update-flag', project: 'default', flag, metadata };
    const next = metadata.description;
    const isDone = await this.#untilKnown(update, step, { flag, description, next });
    if (!isDone) return;
    this.acknowledged.add(step);
    await this.#readAnywhere(flag, { step, number: number + 1 });
  }

  /** The number as a reader is told it: at once, whatever waits for the log. */
  #read(leader: TestNode, flag: string): string | null {
    const { history, truth } = this.#options;
    const { engine } = leader.store!;
    const begun = { kind: 'read', register: flag, expected: null } as const;
    const description = descriptionOf(engine.world, flag);
    const operation = history.begin({ ...begun, value: description });
    let isShown = false;
    engine.whenDurable(engine.lastId, () => {
      isShown = true;
    });
    assert(isShown, 'no read waits for the log');
    // A leader that does not know yet that it was deposed may show what is old; one that leads may not.
    if (leader.replica!.view.epoch === truth.epoch) history.end(operation);
    return description;
  }

  /** Whoever asks a node for at least the step finds it there, or is refused; no node is asked twice. */
  async #readAnywhere(flag: string, { step, number }: { readonly step: string; readonly number: number }) {
    const { cluster, random, truth } = this.#options;
    const running = cluster.nodes.filter(({ atLeast }) => atLeast !== null);
    const node = running[random.below(running.length)];
    const engine = node?.store?.engine;
    if (node?.atLeast == null || engine === undefined) return;
    const id = truth.idOf(step);
    const refusal = await new Promise((resolve) => {
      const told = node.atLeast!.check(String(id), { bytes: 0, isKnown: true }, resolve);
      if (told !== undefined) resolve(told);
      else cluster.time.after(TIMEOUT_MS, () => resolve('no word'));
    });
    if (refusal !== null || node.store?.engine !== engine) return;
    const shown = Number.parseInt(descriptionOf(engine.world, flag) ?? '', 10);
    assert(shown >= number, `${node.name} shows ${shown}, and was asked for at least ${number}`);
    this.readsElsewhere += 1;
  }

  #leader(): TestNode | null {
    const { leaders } = this.#options.cluster;
    return leaders[this.#options.random.below(leaders.length)] ?? null;
  }

  /** Whether it succeeded; false when it was refused, or nobody said until the end. */
  async #untilKnown(command: Command, key: string, condition: Condition): Promise<boolean> {
    const { flag: register, description: expected, next: value } = condition;
    const operation = this.#options.history.begin({ kind: 'write', register, expected, value });
    while (!this.#isStopped) {
      const outcome = await this.#send(command, key, condition);
      if (outcome?.kind === 'fault') throw outcome.error;
      if (outcome?.kind === 'response') {
        this.#options.history.end(operation);
        return this.#acknowledge(key, expected !== null);
      }
      if (outcome?.kind === 'refusal' && outcome.refusal.name !== 'ServiceUnavailableError') return false;
      await this.#options.cluster.time.sleep(100);
    }
    return false;
  }

  #acknowledge(step: string, isStep: boolean): boolean {
    if (isStep)
      assert.equal(this.#options.truth.timesOf(step), 1, `${step} is in the log when it is acknowledged`);
    return true;
  }

  /** Null when no response comes in time. */
  #send(command: Command, key: string, condition: Condition): Promise<Outcome<unknown> | null> {
    const { cluster } = this.#options;
    const leader = this.#leader();
    if (leader === null) return Promise.resolve(null);
    return new Promise((resolve) => {
      const cancel = cluster.time.after(TIMEOUT_MS, () => resolve(null));
      leader.submit(
        command,
        {
          precondition: (world) =>
            descriptionOf(world, condition.flag) === condition.description
              ? null
              : refuse('PreconditionFailedError', 'the number is another one by now'),
          retry: {
            key,
            fingerprint: key,
            toRemember: () => ({ status: 200, body: null }),
            fromMemory: () => 'again',
          },
        },
        (outcome) => {
          cancel();
          resolve(outcome);
        },
      );
    });
  }
}

function descriptionOf(world: World, flag: string): string | null {
  const found = world.projects.get('default')?.flags.get(flag)?.flag;
  return found === undefined ? null : (found.description ?? '');
}
