/**
 * Writers that send numbered changes, each under an Idempotency-Key of its own, and repeat a request at the next node until
 * it succeeds, after as long as Retry-After says or sooner. At the end every number has to be in the events of every node
 * exactly once, in order.
 */
import assert from 'node:assert/strict';
import type { ServerProcess } from '../../../support/server.ts';
import { type Cluster, NODES, pause } from './real-cluster.ts';

const FLAGS = '/projects/default/features';

/** Between two attempts of one writer; a response of 503 asks for a second. */
const RETRY_MS = 50;

/** A request that a node which stands still has taken is given up and sent to the next one. */
const GIVE_UP_MS = 5_000;

export interface WriterOptions {
  readonly writers: number;
  /** Added to each change. */
  readonly padding?: string;
  /** Whether to wait for as long as a response of 503 asks, as a client should; they look for a gap of service sooner. */
  readonly patient?: boolean;
}

export class Writers {
  readonly #cluster: Cluster;
  readonly #options: WriterOptions;
  readonly #sent: number[];
  acknowledged = 0;
  repeated = 0;
  /** The longest time between two successes of any writers, since `beginGap`. */
  #longestGapMs = 0;
  #successAtMs = 0;
  #isOver = false;
  #writing: Promise<unknown> = Promise.resolve();
  /** Called at each success. */
  #onSuccess: () => void = () => undefined;

  constructor(cluster: Cluster, options: WriterOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#sent = Array.from({ length: options.writers }, () => 0);
  }

  async start(): Promise<void> {
    for (const writer of this.#sent.keys())
      await this.#untilDone(
        writer,
        'POST',
        FLAGS,
        { name: `flag-${writer}`, description: '0' },
        `create-${writer}`,
      );
    this.#writing = Promise.all(this.#sent.map((_, writer) => this.#write(writer)));
  }

  /** Resolves after so many more. */
  successes(count: number): Promise<void> {
    const target = this.acknowledged + count;
    return new Promise((resolve) => {
      this.#onSuccess = () => {
        if (this.acknowledged >= target) resolve();
      };
    });
  }

  beginGap(): void {
    this.#longestGapMs = 0;
    this.#successAtMs = performance.now();
  }

  /** Up to the last success. */
  get longestGapMs(): number {
    return this.#longestGapMs;
  }

  /**
   * Ends the writers, and throws when a change is lost or there twice, or the nodes differ. `note` is told of each change on each
   * node.
   */
  async finish(note: (flag: string, change: NumberedChange) => void = () => undefined): Promise<void> {
    this.#isOver = true;
    await this.#writing;
    await this.#cluster.startDeposed();
    const histories: string[] = [];
    for (const [at, node] of this.#cluster.nodes.entries()) {
      for (const [writer, sent] of this.#sent.entries()) {
        const changes = await changesOf(node!, `flag-${writer}`, sent);
        for (const change of changes) note(`flag-${writer}`, change);
        const numbers = changes.map(({ number }) => number);
        const expected = Array.from({ length: sent }, (_, index) => index + 1);
        assert.deepEqual(numbers, expected, `flag-${writer} on node ${at}: each change once, in order`);
      }
      histories.push(JSON.stringify((await node!.call('GET', '/events?limit=100')).body.events));
    }
    assert.equal(new Set(histories).size, 1, 'every node has the same events');
  }

  async #write(writer: number): Promise<void> {
    const { padding = '' } = this.#options;
    while (!this.#isOver) {
      this.#sent[writer]! += 1;
      const number = this.#sent[writer]!;
      const body = { description: `${number} ${padding}` };
      await this.#untilDone(writer, 'PUT', `${FLAGS}/flag-${writer}`, body, `${writer}-${number}`);
      this.acknowledged += 1;
      const now = performance.now();
      this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#successAtMs);
      this.#successAtMs = now;
      this.#onSuccess();
    }
  }

  /** The same request at one node after the other, until it succeeds. */
  async #untilDone(writer: number, method: string, path: string, body: object, key: string): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const node = this.#cluster.nodes[(writer + attempt) % NODES]!;
      const headers = { 'idempotency-key': key };
      const sent = node.call(method, path, body, { headers }).catch(() => null);
      const response = await Promise.race([sent, pause(GIVE_UP_MS).then(() => null)]);
      if (response !== null && response.status < 300) return;
      assert(response === null || response.status === 503, `${method} ${path}: ${JSON.stringify(response)}`);
      this.repeated += 1;
      const asked = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
      await pause(this.#options.patient === true ? Math.max(asked, RETRY_MS) : RETRY_MS);
    }
  }
}

export interface NumberedChange {
  readonly number: number;
  /** Its event. */
  readonly id: number;
}

/** The changes of a flag, oldest first. */
async function changesOf(
  node: ServerProcess,
  flag: string,
  count: number,
): Promise<readonly NumberedChange[]> {
  for (let attempt = 0; ; attempt += 1) {
    const changes: NumberedChange[] = [];
    for (let offset = 0, more = true; more; ) {
      const search = { limit: 100, offset, feature: flag, type: 'feature-metadata-updated' };
      const { body } = await node.call('POST', '/events/search', search);
      for (const { id, data } of body.events)
        changes.push({ number: Number.parseInt(data.description, 10), id });
      // A page of large events ends early.
      more = body.events.length > 0;
      offset = (body.events.at(-1)?.id ?? 1) - 1;
    }
    // A follower may be a moment behind.
    if (changes.length >= count || attempt === 100) return changes.reverse();
    await pause(RETRY_MS);
  }
}
