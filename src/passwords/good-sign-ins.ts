/**
 * From where people have signed in, and who, so that strangers who guess do not keep them from doing it again. Kept in memory only, by
 * each node for itself: after a restart everybody is a stranger until the next sign-in.
 */
import { createHash } from 'node:crypto';

/** Networks, and users at a network; some 100 bytes each. The one that was used least recently is forgotten. */
export const GOOD_SIGN_INS_MAX = 20_000;

export class GoodSignIns {
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
