/**
 * Serves the mailboxes round-robin, one command at a time, so that a busy project cannot starve the others (invariant
 * 8). A turn ends when nothing is left, when `canRun` says that the journal holds as much unsynced data as it may, or when it has
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
  readonly #mailboxes = new Map<string, Mailbox<T>>();
  /** Names of the actors whose mailbox holds something, in the order of their next turns. */
  #ready: string[] = [];
  readonly #options: SchedulerOptions<T>;
  #turnIsDue = false;
  #queuedCount = 0;

  constructor(options: SchedulerOptions<T>) {
    this.#options = options;
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

  /** False when the actor's mailbox is full. */
  offer(actor: string, item: T): boolean {
    let mailbox = this.#mailboxes.get(actor);
    if (mailbox === undefined) {
      mailbox = new Mailbox(this.#options.mailboxLengthMax);
      this.#mailboxes.set(actor, mailbox);
    }
    if (!mailbox.offer(item)) return false;
    this.#queuedCount += 1;
    if (mailbox.length === 1) this.#ready.push(actor);
    assert(this.#ready.length <= this.#queuedCount, 'an actor is ready only while a command of it waits');
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
    for (const [actor, mailbox] of this.#mailboxes) {
      const { length } = mailbox;
      assert(
        length > 0 && this.#ready.includes(actor),
        `the mailbox of "${actor}" is kept, and never served`,
      );
      queued += length;
      assert(length <= mailbox.lengthMax, `the mailbox of "${actor}" holds more than it may`);
    }
    assert.equal(queued, this.#queuedCount, 'the count of commands that wait');
    assert.equal(new Set(this.#ready).size, this.#ready.length, 'an actor has one turn in a round');
  }

  /** One command of each actor that has one. */
  #round(): void {
    const actors = this.#ready;
    assert(actors.length > 0, 'while a command waits, its actor is ready');
    assert(
      actors.length === this.#mailboxes.size,
      'each actor whose mailbox holds something is served once a round',
    );
    this.#ready = [];
    for (const [index, actor] of actors.entries()) {
      if (index > 0 && this.#options.isTurnOver()) {
        // Those whose turn has not come are the first in the next one.
        this.#ready = [...actors.slice(index), ...this.#ready];
        return;
      }
      const mailbox = this.#mailboxes.get(actor);
      const item = mailbox?.take();
      assert(
        mailbox !== undefined && item !== undefined,
        'an actor is ready only while its mailbox holds something',
      );
      this.#queuedCount -= 1;
      assert(this.#queuedCount >= 0, 'no more commands are taken than were offered');
      if (mailbox.length > 0) this.#ready.push(actor);
      else this.#mailboxes.delete(actor);
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

// The bounded queue of commands before one actor. A full mailbox refuses at once, so that a flood costs memory for
// at most MAILBOX_LENGTH_MAX commands and clients learn that they should slow down (invariant 8).

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

export class Mailbox<T> {
  readonly #items: (T | undefined)[] = [];
  #head = 0;
  readonly lengthMax: number;

  constructor(lengthMax: number = MAILBOX_LENGTH_MAX) {
    assert(lengthMax > 0, 'a mailbox has room for a command');
    this.lengthMax = lengthMax;
  }

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** False, and nothing queued, when the mailbox is full. */
  offer(item: T): boolean {
    if (this.length >= this.lengthMax) return false;
    this.#items.push(item);
    assert(this.length <= this.lengthMax, 'a mailbox holds no more than its limit');
    return true;
  }

  take(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    assert(item !== undefined, 'a mailbox gives back what was put into it, each item once');
    this.#items[this.#head] = undefined;
    this.#head += 1;
    // Taken items are dropped in bulk: a mailbox that is never quite empty must not grow with all it ever held.
    if (this.#head === this.#items.length || this.#head > this.lengthMax) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    assert(this.#head < this.#items.length || this.#items.length === 0, 'an empty mailbox holds no memory');
    return item;
  }
}
