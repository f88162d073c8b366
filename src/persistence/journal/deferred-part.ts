/**
 * The beginning of a segment that a start does not read, because its state does not depend on it: it is read after the start
 * instead (`verifyPart`), by the same rules.
 *
 * The segment behind it, or the snapshot, has the checksum of its last frame, which through the chain stands for all before it. So
 * where that frame is whole, and the last of its file or of what the snapshot holds, neither a frame nor a segment is missing. What
 * this cannot show is a bit that has flipped before that frame.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { readLeniently } from '../disk/file-system.ts';
import { frameEnd, isNewer, type RawFrame } from './frame-format.ts';
import { peekId } from './frame-payload.ts';
import { FrameWalk, readLastEvent, type WalkStart } from './frame-reader.ts';
import { SEGMENT_HEADER_BYTES } from './segment.ts';
import { type JournalSource, type OpenSegment, withSegment } from './segment-file.ts';
import { isBatchStart, type Rest, scanFrames, scanStartOf, type VisitFrame } from './segment-scan.ts';

/** From the header of a segment up to and with a frame. */
export interface JournalPart {
  readonly segment: number;
  /** The end of its last frame. */
  readonly end: number;
  /** Id of the last event in it. */
  readonly lastId: number;
  /** Checksum of that frame; null where nobody vouches for it, so that the frames alone vouch for each other. */
  readonly chain: number | null;
}

/** A part that the segment behind it, or the snapshot, vouches for. */
export interface DeferredPart extends JournalPart {
  readonly chain: number;
}

/** A part that is left unread, and its last frame, which is not. */
export interface Deferred {
  readonly part: DeferredPart;
  readonly last: WalkStart;
}

/** The part of the segment up to the frame with this checksum, whose last event this is; null where there is no such frame, so that all has to be read. */
export async function deferredPart(
  segment: OpenSegment,
  { lastId, chain }: Pick<DeferredPart, 'lastId' | 'chain'>,
): Promise<Deferred | null> {
  const frame = await findFrame(segment, chain);
  if (frame === null || isNewer(frame) || !isBatchStart(frame.batchStart, frame.offset)) return null;
  const { file, header, firstId } = segment;
  const bytes = Buffer.alloc(frame.headerBytes + frame.payloadBytes);
  const { count, unreadableAt } = await readLeniently(file, bytes, bytes.length, frame.offset);
  if (count < bytes.length || unreadableAt !== null) return null;
  if (header?.format.checksum(bytes, 0, frame.payloadBytes) !== chain) return null;
  const id = peekId(bytes.subarray(frame.headerBytes));
  const last = await readLastEvent(segment, frame);
  if (id === null || typeof last === 'string' || last.lastId !== lastId) return null;
  return { part: { segment: firstId, end: frameEnd(frame), lastId, chain }, last: { id, frame } };
}

/** The frame is mostly the last one of its file. */
const FIRST_WINDOW_BYTES = 1024;
const WINDOW_BYTES_MAX = 1024 * 1024;

/** Looks for the header of the last frame with this checksum, from the end of the file. */
async function findFrame({ file, header }: OpenSegment, checksum: number): Promise<RawFrame | null> {
  if (header === null) return null;
  const { format } = header;
  const wanted = Buffer.alloc(4);
  wanted.writeUInt32LE(checksum);
  const size = await file.size();
  let windowBytes = FIRST_WINDOW_BYTES;
  for (let to = size; to > SEGMENT_HEADER_BYTES; ) {
    const from = Math.max(to - windowBytes, SEGMENT_HEADER_BYTES);
    // A header may begin in this window and end in the one behind it.
    const bytes = Buffer.alloc(Math.min(to + format.headerBytes - 1, size) - from);
    const { count, unreadableAt } = await readLeniently(file, bytes, bytes.length, from);
    if (count < bytes.length || unreadableAt !== null) return null;
    for (let at = bytes.length; at > 0; ) {
      at = bytes.lastIndexOf(wanted, at - 1);
      const raw = at < 0 ? null : format.readHeader(bytes, at - format.checksumAt);
      if (raw?.checksum === checksum && from + frameEnd(raw) <= size)
        return { ...raw, offset: from + raw.offset };
    }
    to = from;
    windowBytes = Math.min(windowBytes * 4, WINDOW_BYTES_MAX);
  }
  return null;
}

export interface PartReading {
  /** Called for each frame that is whole. */
  readonly visit?: VisitFrame | undefined;
  readonly rest?: Rest | undefined;
}

/** Null when all of it is whole. Throws on I/O errors, and where a newer version wrote some of it. */
export async function verifyPart(
  source: JournalSource,
  part: JournalPart,
  { visit, rest }: PartReading = {},
): Promise<DataFolderError | null> {
  return withSegment(source, part.segment, (segment) => verifyIn(segment, part, { visit, rest }));
}

async function verifyIn(
  segment: OpenSegment,
  part: JournalPart,
  { visit, rest }: PartReading,
): Promise<DataFolderError | null> {
  const { path: file, firstId, header } = segment;
  let lastGoodEventId = firstId - 1;
  const damaged = (offset: number, what: string): DataFolderError =>
    new DataFolderError(`The journal is damaged: ${what}`, {
      ...{ file, offset, lastGoodEventId, advice: ADVICE_DAMAGED },
    });
  if (header?.firstId !== firstId) return damaged(0, 'the header of a journal file is damaged');
  const walk = new FrameWalk(firstId, new Set(), new Map());
  const end = await scanFrames(
    segment,
    scanStartOf(header),
    (frame, payload) => {
      if (!walk.visit(frame, payload)) return false;
      visit?.(frame, payload);
      return frameEnd(frame) < part.end;
    },
    rest,
  );
  if (walk.problem !== null) return damaged(walk.last?.offset ?? 0, walk.problem);
  const last = walk.last === null ? null : await readLastEvent(segment, walk.last);
  if (typeof last === 'string') return damaged(walk.last?.offset ?? 0, last);
  if (last !== null) lastGoodEventId = last.lastId;
  if (end.problem !== null) return damaged(end.offset, end.problem.what);
  const isOther = part.chain !== null && end.chain !== part.chain;
  if (end.offset !== part.end || isOther || lastGoodEventId !== part.lastId)
    return damaged(end.offset, 'a file is not the one that the server started with');
  assert(lastGoodEventId >= firstId, 'a part holds an event');
  return null;
}
