/**
 * The states of a cluster's leader. Commands are decided on the pending one, which has all changes; every read sees the committed
 * one, so no read waits for the replicated log, or shows what may never have happened (invariant 4).
 */
import assert from 'node:assert/strict';
import type { World } from '../domain/state/world.ts';

/** The state right after a change that is not committed yet: the change's last event, and its time. */
interface Pending {
  readonly lastId: number;
  readonly at: number;
  readonly world: World;
}

export class Uncommitted {
  #pending: Pending[] = [];
  #committed: Omit<Pending, 'lastId'>;

  /** `at`: the time of the newest event; milliseconds since 1970. */
  constructor(committed: Omit<Pending, 'lastId'>) {
    this.#committed = committed;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** The newest committed state, and the time of its newest event. */
  get committed(): Omit<Pending, 'lastId'> {
    return this.#committed;
  }

  add(pending: Pending): void {
    const last = this.#pending.at(-1);
    assert(pending.lastId > (last?.lastId ?? 0), 'changes are made in the order of their events');
    assert(pending.at >= (last ?? this.#committed).at, 'times of changes never go back');
    this.#pending.push(pending);
  }

  /** Shows a state that another node committed. */
  follow(committed: Omit<Pending, 'lastId'>): void {
    assert(this.isEmpty, 'what this node decided itself is committed before it follows');
    this.#committed = committed;
  }

  /** Changes up to the event `id` are committed. */
  commit(id: number): void {
    const count = this.#pending.findLastIndex(({ lastId }) => lastId <= id) + 1;
    this.#committed = this.#pending[count - 1] ?? this.#committed;
    this.#pending = this.#pending.slice(count);
  }
}
