/** A commit log for several nodes, in memory: what it has taken is decided, and only from the node that took over last. */
import { type CommitBatch, type CommitLog, FencedError } from '../../src/persistence/journal/commit-log.ts';
import { Gate } from './engine.ts';

interface Decided {
  readonly firstId: number;
  readonly lastId: number;
  readonly chain: number;
  readonly by: SharedLogNode;
  readonly payloads: readonly Buffer[];
}

export class SharedLog {
  readonly batches: Decided[] = [];
  readonly nodes: SharedLogNode[] = [];
  leader: SharedLogNode | null = null;
  /** While it is closed, nothing is decided. */
  readonly gate = new Gate();

  get lastId(): number {
    return this.batches.at(-1)?.lastId ?? 0;
  }

  get chain(): number {
    return this.batches.at(-1)?.chain ?? 0;
  }

  node(): SharedLogNode {
    const node = new SharedLogNode(this);
    this.nodes.push(node);
    return node;
  }
}

class SharedLogNode implements CommitLog {
  readonly #log: SharedLog;
  #listener: ((payloads: readonly Buffer[]) => void) | null = null;

  constructor(log: SharedLog) {
    this.#log = log;
  }

  async append(batch: CommitBatch): Promise<number> {
    await this.#log.gate.pass();
    const { lastId, chain, leader } = this.#log;
    if (batch.lastId <= lastId) return lastId;
    if (leader !== this) throw new FencedError('another node took over');
    if (batch.firstId !== lastId + 1 || (lastId > 0 && batch.previousChain !== chain)) {
      throw new Error(`the batch of event ${batch.firstId} does not follow event ${lastId}`);
    }
    const payloads = [...batch.payloads()].map((payload) => Buffer.from(payload));
    this.#log.batches.push({ ...ends(batch), by: this, payloads });
    for (const node of this.#log.nodes) if (node !== this) node.#listener?.(payloads);
    return batch.lastId;
  }

  subscribe(afterId: number, listener: (payloads: readonly Buffer[]) => void): () => void {
    for (const { firstId, payloads } of this.#log.batches) if (firstId > afterId) listener(payloads);
    this.#listener = listener;
    return () => {
      this.#listener = null;
    };
  }

  async fence(lastId: number): Promise<void> {
    if (lastId !== this.#log.lastId)
      throw new Error(`the log holds event ${this.#log.lastId}, this node ${lastId}`);
    this.#log.leader = this;
  }
}

const ends = ({ firstId, lastId, chain }: CommitBatch) => ({ firstId, lastId, chain });
