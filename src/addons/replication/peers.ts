/** The other nodes, as their announcements tell of them. */
import type { Announcement } from './announcement.ts';

/** A node that has said nothing for so long is not shown any more. */
const FORGOTTEN_AFTER_MS = 10_000;

/** Protects memory from senders that draw a new identity each time; clusters have three to seven nodes. */
const PEERS_MAX = 64;

export interface Peer extends Announcement {
  /** Milliseconds since it was heard last. */
  readonly silentMs: number;
}

export class Peers {
  readonly #heard = new Map<string, { readonly announcement: Announcement; readonly atMs: number }>();

  note(announcement: Announcement, nowMs: number): void {
    this.#forget(nowMs);
    if (this.#heard.size < PEERS_MAX || this.#heard.has(announcement.run))
      this.#heard.set(announcement.run, { announcement, atMs: nowMs });
  }

  /** By name. */
  list(nowMs: number): readonly Peer[] {
    this.#forget(nowMs);
    return [...this.#heard.values()]
      .map(({ announcement, atMs }) => ({ ...announcement, silentMs: nowMs - atMs }))
      .sort((a, b) => (a.node < b.node ? -1 : 1));
  }

  #forget(nowMs: number): void {
    for (const [run, { atMs }] of this.#heard) if (nowMs - atMs > FORGOTTEN_AFTER_MS) this.#heard.delete(run);
  }
}
