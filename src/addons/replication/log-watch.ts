/**
 * The watch of the log: it asks where the log ends, again and again, so a node knows how old what it shows may be, and whether there is more.
 *
 * An end before a record that this node knows is not believed at once: a server of the log that has just been chosen to lead may not have
 * caught up yet. It is damage where the log goes on saying so.
 */
import { FencedError } from '../../persistence/journal/commit-log.ts';
import { LogDamageError } from './record-format.ts';
import type { ReplicaClock, ReplicaLog } from './replica-options.ts';
import { LogGoneError, type ReplicatedLog } from './replicated-log.ts';

/** Questions that may be without an answer at once. One that gets lost must not keep the next from being asked. */
const QUESTIONS_MAX = 8;

/** A log that ends too early in all its answers for so long has lost records. */
export const SHORT_MS_MAX = 10_000;

export interface LogWatchOptions {
  readonly log: ReplicatedLog;
  readonly clock: ReplicaClock;
  readonly notes: ReplicaLog;
  /** The moment of the first question, monotonic, which was answered before this node opened its store. */
  readonly askedAtMs: number;
  /** The last record that this node has read or written. */
  position(): number;
  /** Called with each question; returns what is told the end of the log. */
  onQuestion(askedAtMs: number): (last: number) => void;
  /** Called where the log has lost records, or was recreated. */
  onFault(error: LogDamageError | FencedError): void;
}

export class LogWatch {
  readonly #options: LogWatchOptions;
  #trouble: string | null = null;
  #questions = 0;
  /** The moment of the newest question that was answered. */
  #answeredAtMs: number;
  #shortSinceMs: number | null = null;

  constructor(options: LogWatchOptions) {
    this.#options = options;
    this.#answeredAtMs = options.askedAtMs;
  }

  /** Why the log did not answer when it was asked last; null where it did. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** The age of the log's last answer. */
  get silentMs(): number {
    return this.#options.clock.monotonic() - this.#answeredAtMs;
  }

  ask(): void {
    if (this.#questions >= QUESTIONS_MAX) return;
    this.#questions += 1;
    void this.#ask().finally(() => {
      this.#questions -= 1;
    });
  }

  async #ask(): Promise<void> {
    const { log, clock, notes, position, onQuestion, onFault } = this.#options;
    const askedAtMs = clock.monotonic();
    const known = position();
    const tell = onQuestion(askedAtMs);
    try {
      const { last } = await log.extent();
      if (last < known) throw this.#short(last, known, askedAtMs);
      this.#shortSinceMs = null;
      this.#trouble = null;
      this.#answeredAtMs = Math.max(this.#answeredAtMs, askedAtMs);
      tell(last);
    } catch (error) {
      if (error instanceof FencedError || error instanceof LogDamageError) return onFault(error);
      if (askedAtMs < this.#answeredAtMs) return;
      const trouble = troubleText(error);
      // Operators, of "The NATS servers have no stream …": see [fail-over](docs/cluster.md#fail-over)
      // Operators, of "The replicated log does not answer (…).": nothing, unless it persists: look at the NATS servers
      if (trouble !== this.#trouble) notes.warn({ err: error }, trouble);
      this.#trouble = trouble;
    }
  }

  #short(last: number, known: number, askedAtMs: number): Error {
    this.#shortSinceMs ??= askedAtMs;
    const text = `the replicated log ends at position ${last}, and position ${known} was acknowledged`;
    return askedAtMs - this.#shortSinceMs < SHORT_MS_MAX ? new Error(text) : new LogDamageError(text);
  }
}

function troubleText(error: unknown): string {
  const { message } = error as Error;
  if (error instanceof LogGoneError)
    return `${message} It was there when this node started. Stop all nodes, run "flagstaff cluster republish" on the one with the newest event, and start the others.`;
  return `The replicated log does not answer (${message}).`;
}
