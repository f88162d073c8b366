/** A commit log for several nodes, in memory: what it has taken is decided, and only from the node that took over last. */
import { type CommitBatch, type CommitLog, FencedError } from '../../src/persistence/journal/commit-log.ts';
import type { FrameBody } from '../../src/persistence/journal/frame-format.ts';
import { Gate } from './engine.ts';

interface Decided {
  readonly firstId: number;
  readonly lastId: number;
  readonly chain: number;
  readonly by: SharedLogNode;
  readonly bodies: readonly FrameBody[];
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
  #listener: ((bodies: readonly FrameBody[]) => void) | null = null;

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
    const bodies = [...batch.bodies()].map((body) => ({ ...body, payload: Buffer.from(body.payload) }));
    this.#log.batches.push({ ...ends(batch), by: this, bodies });
    for (const node of this.#log.nodes) if (node !== this) node.#listener?.(bodies);
    return batch.lastId;
  }

  subscribe(afterId: number, listener: (bodies: readonly FrameBody[]) => void): () => void {
    for (const { firstId, bodies } of this.#log.batches) if (firstId > afterId) listener(bodies);
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
