/**
 * How much each user may have the server write. Whoever may read may also sign in, export flags, mark favorites and make tokens,
 * and each of these is an event that stays. So one measure bounds all that a user does: bytes of the journal, as a bucket that
 * fills again with time. Admins, and admin tokens, are not bounded: they run the server, and may fill its disk in any case.
 */
import assert from 'node:assert/strict';
import { ADMIN_ROLE_ID } from '../domain/access/roles.ts';
import { groupsOf } from '../domain/people/roles-and-groups.ts';
import { isRefusal, type Refusal, refuse } from '../domain/state/refusal.ts';
import type { WorldOwner } from '../domain/state/world.ts';
import { type Allowance, Allowances } from './allowances.ts';
import type { Submission } from './submission.ts';

/** The bytes that a user may write at once: far more than a day of work, or an import, takes. */
export const WRITE_BURST_BYTES = 128 * 2 ** 20;

/** The rate at which the allowance refills: with the burst, less than 1 GB in a day. */
export const WRITTEN_BYTES_A_SECOND = 9 * 1024;

/** Counted for an event that takes less: events lead to snapshots too, and take memory in the index. */
export const EVENT_CHARGE_BYTES_MIN = 1024;

/** Users who have written lately; some 100 bytes each. The one that wrote longest ago is forgotten. */
export const ALLOWANCES_MAX = 10_000;

const WRITES: Allowance = { burst: WRITE_BURST_BYTES, refillMs: 1000 / WRITTEN_BYTES_A_SECOND };

export class WriteAllowances {
  readonly #allowances: Allowances<number>;
  readonly #state: WorldOwner;

  constructor(state: WorldOwner, monotonicMs: () => number) {
    this.#state = state;
    this.#allowances = new Allowances(monotonicMs, ALLOWANCES_MAX);
  }

  /** Null while the actor has not used up the allowance; the change under way may use up more than is left. */
  refuse({ command, actor: { userId } }: Pick<Submission<unknown>, 'command' | 'actor'>): Refusal | null {
    // Nothing is charged to tokens and to the server itself.
    if (userId <= 0 || this.#allowances.left(userId, WRITES) > 0) return null;
    if (isRefusal(command) || (command.type === 'own' && command.isFree) || !this.#isBounded(userId))
      return null;
    const waitSeconds = Math.ceil(this.#allowances.waitMs(userId, WRITES) / 1000);
    return refuse(
      'ServiceUnavailableError',
      `You have made the server record ${WRITE_BURST_BYTES / 2 ** 20} MiB of changes in a short time; try again in ${waitSeconds} seconds. Changes of Admins and of admin tokens are not bounded so.`,
    );
  }

  /** Notes what a change has taken of the journal. */
  charge({ userId }: Submission<unknown>['actor'], events: number, bytes: number): void {
    assert(events > 0 && bytes > 0, 'a change has events, and takes room');
    if (userId > 0) this.#allowances.take(userId, WRITES, Math.max(bytes, events * EVENT_CHARGE_BYTES_MIN));
  }

  #isBounded(userId: number): boolean {
    const { directory } = this.#state.world;
    const user = directory.users.get(userId);
    if (user === undefined || user.rootRole === ADMIN_ROLE_ID) return false;
    return groupsOf(directory, userId).every(({ rootRole }) => rootRole !== ADMIN_ROLE_ID);
  }
}
