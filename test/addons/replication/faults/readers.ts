/**
 * Readers that ask random nodes for the newest change of a writer's flag while writers write (writers.ts), half of them for at least
 * what was acknowledged or shown before. A change that was shown once, by any node, is never taken back: it keeps its event id, and whoever
 * asks for at least that event is shown it. The same process never shows less than before.
 */
import assert from 'node:assert/strict';
import type { ReceivedResponse, ServerProcess } from '../../../support/server.ts';
import { type Cluster, NODES, pause } from './real-cluster.ts';

/** Between two reads of one reader: so that writers have most of the processor. */
const THINK_MS_MAX = 20;
const RETRY_MS = 50;

/** A change of a flag: its number, and its event. */
interface Shown {
  readonly number: number;
  readonly id: number;
}

const NOTHING: Shown = { number: 0, id: 0 };

export interface ReaderOptions {
  readonly readers: number;
  /** How many flags there are: one for each writer. */
  readonly flags: number;
}

export class Readers {
  readonly #cluster: Cluster;
  readonly #options: ReaderOptions;
  /** By flag: the newest change that any node has shown. */
  readonly #newest = new Map<string, Shown>();
  /** By process, and flag. */
  readonly #shownBy = new WeakMap<ServerProcess, Map<string, Shown>>();
  /** By flag and number. */
  readonly #ids = new Map<string, number>();
  #isOver = false;
  #reading: Promise<unknown> = Promise.resolve();
  reads = 0;

  constructor(cluster: Cluster, options: ReaderOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  start(): void {
    this.#reading = Promise.all(Array.from({ length: this.#options.readers }, () => this.#read()));
    // `finish` tells of it.
    this.#reading.catch(() => undefined);
  }

  /** Throws when a node showed what it should not have. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#reading;
  }

  /** A node shows a change: under the same event id as ever. */
  note(flag: string, { number, id }: Shown): void {
    const key = `${flag} ${number}`;
    assert.equal(
      id,
      this.#ids.get(key) ?? id,
      `change ${number} of ${flag} was shown as another event before`,
    );
    this.#ids.set(key, id);
    if (number > (this.#newest.get(flag) ?? NOTHING).number) this.#newest.set(flag, { number, id });
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      await pause(Math.random() * THINK_MS_MAX);
      const node = this.#cluster.nodes[Math.floor(Math.random() * NODES)]!;
      const flag = `flag-${Math.floor(Math.random() * this.#options.flags)}`;
      const asked = Math.random() < 0.5 ? (this.#newest.get(flag) ?? NOTHING) : NOTHING;
      const before = this.#shownBy.get(node)?.get(flag) ?? NOTHING;
      const response = await ask(node, flag, asked);
      if (response === null) await pause(RETRY_MS);
      else this.#take({ node, flag, response, least: Math.max(asked.number, before.number) });
    }
  }

  #take({ node, flag, response, least }: Taken): void {
    const [event] = response.body.events;
    const number =
      event?.type === 'feature-metadata-updated' ? Number.parseInt(event.data.description, 10) : 0;
    assert(number >= least, `a node shows change ${number} of ${flag} after ${least}`);
    this.reads += 1;
    if (number === 0) return;
    this.note(flag, { number, id: event.id });
    const shown = this.#shownBy.get(node) ?? new Map<string, Shown>();
    this.#shownBy.set(node, shown);
    if (number > (shown.get(flag) ?? NOTHING).number) shown.set(flag, { number, id: event.id });
  }
}

interface Taken {
  readonly node: ServerProcess;
  readonly flag: string;
  readonly response: ReceivedResponse;
  /** The number that has to be shown. */
  readonly least: number;
}

/** Null where the node does not respond, or not yet. */
async function ask(node: ServerProcess, flag: string, { id }: Shown): Promise<ReceivedResponse | null> {
  const headers = id === 0 ? {} : { 'flagstaff-at-least': String(id) };
  const path = `/events/${flag}?limit=1`;
  const response = await node.call('GET', path, undefined, { headers }).catch(() => null);
  // A follower that has just begun does not know the flag yet.
  if (response === null || response.status === 404) return null;
  assert(response.status === 200 || response.status === 503, JSON.stringify(response));
  return response.status === 200 ? response : null;
}
