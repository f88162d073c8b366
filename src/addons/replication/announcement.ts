/**
 * A message that each node sends to the others now and then: that it is there, in which role, and how far it is. Announcements may
 * be lost or late, so nothing that must be true depends on them. They decide only when somebody stands for leadership,
 * and what operators are shown.
 */
import * as v from 'valibot';

/** Protects from a sender that is no node; a real one takes some 300 bytes. */
const ANNOUNCEMENT_BYTES_MAX = 4_096;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const shortText = v.pipe(v.string(), v.maxLength(1_000));

const schema = v.object({
  node: shortText,
  run: shortText,
  address: shortText,
  role: shortText,
  epoch: count,
  /** The last record that the node has read or written. */
  position: count,
  /** The last event on its disk. */
  durableId: count,
  /** Whether it leads and asks the others to take over. */
  handsOver: v.boolean(),
  // Nodes of release 0.2.0 say nothing of what follows.
  /** The history that it tells; null where it knows none yet. */
  history: v.optional(v.nullable(shortText), null),
  version: v.optional(shortText, '0.2.0'),
});

export type Announcement = Readonly<v.InferOutput<typeof schema>>;

export const encodeAnnouncement = (announcement: Announcement): Buffer =>
  Buffer.from(JSON.stringify(announcement));

/** Null for anything that no node of this version sends. */
export function decodeAnnouncement(message: Buffer): Announcement | null {
  if (message.length > ANNOUNCEMENT_BYTES_MAX) return null;
  try {
    const parsed = v.safeParse(schema, JSON.parse(message.toString()));
    return parsed.success ? parsed.output : null;
  } catch {
    return null;
  }
}

// The other nodes, as their announcements tell of them.

/** A node that has said nothing for so long is not shown any more. */
const FORGOTTEN_AFTER_MS = 10_000;

/** Protects memory from senders that draw a new identity each time; clusters have three to seven nodes. */
const PEERS_MAX = 64;

interface Peer extends Announcement {
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
