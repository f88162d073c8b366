/**
 * A message that each node sends to the others now and then: that it is there, in which role, and how far it is. Announcements may
 * be lost or late, so nothing that must be true depends on them. They decide only when a node stands for leadership,
 * and what operators are shown.
 */
import * as v from 'valibot';

/** Protects from a sender that is no node; a real one takes some 300 bytes. */
const ANNOUNCEMENT_BYTES_MAX = 4_096;

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Protects memory from senders that draw a new identity each time; clusters have three to seven nodes. */
const PEERS_MAX = 64;

const READ_BY_0_2_0 = { record: 1, content: 2, rules: 3 } as const;

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
  /** The clock of the node, in milliseconds since 1970. */
  wallMs: v.optional(v.nullable(count), null),
  /** The newest formats that it reads: of records, of what events hold, and of the rules of replay. */
  reads: v.optional(v.object({ record: count, content: count, rules: count }), READ_BY_0_2_0),
  /** Starts of nodes at whose addresses nothing responds to it. */
  unreached: v.optional(v.pipe(v.array(shortText), v.maxLength(PEERS_MAX)), []),
  standsLast: v.optional(v.boolean(), false),
  /** Sent along with each request that it hands on, so that the leader knows it for a node. */
  hopKey: v.optional(shortText, ''),
});

export type Announcement = Readonly<v.InferOutput<typeof schema>>;

export const encodeAnnouncement = (announcement: v.InferInput<typeof schema>): Buffer =>
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

/** A node that has said nothing for so long counts no more, */
const GONE_AFTER_MS = 10_000;

/** and after so long it is not shown any more. */
const FORGOTTEN_AFTER_MS = 3_600_000;

export interface Peer extends Announcement {
  /** Milliseconds since its last announcement. */
  readonly silentMs: number;
}

export class Peers {
  /** By their starts. */
  readonly #heard = new Map<string, { readonly announcement: Announcement; readonly atMs: number }>();

  note(announcement: Announcement, nowMs: number): void {
    this.#forget(nowMs);
    if (this.#heard.size < PEERS_MAX || this.#heard.has(announcement.run))
      this.#heard.set(announcement.run, { announcement, atMs: nowMs });
  }

  /** Recently seen nodes, by name. */
  list(nowMs: number): readonly Peer[] {
    return this.#all(nowMs).filter(({ silentMs }) => silentMs <= GONE_AFTER_MS);
  }

  /** Nodes that have said nothing for longer, by name. */
  gone(nowMs: number): readonly Peer[] {
    return this.#all(nowMs).filter(({ silentMs }) => silentMs > GONE_AFTER_MS);
  }

  #all(nowMs: number): readonly Peer[] {
    this.#forget(nowMs);
    return [...this.#heard.values()]
      .map(({ announcement, atMs }) => ({ ...announcement, silentMs: nowMs - atMs }))
      .sort((a, b) => (a.node < b.node ? -1 : 1));
  }

  /** Forgets starts that are over, too: a later one of the same node was seen. */
  #forget(nowMs: number): void {
    const latest = new Map<string, number>();
    for (const { announcement, atMs } of this.#heard.values())
      latest.set(announcement.node, Math.max(atMs, latest.get(announcement.node) ?? 0));
    for (const [run, { announcement, atMs }] of this.#heard) {
      const isOver = nowMs - atMs > GONE_AFTER_MS && atMs < latest.get(announcement.node)!;
      if (isOver || nowMs - atMs > FORGOTTEN_AFTER_MS) this.#heard.delete(run);
    }
  }
}
