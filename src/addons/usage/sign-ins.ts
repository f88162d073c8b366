/**
 * The last sign-in of users, and the number of wrong passwords since. Only users who exist are counted, so the list is no
 * longer than theirs.
 */
import { NO_SIGN_INS, type SignIns } from '../../actors/usage-view.ts';
import { SavedTable } from './saved-table.ts';

/** The sign-ins of a user as they are saved. */
export type SignInRow = readonly [userId: number, lastMs: number | null, failedCount: number];

/** Bounds the count, so that guessing does not rewrite it forever. */
export const FAILED_COUNT_MAX = 1_000;

export class UserSignIns extends SavedTable<SignInRow> {
  readonly #users = new Map<number, SignIns>();
  readonly #isUser: (userId: number) => boolean;

  /** Rows of others are not loaded. */
  constructor(isUser: (userId: number) => boolean) {
    super();
    this.#isUser = isUser;
  }

  of(userId: number): SignIns {
    return this.#users.get(userId) ?? NO_SIGN_INS;
  }

  succeeded(userId: number, nowMs: number): void {
    this.#set(userId, { lastMs: nowMs, failedCount: 0 });
  }

  failed(userId: number): void {
    const { lastMs, failedCount } = this.of(userId);
    if (failedCount < FAILED_COUNT_MAX) this.#set(userId, { lastMs, failedCount: failedCount + 1 });
  }

  forget(userId: number): void {
    if (this.#users.delete(userId)) this.isSaved = false;
  }

  *rows(): Generator<SignInRow> {
    for (const [userId, { lastMs, failedCount }] of this.#users) yield [userId, lastMs, failedCount];
  }

  load([userId, lastMs, failedCount]: SignInRow): void {
    if (this.#isUser(userId)) this.#users.set(userId, { lastMs, failedCount });
  }

  #set(userId: number, signIns: SignIns): void {
    this.#users.set(userId, signIns);
    this.isSaved = false;
  }
}
