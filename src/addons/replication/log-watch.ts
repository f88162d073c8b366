/** The watch of the log: whether it is there at all. The nodes of a log that is gone hear nothing, so they ask. */
import { FencedError } from '../../persistence/journal/commit-log.ts';
import type { ReplicaLog } from './replica-options.ts';
import { LogGoneError, type ReplicatedLog } from './replicated-log.ts';

export interface LogWatchOptions {
  readonly log: ReplicatedLog;
  readonly notes: ReplicaLog;
  /** Called where the log was made anew. */
  onFenced(error: FencedError): void;
}

export class LogWatch {
  readonly #options: LogWatchOptions;
  #trouble: string | null = null;
  #isLogGone = false;
  #isAsking = false;

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /** Why the log did not answer when it was asked last; null where it did. */
  get trouble(): string | null {
    return this.#trouble;
  }

  get isLogGone(): boolean {
    return this.#isLogGone;
  }

  async look(): Promise<void> {
    const { log, notes, onFenced } = this.#options;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      await log.extent();
      this.#trouble = null;
      this.#isLogGone = false;
    } catch (error) {
      if (error instanceof FencedError) return onFenced(error);
      this.#isLogGone = error instanceof LogGoneError;
      const trouble = troubleText(error);
      // Operators, of "The NATS servers have no stream …": see [fail-over](docs/cluster.md#fail-over)
      // Operators, of "The replicated log does not answer (…).": nothing, unless it stays so: look at the NATS servers
      if (trouble !== this.#trouble) notes.warn({ err: error }, trouble);
      this.#trouble = trouble;
    } finally {
      this.#isAsking = false;
    }
  }
}

function troubleText(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof LogGoneError)
    return `${message} It was there when this node started. Stop all nodes, run "flagstaff cluster republish" on the one with the newest event, and start the others.`;
  return `The replicated log does not answer (${message}).`;
}
