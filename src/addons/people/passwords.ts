/**
 * Passwords of users: stored as hashes, and checked at a sign-in (docs/specification/users.md#passwords).
 *
 * A wrong guess reveals only that it was wrong, and takes as long for a user who does not exist or has no password.
 * Wrong guesses are bounded by address, by user, and by both. Nobody can lock others out: a right password is accepted
 * whatever guesses at other users came from its address, and, from where its user has signed in before, whatever came from elsewhere.
 */

import { createHash } from 'node:crypto';
import type { Allowance } from '../../actors/allowances.ts';
import type { UsageView } from '../../actors/usage-view.ts';
import { parsePasswordHash } from '../../domain/access/password-hash.ts';
import { PASSWORD_BYTES_MAX } from '../../domain/access/password-rules.ts';
import { networkOf } from '../../domain/flags/address.ts';
import { folded, userNamed } from '../../domain/people/identity.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/state/refusal.ts';
import type { User, WorldOwner } from '../../domain/state/world.ts';
import type { Sender } from '../../http/serving/route.ts';
import { AttemptLimits, type Counted } from './attempt-limits.ts';
import type { ScryptQueue } from './scrypt-queue.ts';

/** Attempts for one user from one address: room for somebody who tries the passwords of a lifetime. */
export const USER_FROM_ADDRESS: Allowance = { burst: 10, refillMs: 30_000 };

/** Attempts from one address; beyond them wrong ones get 429. A proxy that is not trusted stands for all people of a company. */
export const FROM_ADDRESS: Allowance = { burst: 100, refillMs: 1_000 };

/** Links whose secret nobody gave out, of one address. */
export const LINKS_FROM_ADDRESS: Allowance = { burst: 100, refillMs: 1_000 };

/**
 * Attempts for one user from all addresses where the user has not signed in before. Using them up locks the user out
 * elsewhere, so it takes many.
 */
export const OF_USER: Allowance = { burst: 100, refillMs: 10_000 };

/** One message for every cause, so that it does not reveal who has an account. */
const WRONG = refuse('AuthenticationRequired', 'The username, email or password is wrong.');

const tooOften = (what: 'passwords' | 'links', waitMs: number): Refusal =>
  refuse('TooManyRequestsError', `Too many wrong ${what}; try again in ${Math.ceil(waitMs / 1000)} seconds.`);

export interface SignIn {
  /** A username or an email. */
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** Whether the caller is signed in already. */
  readonly isSignedIn?: boolean;
}

/** The users whose passwords are checked, and the count of their attempts. */
export interface Attempted {
  readonly state: WorldOwner;
  readonly usage: Pick<UsageView, 'signInTried'>;
}

export class Passwords {
  readonly #queue: ScryptQueue;
  readonly #limits: AttemptLimits;
  readonly #good = new GoodSignIns();

  constructor(queue: ScryptQueue, monotonicMs: () => number) {
    this.#queue = queue;
    this.#limits = new AttemptLimits(monotonicMs);
  }

  /** The hash to keep of a new password; a refusal (503) when too many passwords are being hashed. */
  hash(password: string, { address, userId }: Sender): Promise<string | Refusal> {
    return this.#queue.hash(password, { network: networkOf(address), isKnown: userId !== null, userId });
  }

  /**
   * Signs somebody in. Resolves with the user as the state has it after the check; or with what to respond: 401, the same
   * whatever was wrong, 429 after too many wrong passwords, 503 while too many are being checked. Never rejects for what
   * was sent. Changes nothing, so it works on any node of a cluster; the caller begins the session.
   */
  async signIn(attempted: Attempted, attempt: SignIn): Promise<User | Refusal> {
    const { state } = attempted;
    const found = userNamed(state.world, attempt.name);
    const checked = await this.#check(attempted, found, attempt);
    if (isRefusal(checked)) return checked;
    const user = found === undefined ? undefined : state.world.directory.users.get(found.id);
    return user ?? WRONG;
  }

  /** Whether a user who is signed in knows the password: the hash that it was held against, or what to respond. */
  async confirm(
    attempted: Attempted,
    user: User,
    { password, address }: Pick<SignIn, 'password' | 'address'>,
  ): Promise<string | Refusal> {
    return await this.#check(attempted, user, { name: String(user.id), password, address, isSignedIn: true });
  }

  /** Counts a link with a wrong secret. Returns a refusal (429) after too many of them. */
  refuseGuess(address: string): Refusal | null {
    const under = JSON.stringify(['link', networkOf(address)]);
    const waitMs = this.#limits.take([{ limit: LINKS_FROM_ADDRESS, under }]);
    return waitMs > 0 ? tooOften('links', waitMs) : null;
  }

  /** The hash that the password fits, which is still the user's. */
  async #check(
    { state, usage }: Attempted,
    user: User | undefined,
    attempt: SignIn,
  ): Promise<string | Refusal> {
    const network = networkOf(attempt.address);
    const isAtHome = user !== undefined && this.#good.has(network, user.id);
    const ofUser = countedOf(
      user === undefined ? `name ${folded(attempt.name)}` : `user ${user.id}`,
      network,
    );
    const counted = isAtHome ? ofUser.slice(0, 1) : ofUser;
    const waitMs = this.#limits.take(counted);
    if (waitMs > 0) return tooOften('passwords', waitMs);
    const fromAddress = [{ limit: FROM_ADDRESS, under: JSON.stringify([null, network]) }];
    const waitOfAddressMs = this.#limits.take(fromAddress);
    const taken = waitOfAddressMs > 0 ? counted : [...counted, ...fromAddress];
    const kept = user === undefined ? undefined : state.world.directory.passwords.get(user.id)?.hash;
    const hash = (kept === undefined ? null : parsePasswordHash(kept)) ?? this.#queue.decoy();
    // What is longer than any password is cut, so that checking it takes no longer; it fits none.
    const isPossible = Buffer.byteLength(attempt.password) <= PASSWORD_BYTES_MAX;
    const isSignedIn = attempt.isSignedIn === true;
    const waiting = {
      network,
      isKnown: isSignedIn || this.#good.has(network),
      userId: user !== undefined && (isSignedIn || isAtHome) ? user.id : null,
    };
    const matches = await this.#queue.matches(isPossible ? attempt.password : '', hash, waiting);
    if (isRefusal(matches)) {
      this.#limits.giveBack(taken);
      return matches;
    }
    const isStillKept =
      user !== undefined && kept !== undefined && state.world.directory.passwords.get(user.id)?.hash === kept;
    const succeeded = matches && isPossible && isStillKept;
    if (user !== undefined && state.world.directory.users.has(user.id)) usage.signInTried(user.id, succeeded);
    if (!succeeded) return waitOfAddressMs > 0 ? tooOften('passwords', waitOfAddressMs) : WRONG;
    this.#limits.giveBack(taken);
    this.#good.add(network, user.id);
    return kept;
  }
}

/** Wrong attempts at one user, existing or not: from one address, and from all. */
function countedOf(who: string, network: string): readonly Counted[] {
  return [
    { limit: USER_FROM_ADDRESS, under: JSON.stringify([who, network]) },
    { limit: OF_USER, under: JSON.stringify([who]) },
  ];
}

// The users and addresses of good sign-ins, whom strangers that guess must not lock out. In the memory of each node: after a restart
// everybody is a stranger until the next sign-in.

/** Networks, and users at a network; some 100 bytes each. The one that was used least recently is forgotten. */
export const GOOD_SIGN_INS_MAX = 20_000;

class GoodSignIns {
  readonly #entries = new Set<string>();

  add(network: string, userId: number): void {
    for (const key of [keyOf(network), keyOf(network, userId)]) {
      this.#entries.delete(key);
      this.#entries.add(key);
    }
    for (const oldest of this.#entries) {
      if (this.#entries.size <= GOOD_SIGN_INS_MAX) break;
      this.#entries.delete(oldest);
    }
  }

  /** Whether somebody, or this user, has signed in from there. */
  has(network: string, userId?: number): boolean {
    return this.#entries.has(keyOf(network, userId));
  }
}

const keyOf = (network: string, userId?: number): string =>
  createHash('sha256')
    .update(JSON.stringify([network, userId ?? null]))
    .digest('base64url')
    .slice(0, 22);
