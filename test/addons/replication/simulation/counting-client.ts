/**
 * A client of a cluster: reads the number of a flag where somebody says that it leads, or at any node, and writes the next one, on
 * the condition that the number is still the one that it read. It writes to any node, which hands on what it does not decide
 * itself. What gets no response it sends again under the same idempotency key, to another one.
 */
import assert from 'node:assert/strict';
import type { Outcome } from '../../../../src/actors/submission.ts';
import { LAG_MS_MAX } from '../../../../src/addons/replication/node-view.ts';
import type { Command } from '../../../../src/domain/decide/decide.ts';
import { refuse } from '../../../../src/domain/state/refusal.ts';
import type { World } from '../../../../src/domain/state/world.ts';
import type { SeededRandom } from '../../../support/seeded-random.ts';
import type { TestCluster, TestNode } from '../test-cluster.ts';
import type { History } from './linearizability.ts';
import type { Truth } from './truth.ts';

const FLAGS = ['one', 'two'] as const;
const THINK_MS_MAX = 400;
/** After that a client takes a request for lost. */
const TIMEOUT_MS = 3_000;
/** A node that says that it is ready shows all that was acknowledged so long ago. */
const STALE_MS_MAX = LAG_MS_MAX + 1_000;

interface Condition {
  readonly flag: string;
  /** The description that it has to have, null for no flag at all, and the one that it will have. */
  readonly description: string | null;
  readonly next: string;
}

export interface CountingClientOptions {
  readonly name: string;
  readonly random: SeededRandom;
  readonly cluster: TestCluster;
  readonly truth: Truth;
  readonly history: History;
  readonly freshness: Freshness;
}

/** The state on which readers may rely, whichever node they ask. */
export class Freshness {
  /** By flag: numbers that were acknowledged, and when. */
  readonly #acknowledged = new Map<string, { readonly ms: number; readonly number: number }[]>();
  /** By start of a node, and flag: the newest number that it has shown. */
  readonly #shown = new WeakMap<object, Map<string, number>>();

  acknowledge(flag: string, number: number, ms: number): void {
    const list = this.#acknowledged.get(flag) ?? [];
    this.#acknowledged.set(flag, list);
    list.push({ ms, number });
  }

  /** A node shows a number to somebody who asks for nothing more. */
  check({ name, replica, store }: TestNode, flag: string, nowMs: number): string | null {
    const { engine } = store!;
    const description = descriptionOf(engine.world, flag);
    const number = Number.parseInt(description ?? '', 10) || 0;
    const shown = this.#shown.get(engine) ?? new Map<string, number>();
    this.#shown.set(engine, shown);
    assert(
      number >= (shown.get(flag) ?? 0),
      `${name} takes back number ${shown.get(flag)}, and shows ${number}`,
    );
    shown.set(flag, number);
    const { lagMs, problem, role } = replica!.view;
    const isReady = lagMs <= LAG_MS_MAX && problem === null && role !== 'catchingUp';
    const old = this.#acknowledged.get(flag)?.findLast(({ ms }) => ms < nowMs - STALE_MS_MAX)?.number ?? 0;
    assert(!isReady || number >= old, `${name} is ready and shows ${number}, and ${old} is old`);
    return description;
  }
}

export class CountingClient {
  readonly #options: CountingClientOptions;
  /** Steps that were answered with a success. */
  readonly acknowledged = new Set<string>();
  /** Reads at any node that showed what they asked for. */
  readsElsewhere = 0;
  /** Changes that a node handed on. */
  forwarded = 0;
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
    const { name, random, cluster, freshness } = this.#options;
    const flag = FLAGS[random.below(FLAGS.length)]!;
    const any = this.#node();
    const loose = any === null ? null : freshness.check(any, flag, cluster.time.elapsedMs);
    const leader = this.#leader();
    if (leader === null) return;
    const description = random.chance(0.3) ? loose : this.#read(leader, flag);
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
    freshness.acknowledge(flag, number + 1, cluster.time.elapsedMs);
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

  /** Asks a node for at least the step: it is there, or is refused; no node is asked twice. */
  async #readAnywhere(flag: string, { step, number }: { readonly step: string; readonly number: number }) {
    const { cluster, truth } = this.#options;
    const node = this.#node();
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

  /** Any that responds. */
  #node(): TestNode | null {
    const { cluster, random } = this.#options;
    const responding = cluster.nodes.filter(({ atLeast, isFrozen }) => atLeast !== null && !isFrozen);
    return responding[random.below(responding.length)] ?? null;
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
    const { cluster, random } = this.#options;
    const asked = random.chance(0.5) ? this.#leader() : this.#node();
    if (asked === null) return Promise.resolve(null);
    return new Promise((resolve) => {
      const cancel = cluster.time.after(TIMEOUT_MS, () => resolve(null));
      cluster.send(
        asked,
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
          if (!asked.isLeading && outcome.kind === 'response') this.forwarded += 1;
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
