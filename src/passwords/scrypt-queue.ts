/**
 * Hashing with scrypt on the threads of libuv, which also write the journal: one password at a time, so that sign-ins take
 * one thread and one core of the machine and no more, and a bounded number waits.
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

/** Passwords that wait: some 4 seconds of work. Clients give up on more. */
export const WAITING_MAX = 20;

/** New passwords among them. Whoever has an invitation may send any number, and people have to be able to sign in meanwhile. */
export const NEW_WAITING_MAX = 10;

const SALT_BYTES = 16;
const KEY_BYTES = 32;

const BUSY = refuse(
  'ServiceUnavailableError',
  'Too many passwords are being checked at the moment; try again in a few seconds.',
);

export class ScryptQueue {
  readonly #cost: ScryptCost;
  #tail: Promise<unknown> = Promise.resolve();
  #waitingCount = 0;
  #newWaitingCount = 0;

  constructor(cost: ScryptCost = SCRYPT_COST) {
    this.#cost = cost;
  }

  /** Hashed with a new salt, as it is kept; a refusal when too many wait. */
  async hash(password: string): Promise<string | Refusal> {
    if (this.#newWaitingCount >= NEW_WAITING_MAX) return BUSY;
    this.#newWaitingCount += 1;
    try {
      return await this.#inTurn(() => this.#hashed(password));
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
  matches(password: string, { salt, key, cost }: PasswordHash): Promise<boolean | Refusal> {
    return this.#inTurn(async () =>
      timingSafeEqual(key, await keyOf(password, { salt, cost, bytes: key.length })),
    );
  }

  /** What nobody's password has, to be held against it where there is none: that takes as long as if there were. */
  decoy(): PasswordHash {
    return { cost: this.#cost, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T | Refusal> {
    if (this.#waitingCount >= WAITING_MAX) return Promise.resolve(BUSY);
    this.#waitingCount += 1;
    const turn = this.#tail.then(work).finally(() => {
      this.#waitingCount -= 1;
    });
    this.#tail = turn.catch(() => undefined);
    return turn;
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
