/**
 * Looks every minute for flags that have outlived their types or will soon, and has that recorded (docs/specification/flags.md#staleness).
 *
 * It goes through the flags in the background (turn.ts), and submits few notes at a time through the mailbox of
 * the project, like any other change. The next ones wait until those are on disk, so thousands of flags that expire
 * at once do not delay other changes.
 */
import assert from 'node:assert/strict';
import { dueStalenessNote } from '../domain/decide/archive-commands.ts';
import { SYSTEM } from '../domain/state/decision.ts';
import type { ProjectFlags } from '../domain/state/project-flags.ts';
import type { Engine } from './engine.ts';
import type { Background } from './turn.ts';

export const CHECK_INTERVAL_MS = 60_000;

export const NOTES_PER_CHANGE = 100;

export interface StalenessCheckOptions {
  readonly engine: Pick<Engine, 'world' | 'execute' | 'nextTime'>;
  readonly background: Background;
  /** Calls back after this many milliseconds. Must not keep the process alive. */
  timer(delayMs: number, callback: () => void): void;
  /** Told what a check failed of; the next one tries again. */
  onFault(error: unknown): void;
}

export class StalenessCheck {
  readonly #options: StalenessCheckOptions;
  /** The check that runs, or the last one. */
  #checking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: StalenessCheckOptions) {
    this.#options = options;
  }

  /** Checks a minute from now, and then a minute after each check. */
  start(): void {
    this.#options.timer(CHECK_INTERVAL_MS, () => {
      if (!this.#isClosed) void this.check().then(() => this.start());
    });
  }

  /** One check, after the one that runs. Resolves when what it found is on disk; never rejects. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check()).catch(this.#options.onFault);
    return this.#checking;
  }

  /** Ends a check that runs after the notes that it submitted. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#checking;
  }

  async #check(): Promise<void> {
    const { engine } = this.#options;
    const nowMs = engine.nextTime();
    this.#options.background.begin();
    for (const [project, { flags }] of engine.world.projects) {
      if (this.#isClosed) return;
      await this.#checkProject(project, flags, nowMs);
    }
  }

  async #checkProject(project: string, flags: ProjectFlags, nowMs: number): Promise<void> {
    const { engine, background } = this.#options;
    const due: string[] = [];
    for (const { flag } of flags.values()) {
      if (dueStalenessNote(engine.world, flag, nowMs) !== null) due.push(flag.name);
      assert(due.length <= NOTES_PER_CHANGE, 'what is due is noted before more is looked for');
      const isFull = due.length === NOTES_PER_CHANGE;
      if (isFull && !(await this.#note(project, due.splice(0)))) return;
      const rest = isFull ? background.pause() : background.rest();
      if (rest === undefined) continue;
      await rest;
      if (this.#isClosed) return;
    }
    if (due.length > 0) await this.#note(project, due);
  }

  /** False when the project takes no change now, such as for a full mailbox or disk: the next check tries again. */
  async #note(project: string, flags: readonly string[]): Promise<boolean> {
    assert(flags.length > 0 && flags.length <= NOTES_PER_CHANGE, 'a change notes a few flags');
    const outcome = await this.#options.engine.execute({
      command: { type: 'note-potentially-stale', project, flags },
      actor: SYSTEM,
      respond: () => null,
    });
    if (outcome.kind === 'fault') throw outcome.error;
    return outcome.kind === 'response';
  }
}
