/**
 * Frames in the place of events that are lost for good, as a repair declares them: one event of the type `event-lost` for each.
 *
 * The last frame has the checksum of the last one that is lost, which what lies behind it still names: the next frame, the header of a
 * segment, a snapshot, the mark. And they take up the very bytes of those that are lost, where something follows in the file. So every
 * other frame keeps its bytes, its place and its link, and the true frames fit again once somebody finds a copy.
 *
 * A checksum that is chosen deceives nobody who could be deceived before: CRC-32 is linear, and four bytes make up for all others. What
 * was signed is told by SHA-256 (src/persistence/proof/), which no placeholder has.
 */
import assert from 'node:assert/strict';
import { EVENT_LOST } from '../../domain/state/events.ts';
import { FRAME_BYTES_MAX, type Frame } from './frame.ts';
import { chainAfter, FRAME_HEADER_BYTES, type FrameLink, ownBody } from './frame-format.ts';
import { FrameOutline } from './frame-outline.ts';
import { encodePayload } from './frame-payload.ts';

/** Whether the state has what the events of the frame changed, which are lost; null where the frame declares nothing. */
export function declaresLost({ events }: Frame): boolean | null {
  const [first] = events;
  if (first?.type !== EVENT_LOST) return null;
  return Array.isArray(first.hidden) && first.hidden[0] === true;
}

const outline = new FrameOutline();

/** Whether the frame with this payload declares events lost. */
export const isPlaceholder = (payload: Buffer): boolean =>
  payload.includes(EVENT_LOST) && outline.read(payload) && outline.names(0).type === EVENT_LOST;

/** A part of a gap that ends with a known place. */
export interface GapPart {
  readonly toId: number;
  /** The checksum that the place is known by; null where nothing names it. */
  readonly checksum: number | null;
  /** Whether the state has the changes. */
  readonly inState: boolean;
}

export interface Gap {
  readonly fromId: number;
  /** The parts by their events; the last one ends the gap. */
  readonly parts: readonly GapPart[];
  /** The time that the events get, in milliseconds since 1970: that of the event before. */
  readonly at: number;
  /** The bytes that the frames take up, headers included; null where nothing follows in their file. */
  readonly bytes: number | null;
}

/** Keeps a frame to some 80 KB, and a reader's pieces of work short. */
const EVENTS_PER_FRAME = 1_000;

/** `chain`: the checksum of the frame before. Null where so many events do not fit into so few bytes. */
export function gapFrames({ fromId, parts, at, bytes }: Gap, chain: number): readonly FrameLink[] | null {
  assert(parts.length > 0, 'a gap has a part');
  const frames = parts.flatMap((part, index) =>
    framesOf((parts[index - 1]?.toId ?? fromId - 1) + 1, part, at),
  );
  let spare =
    bytes === null
      ? 0
      : bytes - frames.reduce((sum, { payload }) => sum + FRAME_HEADER_BYTES + payload.length, 0);
  if (spare < 0) return null;
  const links: FrameLink[] = [];
  let previous = chain;
  for (const { id, payload, checksum } of frames) {
    const padding = Math.min(spare, FRAME_BYTES_MAX - payload.length);
    spare -= padding;
    const body = ownBody(padded(payload, padding));
    const sealed =
      checksum === null ? chainAfter(previous, body) : forceChecksum(body.payload, previous, checksum);
    links.push({ ...body, id, previous, checksum: sealed });
    previous = sealed;
  }
  return spare > 0 ? null : links;
}

interface Draft {
  readonly id: number;
  readonly payload: Buffer;
  readonly checksum: number | null;
}

function framesOf(fromId: number, { toId, checksum, inState }: GapPart, at: number): readonly Draft[] {
  assert(toId >= fromId, 'each part of a gap has an event');
  const drafts: Draft[] = [];
  for (let id = fromId; id <= toId; id += EVENTS_PER_FRAME) {
    const count = Math.min(EVENTS_PER_FRAME, toId - id + 1);
    const payload = Buffer.from(encodePayload(placeholder(id, count, { at, inState })));
    drafts.push({ id, payload, checksum: id + count > toId ? checksum : null });
  }
  return drafts;
}

/** A number that is as long as any that takes its place. */
const SEAL = 0xffff_ffff;

function placeholder(id: number, count: number, { at, inState }: { at: number; inState: boolean }): Frame {
  assert(count > 0 && count <= EVENTS_PER_FRAME, 'a placeholder stands for a few events');
  const nothing = { project: null, featureName: null, environment: null, data: null, preData: null };
  const event = { type: EVENT_LOST, ...nothing, hidden: [inState] };
  const events = Array.from({ length: count }, () => event);
  return {
    id,
    at,
    by: '?',
    userId: 0,
    events: [...events.slice(1), { ...event, hidden: [inState, '', SEAL] }],
  };
}

/** From the end of the payload: an empty text, and a number of four bytes behind its first. */
const PAD_FROM_END = 1 + 5;
const SEAL_FROM_END = 4;
const TEXT_32 = 0xdb;
const SHORT_TEXT = 0xa0;
const SHORT_TEXT_MAX = 31;

/** The payload with so many bytes more, which no reader is shown. */
function padded(payload: Buffer, padding: number): Buffer {
  if (padding === 0) return payload;
  const padAt = payload.length - PAD_FROM_END;
  assert(payload[padAt] === SHORT_TEXT, 'a placeholder ends with an empty text and a number');
  const text = Buffer.alloc(1 + padding, ' ');
  if (padding <= SHORT_TEXT_MAX) text[0] = SHORT_TEXT + padding;
  else {
    text[0] = TEXT_32;
    text.writeUInt32BE(padding - 4, 1);
  }
  const longer = Buffer.concat([payload.subarray(0, padAt), text, payload.subarray(padAt + 1)]);
  assert(longer.length === payload.length + padding, 'padding makes a payload exactly as long as is needed');
  return longer;
}

/** Chooses the last four bytes of the payload so that its frame has this checksum, which is returned. */
function forceChecksum(payload: Buffer, previous: number, checksum: number): number {
  const sealAt = payload.length - SEAL_FROM_END;
  assert(payload.readUInt32LE(sealAt) === SEAL, 'a placeholder ends with four bytes that mean nothing');
  payload.writeUInt32LE(0, sealAt);
  // Both registers are four bytes behind the same beginning, so they differ by what these four bytes do.
  const difference = stepBack((chainAfter(previous, ownBody(payload)) ^ checksum) >>> 0);
  payload.writeUInt32LE(difference, sealAt);
  assert(chainAfter(previous, ownBody(payload)) === checksum, 'four bytes choose a checksum');
  return checksum;
}

const POLYNOMIAL = 0xed_b8_83_20;

/** The four bytes, as a little-endian number, that change a checksum by so much (RFC 1952 §8, run backwards). */
function stepBack(change: number): number {
  let rest = change;
  for (let bit = 0; bit < 32; bit += 1)
    rest = (rest & 0x8000_0000) !== 0 ? (((rest ^ POLYNOMIAL) << 1) | 1) >>> 0 : (rest << 1) >>> 0;
  return rest;
}
