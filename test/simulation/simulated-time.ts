/**
 * Time that moves only when nothing else is left to do: the one source of order in a simulation.
 *
 * What the engine does between two steps runs on microtasks alone, and all of it ends before the next step begins;
 * so the same seed always gives the same order. Whatever a dead process still waits for simply never happens, since
 * every life has a timeline of its own.
 */

interface Step {
  readonly at: number;
  /** Steps of the same moment run in the order in which they were asked for. */
  readonly sequence: number;
  readonly run: () => void;
  cancelled: boolean;
}

export class SimulatedTime {
  /** A binary heap, the next step at its root. */
  readonly #steps: Step[] = [];
  #sequence = 0;
  #elapsedMs = 0;
  #wallMs: number;
  #frozen = false;

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }

  /** Milliseconds, monotonic. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  /** Milliseconds since 1970, by a clock that may jump. */
  get wallMs(): number {
    return this.#wallMs;
  }

  jump(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** The wall clock stands still, until it is called again; the monotonic one never does. */
  toggleFrozen(): void {
    this.#frozen = !this.#frozen;
  }

  /** Runs `run` when `delayMs` have passed; returns what cancels it. */
  after(delayMs: number, run: () => void): () => void {
    this.#sequence += 1;
    const step: Step = { at: this.#elapsedMs + delayMs, sequence: this.#sequence, run, cancelled: false };
    this.#push(step);
    return () => {
      step.cancelled = true;
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Runs the next step and all that follows from it at once; false when nothing is left. */
  async step(): Promise<boolean> {
    const next = this.#pop();
    if (next === undefined) return false;
    if (next.cancelled) return true;
    if (!this.#frozen) this.#wallMs += next.at - this.#elapsedMs;
    this.#elapsedMs = next.at;
    next.run();
    await settled();
    return true;
  }

  #push(step: Step): void {
    const steps = this.#steps;
    let at = steps.length;
    steps.push(step);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = steps[parentAt] as Step;
      if (!isBefore(step, parent)) break;
      steps[at] = parent;
      at = parentAt;
    }
    steps[at] = step;
  }

  #pop(): Step | undefined {
    const steps = this.#steps;
    const root = steps[0];
    const last = steps.pop();
    if (root === undefined || last === undefined || steps.length === 0) return root;
    let at = 0;
    for (;;) {
      const childAt = this.#earlierChild(at);
      const child = steps[childAt];
      if (child === undefined || !isBefore(child, last)) break;
      steps[at] = child;
      at = childAt;
    }
    steps[at] = last;
    return root;
  }

  #earlierChild(at: number): number {
    const left = this.#steps[2 * at + 1];
    const right = this.#steps[2 * at + 2];
    const takesRight = left !== undefined && right !== undefined && isBefore(right, left);
    return takesRight ? 2 * at + 2 : 2 * at + 1;
  }
}

function isBefore(a: Step, b: Step): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}

/** Resolves when every microtask has run, also those that others have started meanwhile. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
