/** The rules for a node that says that it leads, at every look. */
import assert from 'node:assert/strict';
import type { TestCluster, TestNode } from '../test-cluster.ts';
import type { Truth } from './truth.ts';

/** A leader that was deposed says so after this time, in which it asks the log, at the latest. */
const DEPOSED_MS_MAX = 3_000;
/** A change that is not decided for so long keeps a node from leading. */
const UNCOMMITTED_MS_MAX = 4_000;
/** A clock that differs by more from the median keeps a node from leading. */
const CLOCK_MS_MAX = 1_100;
/** Below the reserve of the journal: a disk of this size has no room for changes. */
export const FULL_DISK_BYTES = 32 * 1024 * 1024;
/** A node with a full disk knows of it after a second and a change, and a take-over record may be on its way for some more. */
const FULL_MS_MAX = 8_000;

export class LeaderWatch {
  readonly #cluster: TestCluster;
  readonly #truth: Truth;
  /** By node: when its disk was first seen to be full, and its last event then. */
  readonly #fullSince = new Map<string, { readonly ms: number; readonly durableId: number }>();
  /** The epoch that was seen last, and when it was seen first. */
  #epoch = 0;
  #epochAtMs = 0;

  constructor(cluster: TestCluster, truth: Truth) {
    this.#cluster = cluster;
    this.#truth = truth;
  }

  look(): void {
    const { leaders, time } = this.#cluster;
    const { epoch, leader } = this.#truth;
    for (const { name, store } of leaders) {
      const { uncommittedMs } = store!.engine.journal;
      assert(
        uncommittedMs <= UNCOMMITTED_MS_MAX,
        `${name} leads, and has decided nothing for ${uncommittedMs} ms`,
      );
    }
    this.#lookAtFullDisks();
    if (epoch > this.#epoch && leader !== null) this.#checkRoom(leader);
    if (epoch > this.#epoch) [this.#epoch, this.#epochAtMs] = [epoch, time.elapsedMs];
    if (time.elapsedMs - this.#epochAtMs <= DEPOSED_MS_MAX) return;
    for (const { name } of leaders)
      assert.equal(name, leader, `${name} leads as the log says, or knows that it does not`);
  }

  /** To be called when all is well for long enough. */
  checkClock(): void {
    const { nodes, leaders } = this.#cluster;
    const clocks = nodes.map(({ clockOffsetMs }) => clockOffsetMs).sort((a, b) => a - b);
    const differMs = Math.abs(leaders[0]!.clockOffsetMs - clocks[1]!);
    if (nodes.length === 3) assert(differMs <= CLOCK_MS_MAX, 'the clock of the leader is the median');
  }

  #lookAtFullDisks(): void {
    for (const { name, disk, store } of this.#cluster.nodes) {
      if (store === null || disk.capacityBytes > FULL_DISK_BYTES) this.#fullSince.delete(name);
      else if (!this.#fullSince.has(name))
        this.#fullSince.set(name, { ms: this.#cluster.time.elapsedMs, durableId: store.engine.durableId });
    }
  }

  #checkRoom(leader: string): void {
    const since = this.#fullSince.get(leader);
    const node = this.#cluster.nodes.find(({ name }) => name === leader);
    const hasChanged = since !== undefined && (node?.store?.engine.durableId ?? 0) > since.durableId + 1;
    if (since === undefined || !hasChanged) return;
    const fullMs = this.#cluster.time.elapsedMs - since.ms;
    assert(fullMs <= FULL_MS_MAX, `${leader} takes over, and its disk was full for ${fullMs} ms`);
  }
}

export const setFull = ({ disk }: TestNode, isFull: boolean): void => {
  disk.capacityBytes = isFull ? FULL_DISK_BYTES : Number.POSITIVE_INFINITY;
};
