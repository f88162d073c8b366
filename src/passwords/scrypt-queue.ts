/**
 * Hashing with scrypt on the threads of libuv, which also write the journal: one password at a time, so that sign-ins take
 * one thread and one core of the machine and no more, and a bounded number waits.
 *
 * Callers who are signed in, and addresses from which somebody has signed in, wait apart from strangers: each
 * side has half of the places and every second turn. Within a side, addresses take turns, and at an address each user who is known there, and all
 * others together. When a side is full, the newest password of whoever has the most is dropped for whoever has fewer. So a crowd of
 * addresses delays strangers only, and a crowd behind one proxy nobody who has signed in through it before.
 */
import assert from 'node:assert/strict';
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import {
  formatPasswordHash,
  HASH_MEMORY_BYTES_MAX,
  memoryBytesOf,
  type PasswordHash,
  type ScryptCost,
} from '../domain/access/password-hash.ts';
import { type Refusal, refuse } from '../domain/state/refusal.ts';

/** 32 MiB and some 0.2 seconds for each password: what OWASP recommends of scrypt at this size. */
export const SCRYPT_COST: ScryptCost = { ln: 15, r: 8, p: 3 };

/** Passwords of strangers, and as many of callers who are known, that wait: some 2 seconds of work each. Clients give up on more. */
export const WAITING_MAX = 10;

/** New passwords among those of strangers. Somebody with an invitation may send any number, and others must be able to sign in meanwhile. */
export const NEW_WAITING_MAX = 5;

const SALT_BYTES = 16;
const KEY_BYTES = 32;

const BUSY = refuse(
  'ServiceUnavailableError',
  'Too many passwords are being checked at the moment; try again in a few seconds.',
);

/** The sender of a waiting request. */
export interface Waiting {
  /** An address, or a network of them, that counts as one. */
  readonly network: string;
  readonly isKnown: boolean;
  /** The user, where it is known who that is: signed in, or signed in from there before. */
  readonly userId: number | null;
}

interface Job {
  readonly network: string;
  readonly userId: number | null;
  run(): Promise<void>;
  refuse(): void;
}

export class ScryptQueue {
  readonly #cost: ScryptCost;
  /** The one that had the last turn comes second. */
  #rooms = { first: new WaitingRoom(), second: new WaitingRoom() };
  readonly #known = this.#rooms.first;
  readonly #strangers = this.#rooms.second;
  #isRunning = false;
  #newWaitingCount = 0;

  constructor(cost: ScryptCost = SCRYPT_COST) {
    this.#cost = cost;
  }

  /** Hashed with a new salt, as it is kept; a refusal when too many wait. */
  async hash(password: string, waiting: Waiting): Promise<string | Refusal> {
    if (waiting.isKnown) return this.#inTurn(waiting, () => this.#hashed(password));
    if (this.#newWaitingCount >= NEW_WAITING_MAX) return BUSY;
    this.#newWaitingCount += 1;
    try {
      return await this.#inTurn(waiting, () => this.#hashed(password));
    } finally {
      this.#newWaitingCount -= 1;
    }
  }

  async #hashed(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await keyOf(password, { salt, cost: this.#cost, bytes: KEY_BYTES });
    return formatPasswordHash({ cost: this.#cost, salt, key });
  }

  /** Whether this is the password that was hashed; takes the same time either way. A refusal when too many wait. */
  matches(password: string, { salt, key, cost }: PasswordHash, waiting: Waiting): Promise<boolean | Refusal> {
    return this.#inTurn(waiting, async () =>
      timingSafeEqual(key, await keyOf(password, { salt, cost, bytes: key.length })),
    );
  }

  /** A hash that no password has. Checking a password against it takes as long as against a real one. */
  decoy(): PasswordHash {
    return { cost: this.#cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
  }

  #inTurn<T>({ network, isKnown, userId }: Waiting, work: () => Promise<T>): Promise<T | Refusal> {
    return new Promise((resolve, reject) => {
      const job: Job = {
        network,
        userId,
        run: () => work().then(resolve, reject),
        refuse: () => resolve(BUSY),
      };
      (isKnown ? this.#known : this.#strangers).add(job);
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** One after the other, of each room in turn. */
  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let job = this.#next(); job !== undefined; job = this.#next()) await job.run();
    this.#isRunning = false;
  }

  #next(): Job | undefined {
    const { first, second } = this.#rooms;
    const job = first.take();
    if (job === undefined) return second.take();
    this.#rooms = { first: second, second: first };
    return job;
  }
}

/** Waiting jobs: the first is next. There are few, so that looking at all of them is cheap. */
class WaitingRoom {
  #jobs: Job[] = [];

  add(job: Job): void {
    if (this.#jobs.length >= WAITING_MAX) {
      const dropped = this.#newestOfMost(job);
      if (dropped === undefined) return job.refuse();
      this.#jobs.splice(this.#jobs.indexOf(dropped), 1);
      dropped.refuse();
    }
    this.#jobs.push(job);
    assert(this.#jobs.length <= WAITING_MAX, 'a bounded number waits');
  }

  /** The next job. Those of its user go behind the others of its address, and those of its address behind all others. */
  take(): Job | undefined {
    const job = this.#jobs.shift();
    const turnsGone = (one: Job): number =>
      one.network !== job?.network ? 0 : one.userId !== job.userId ? 1 : 2;
    this.#jobs.sort((one, other) => turnsGone(one) - turnsGone(other));
    return job;
  }

  /** The newest job of an address that would still have as many as the address of this one, or of such a user at the same address. */
  #newestOfMost({ network, userId }: Job): Job | undefined {
    const own = this.#jobs.filter((one) => one.network === network);
    const crowd = mostOf(this.#jobs, (one) => one.network);
    if (crowd.length > own.length + 1) return mostOf(crowd, (one) => one.userId).at(-1);
    const ofUser = own.filter((one) => one.userId === userId);
    const most = mostOf(own, (one) => one.userId);
    return most.length > ofUser.length + 1 ? most.at(-1) : undefined;
  }
}

/** The jobs of the group that has the most of them. */
function mostOf(jobs: readonly Job[], groupOf: (job: Job) => string | number | null): readonly Job[] {
  let most: readonly Job[] = [];
  for (const key of new Set(jobs.map(groupOf))) {
    const group = jobs.filter((job) => groupOf(job) === key);
    if (group.length > most.length) most = group;
  }
  return most;
}

interface KeyOptions {
  readonly salt: Buffer;
  readonly cost: ScryptCost;
  readonly bytes: number;
}

/** Keyboards and systems write one letter in several ways; NFKC makes them one. */
function keyOf(password: string, { salt, cost, bytes }: KeyOptions): Promise<Buffer> {
  const { ln, r, p } = cost;
  // scrypt itself takes a little more than its blocks.
  const maxmem = Math.min(2 * memoryBytesOf(cost), 2 * HASH_MEMORY_BYTES_MAX) + 2 ** 20;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, bytes, { N: 2 ** ln, r, p, maxmem }, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
