/**
 * The states of a cluster's leader. Commands are decided on the pending one, which has all changes; everybody else sees the decided
 * one, so no read waits for the replicated log, and none shows what may never have happened (invariant 4).
 */
import assert from 'node:assert/strict';
import type { World } from '../domain/state/world.ts';

/** The state right after a change that is not decided yet: the change's last event, and its time. */
interface Pending {
  readonly lastId: number;
  readonly at: number;
  readonly world: World;
}

export class Undecided {
  #pending: Pending[] = [];
  #decided: Omit<Pending, 'lastId'>;

  /** `at`: the time of the newest event; milliseconds since 1970. */
  constructor(decided: Omit<Pending, 'lastId'>) {
    this.#decided = decided;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** The newest decided state, and the time of its newest event. */
  get decided(): Omit<Pending, 'lastId'> {
    return this.#decided;
  }

  add(pending: Pending): void {
    const last = this.#pending.at(-1);
    assert(pending.lastId > (last?.lastId ?? 0), 'changes are made in the order of their events');
    assert(pending.at >= (last ?? this.#decided).at, 'times of changes never go back');
    this.#pending.push(pending);
  }

  /** Shows a state that another node decided. */
  follow(decided: Omit<Pending, 'lastId'>): void {
    assert(this.isEmpty, 'what this node decided itself is decided before it follows');
    this.#decided = decided;
  }

  /** Changes up to the event `id` are decided. */
  decide(id: number): void {
    const count = this.#pending.findLastIndex(({ lastId }) => lastId <= id) + 1;
    this.#decided = this.#pending[count - 1] ?? this.#decided;
    this.#pending = this.#pending.slice(count);
  }
}
