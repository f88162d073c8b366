/**
 * Whether a history of reads and conditional writes of one register is linearizable: whether all of them can have happened one
 * after the other, each at a moment between its request and its response. The search is that of Wing and Gong: it tries what
 * may come next, and remembers what it has tried in vain.
 *
 * A write that was never answered, or was refused, may have happened at any moment after its request, or never.
 */
import assert from 'node:assert/strict';

export interface Operation {
  readonly kind: 'read' | 'write';
  readonly register: string;
  /** The value that was read, or is written; null where there is no such register. */
  readonly value: string | null;
  /** The value of a write's condition: the one that it is made on the condition of. */
  readonly expected: string | null;
  /** Places in the order of all requests and responses; infinite where no response said that it happened. */
  readonly begun: number;
  ended: number;
}

/** The requests of clients and what they were told, in order. */
export class History {
  readonly operations: Operation[] = [];
  #moments = 0;

  begin(operation: Pick<Operation, 'kind' | 'register' | 'value' | 'expected'>): Operation {
    const begun: Operation = { ...operation, begun: this.#tick(), ended: Number.POSITIVE_INFINITY };
    this.operations.push(begun);
    return begun;
  }

  end(operation: Operation): void {
    operation.ended = this.#tick();
  }

  /** Throws where a register's history is not linearizable. */
  check(): void {
    const names = new Set(this.operations.map(({ register }) => register));
    for (const name of names) {
      const all = this.operations.filter(({ register }) => register === name);
      // A read without a response says nothing.
      const told = all.filter(({ kind, ended }) => kind === 'write' || Number.isFinite(ended));
      assert(isLinearizable(told), `the history of ${name} is not linearizable`);
    }
  }

  #tick(): number {
    this.#moments += 1;
    return this.#moments;
  }
}

interface Step {
  /** The operations that have happened, by their places in the history. */
  readonly done: ReadonlySet<number>;
  readonly value: string | null;
}

/** `operations` in the order of their requests. */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const tried = new Set<string>();
  const open: Step[] = [{ done: new Set(), value: null }];
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    const { done, value } = step;
    const left = operations.flatMap((operation, at) => (done.has(at) ? [] : [{ operation, at }]));
    const firstEnd = Math.min(...left.map(({ operation }) => operation.ended));
    if (!Number.isFinite(firstEnd)) return true;
    for (const { operation, at } of left) {
      // What began after another one had ended did not come before it.
      if (operation.begun > firstEnd) break;
      const { kind, expected } = operation;
      if (value !== (kind === 'read' ? operation.value : expected)) continue;
      const next: Step = { done: new Set(done).add(at), value: kind === 'read' ? value : operation.value };
      const key = `${[...next.done].sort((a, b) => a - b).join()} ${next.value}`;
      if (tried.has(key)) continue;
      tried.add(key);
      open.push(next);
    }
  }
  return false;
}
