/** Rounds of the event loop that have passed since it was made. To be stopped, because counting keeps the process alive. */
export class LoopRounds {
  count = 0;
  #isOver = false;

  constructor() {
    setImmediate(() => this.#next());
  }

  stop(): void {
    this.#isOver = true;
  }

  #next(): void {
    this.count += 1;
    if (!this.#isOver) setImmediate(() => this.#next());
  }
}
