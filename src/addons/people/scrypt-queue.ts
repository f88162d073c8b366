/**
 * Hashing with scrypt on the threads of libuv, which also write the journal: one password at a time, so that sign-ins take
 * one thread and one core of the machine and no more, and a bounded number waits.
 *
 * Callers who are signed in, and addresses from which somebody has signed in, wait apart from strangers: each
 * side has half of the places and every second turn. Within a side, addresses take turns, and so does each user who is known at one.
 * So a crowd of addresses delays strangers only, and a crowd behind one proxy nobody who has signed in through it before.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { FairQueue } from '../../actors/fair-queue.ts';
import {
  formatPasswordHash,
  HASH_MEMORY_BYTES_MAX,
  memoryBytesOf,
  type PasswordHash,
  type ScryptCost,
} from '../../domain/access/password-hash.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';

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

const ONE_AT_A_TIME = { runningMax: 1, runningPerRequesterMax: 1, waitingMax: WAITING_MAX } as const;

export class ScryptQueue {
  readonly #cost: ScryptCost;
  readonly #known = new FairQueue(ONE_AT_A_TIME);
  readonly #strangers = new FairQueue(ONE_AT_A_TIME);
  /** The next of each side. */
  readonly #sides = new FairQueue(ONE_AT_A_TIME);
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

  async #inTurn<T>(
    { network, isKnown, userId }: Waiting,
    work: () => Promise<Exclude<T, Refusal>>,
  ): Promise<T | Refusal> {
    const side = isKnown ? this.#known : this.#strangers;
    const turn = () => this.#sides.run(work, { name: String(isKnown) });
    const outcome = await side.run(turn, { name: `${network} ${userId}` });
    return isRefusal(outcome) ? BUSY : outcome;
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
