/**
 * Serves the mailboxes round-robin, one command at a time, so that a busy project cannot starve the others (invariant
 * 8). A turn ends when nothing is left, when `canRun` is false because the journal holds as much unsynced data as it may, or when it has
 * lasted long enough. `wake` continues after a sync.
 *
 * Commands do not run when they are offered, but in a turn right afterwards. So all requests that arrived in one poll
 * of the sockets share one commit, without any timer.
 */
import assert from 'node:assert/strict';
import type { Command } from '../domain/decide/decide.ts';
import { type Refusal, refuse } from '../domain/state/refusal.ts';

export interface SchedulerOptions<T> {
  /** Runs one command to its end, synchronously. Must not throw. */
  run(actor: string, item: T): void;
  /** False when the remaining commands must stay in their mailboxes for now. */
  canRun(): boolean;
  /** True when the turn has lasted long enough: the rest waits for the next one. */
  isTurnOver(): boolean;
  /** Called once after each turn that ran something. */
  afterTurn(): void;
  /** Starts a turn; `setImmediate` runs it after the current poll of the sockets. */
  defer(turn: () => void): void;
  readonly mailboxLengthMax?: number;
}

export class Scheduler<T> {
  /** Commands before each actor that has some, in the order of their next turns. */
  readonly #mailboxes = new Map<string, T[]>();
  readonly #options: SchedulerOptions<T>;
  readonly #lengthMax: number;
  #turnIsDue = false;
  #queuedCount = 0;

  constructor(options: SchedulerOptions<T>) {
    this.#options = options;
    this.#lengthMax = options.mailboxLengthMax ?? MAILBOX_LENGTH_MAX;
    assert(this.#lengthMax > 0, 'a mailbox has room for a command');
  }

  /** Commands that wait in all mailboxes. */
  get queuedCount(): number {
    return this.#queuedCount;
  }

  /** Commands that wait in the deepest mailbox. */
  get deepest(): number {
    let deepest = 0;
    for (const mailbox of this.#mailboxes.values()) deepest = Math.max(deepest, mailbox.length);
    return deepest;
  }

  /** False when the actor's mailbox is full: a flood then costs bounded memory, and clients learn that they should slow down (invariant 8). */
  offer(actor: string, item: T): boolean {
    const mailbox = this.#mailboxes.get(actor);
    if (mailbox === undefined) this.#mailboxes.set(actor, [item]);
    else if (mailbox.length >= this.#lengthMax) return false;
    else mailbox.push(item);
    this.#queuedCount += 1;
    this.wake();
    return true;
  }

  /** Runs all that waits at once, in as many turns as it takes. */
  drain(): void {
    while (this.#queuedCount > 0 && this.#options.canRun()) this.#turn();
  }

  wake(): void {
    if (this.#turnIsDue || this.#queuedCount === 0) return;
    this.#turnIsDue = true;
    this.#options.defer(() => this.#turn());
  }

  #turn(): void {
    this.#turnIsDue = false;
    const { canRun, isTurnOver, afterTurn } = this.#options;
    let ran = false;
    let isOver = false;
    while (this.#queuedCount > 0 && !isOver && canRun()) {
      this.#round();
      ran = true;
      isOver = isTurnOver();
    }
    if (ran) afterTurn();
    if (isOver) this.wake();
  }

  /** Goes through all mailboxes, to see that their counts are right; for the simulation. */
  audit(): void {
    let queued = 0;
    for (const [actor, { length }] of this.#mailboxes) {
      assert(length > 0 && length <= this.#lengthMax, `the mailbox of "${actor}" holds ${length} commands`);
      queued += length;
    }
    assert.equal(queued, this.#queuedCount, 'the count of commands that wait');
  }

  /** One command of each actor that has one. Those that get no turn in this round are the first in the next one. */
  #round(): void {
    const count = this.#mailboxes.size;
    let served = 0;
    for (const [actor, mailbox] of this.#mailboxes) {
      if (served === count || (served > 0 && this.#options.isTurnOver())) return;
      served += 1;
      const item = mailbox.shift();
      assert(item !== undefined, 'a mailbox is kept while it holds something');
      this.#queuedCount -= 1;
      assert(this.#queuedCount >= 0, 'no more commands are taken than were offered');
      // Behind all others, where there are some.
      if (this.#mailboxes.size > 1 || mailbox.length === 0) this.#mailboxes.delete(actor);
      if (mailbox.length > 0) this.#mailboxes.set(actor, mailbox);
      this.#options.run(actor, item);
    }
  }
}

// Says in whose mailbox a command waits. Commands that name a project wait for that project's actor, all others for
// the directory. A command may change the state of several actors, as creating a flag takes its name in the
// directory. It is decided and applied in one turn of the one thread, so no other command runs in between, and its
// events are one frame.

/** No project can have this id, because ids have at least one character. */
const DIRECTORY = '';

export function addressOf(command: Command | Refusal): string {
  return 'project' in command && typeof command.project === 'string' ? command.project : DIRECTORY;
}

/**
 * The number of commands that may wait for one actor. On the slowest useful disk (100 syncs a second, 64 commands
 * each) this is less than a fifth of a second of work. A longer queue would respond only after clients have given up.
 */
export const MAILBOX_LENGTH_MAX = 1024;

export function mailboxFull(address: string): Refusal {
  const whose = address === DIRECTORY ? 'the service' : `the project "${address}"`;
  return refuse(
    'ServiceUnavailableError',
    `Too many commands are waiting for ${whose}; try again in a moment.`,
  );
}
