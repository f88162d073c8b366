/**
 * Passwords of users: hashed to be kept, and checked when somebody signs in (docs/specification/users.md#passwords).
 *
 * Whoever guesses learns nothing but that the guess was wrong, as slowly for a user who does not exist or has no password
 * as for one who has. Wrong guesses are bounded by address, by user, and by both.
 */
import { isIPv6 } from 'node:net';
import { parsePasswordHash } from '../domain/access/password-hash.ts';
import { PASSWORD_BYTES_MAX } from '../domain/access/password-rules.ts';
import { canonicalAddress } from '../domain/flags/address.ts';
import { userNamed } from '../domain/people/identity.ts';
import { isRefusal, type Refusal, refuse } from '../domain/state/refusal.ts';
import type { User, World } from '../domain/state/world.ts';
import { type AttemptLimit, AttemptLimits, type Counted } from './attempt-limits.ts';
import type { ScryptQueue } from './scrypt-queue.ts';

/** Of one user from one address: room for somebody who tries the passwords of a lifetime. */
export const USER_FROM_ADDRESS: AttemptLimit = { burst: 10, refillMs: 30_000 };

/** Of one address. A proxy may stand for all people of a company. */
export const FROM_ADDRESS: AttemptLimit = { burst: 100, refillMs: 1_000 };

/** Of one user from all addresses. Whoever uses it up locks the user out, so it takes many. */
export const OF_USER: AttemptLimit = { burst: 100, refillMs: 10_000 };

/** The same whatever was wrong: nobody learns who has an account. */
const WRONG = refuse('AuthenticationRequired', 'The username, email or password is wrong.');

const tooOften = (waitMs: number): Refusal =>
  refuse(
    'TooManyRequestsError',
    `Too many wrong passwords; try again in ${Math.ceil(waitMs / 1000)} seconds.`,
  );

export interface SignIn {
  /** A username or an email. */
  readonly name: string;
  readonly password: string;
  /** Of the other end of the connection. */
  readonly address: string;
}

export interface PasswordsOptions {
  readonly world: World;
  monotonicMs(): number;
  /** Told of each sign-in of a user who exists. */
  onAttempt(userId: number, succeeded: boolean): void;
  readonly queue: ScryptQueue;
}

export class Passwords {
  readonly #options: PasswordsOptions;
  readonly #queue: ScryptQueue;
  readonly #limits: AttemptLimits;

  constructor(options: PasswordsOptions) {
    this.#options = options;
    this.#queue = options.queue;
    this.#limits = new AttemptLimits(options.monotonicMs);
  }

  /** What is kept of a new password; a refusal (503) when too many passwords are being hashed. */
  hash(password: string): Promise<string | Refusal> {
    return this.#queue.hash(password);
  }

  /**
   * Signs somebody in. Resolves with the user as the state has it after the check; or with what to respond: 401, the same
   * whatever was wrong, 429 after too many wrong passwords, 503 while too many are being checked. Never rejects for what
   * was sent. It changes nothing: whoever calls begins the session. On any node of a cluster.
   */
  async signIn({ name, password, address }: SignIn): Promise<User | Refusal> {
    const { world } = this.#options;
    const found = userNamed(world, name);
    const checked = await this.#check(found, { name, password, address });
    if (isRefusal(checked)) return checked;
    const user = found === undefined ? undefined : world.directory.users.get(found.id);
    return user ?? WRONG;
  }

  /** Whether a user who is signed in knows the password: the hash that it was held against, or what to respond. */
  async confirm(user: User, password: string, address: string): Promise<string | Refusal> {
    return await this.#check(user, { name: String(user.id), password, address });
  }

  /** Counts a link whose secret nobody gave out as a wrong password from there; a refusal (429) after too many of them. */
  refuseGuess(address: string): Refusal | null {
    const waitMs = this.#limits.take([fromAddress(address)]);
    return waitMs > 0 ? tooOften(waitMs) : null;
  }

  /** The hash that the password fits, which is still the user's. */
  async #check(user: User | undefined, attempt: SignIn): Promise<string | Refusal> {
    const { world, onAttempt } = this.#options;
    const counted = countedOf(
      user === undefined ? `name ${attempt.name.toLowerCase()}` : `user ${user.id}`,
      attempt,
    );
    const waitMs = this.#limits.take(counted);
    if (waitMs > 0) return tooOften(waitMs);
    const kept = user === undefined ? undefined : world.directory.passwords.get(user.id)?.hash;
    const hash = (kept === undefined ? null : parsePasswordHash(kept)) ?? this.#queue.decoy();
    // What is longer than any password is cut, so that checking it takes no longer; it fits none.
    const isPossible = Buffer.byteLength(attempt.password) <= PASSWORD_BYTES_MAX;
    const matches = await this.#queue.matches(isPossible ? attempt.password : '', hash);
    if (isRefusal(matches)) {
      this.#limits.giveBack(counted);
      return matches;
    }
    const isStillKept =
      user !== undefined && kept !== undefined && world.directory.passwords.get(user.id)?.hash === kept;
    const succeeded = matches && isPossible && isStillKept;
    if (user !== undefined && world.directory.users.has(user.id)) onAttempt(user.id, succeeded);
    if (!succeeded) return WRONG;
    this.#limits.giveBack(counted);
    return kept;
  }
}

/** Wrong attempts at one user, existing or not, and those from one address. */
function countedOf(who: string, { address }: SignIn): readonly Counted[] {
  const from = networkOf(address);
  return [
    { limit: USER_FROM_ADDRESS, under: JSON.stringify([who, from]) },
    fromAddress(address),
    { limit: OF_USER, under: JSON.stringify([who]) },
  ];
}

const fromAddress = (address: string): Counted => ({
  limit: FROM_ADDRESS,
  under: JSON.stringify([null, networkOf(address)]),
});

/** One who has an IPv6 address has a /64 of them. */
function networkOf(text: string): string {
  const address = canonicalAddress(text) ?? text;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = tail === undefined ? head.split(':') : [...head.split(':'), '0', '0', '0', '0'];
  return groups.slice(0, 4).join(':');
}
