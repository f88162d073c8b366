/**
 * Hashing with scrypt on the threads of libuv, which also write the journal: one password at a time, so that sign-ins take
 * one thread and one core of the machine and no more, and a bounded number waits.
 *
 * Callers who are signed in, and addresses from which somebody has signed in, wait apart from strangers: each
 * side has half of the places and every second turn. Within a side, addresses take turns, and when it is full, the newest
 * password of the address with the most is dropped for an address with fewer. So a crowd of addresses delays strangers only.
 */
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
}

interface Job {
  readonly network: string;
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

  #inTurn<T>({ network, isKnown }: Waiting, work: () => Promise<T>): Promise<T | Refusal> {
    return new Promise((resolve, reject) => {
      const job: Job = {
        network,
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

/** Waiting jobs by address, in the order of the addresses' turns. */
class WaitingRoom {
  readonly #lines = new Map<string, Job[]>();
  #count = 0;

  add(job: Job): void {
    const line = this.#lines.get(job.network) ?? [];
    if (this.#count >= WAITING_MAX && !this.#makeRoom(line.length)) return job.refuse();
    this.#count += 1;
    line.push(job);
    this.#lines.set(job.network, line);
  }

  take(): Job | undefined {
    for (const [network, line] of this.#lines) {
      const job = line.shift();
      this.#count -= 1;
      this.#lines.delete(network);
      if (line.length > 0) this.#lines.set(network, line);
      return job;
    }
    return undefined;
  }

  /** For an address that waits for so many already. */
  #makeRoom(ownCount: number): boolean {
    const longest = [...this.#lines.values()].reduce(
      (one, other) => (other.length > one.length ? other : one),
      [],
    );
    if (longest.length <= ownCount + 1) return false;
    longest.pop()?.refuse();
    this.#count -= 1;
    return true;
  }
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
