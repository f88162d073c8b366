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
