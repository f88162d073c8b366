/**
 * The beginning of a segment that a start does not read, because an index file vouches for it: it is read after the start
 * instead (`checkDeferredPart`), by the same rules.
 *
 * An index file was made of the frames that it covers, and stands under a checksum of its own. It holds the place and the
 * checksum of the last of them, which through the chain stands for all before it; so where that frame is whole and in its
 * place, the file has the right length, and neither a frame nor a segment is missing. What it cannot show is a bit that has flipped
 * before that frame.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { readLeniently } from '../disk/file-system.ts';
import { FRAME_BYTES_MAX } from './frame.ts';
import { FRAME_HEADER_BYTES, frameEnd, isNewer } from './frame-format.ts';
import { peekId } from './frame-payload.ts';
import { FrameWalk, readLastEvent, type WalkStart } from './frame-reader.ts';
import { type JournalSource, type OpenSegment, withSegment } from './segment-file.ts';
import { isBatchStart, type Rest, scanFrames, scanStartOf } from './segment-scan.ts';

/** From the header of a segment up to and with a frame. */
export interface DeferredPart {
  readonly segment: number;
  /** The end of its last frame. */
  readonly end: number;
  /** Checksum of that frame; null where nobody vouches for it, so that the frames alone vouch for each other. */
  readonly chain: number | null;
  /** Id of the last event in it. */
  readonly lastId: number;
}

/** A part of a segment that an index file covers. */
export interface VouchedPart extends DeferredPart {
  readonly chain: number;
  /** The start of its last frame. */
  readonly lastOffset: number;
}

/** The last frame of a part; null where it is not whole, or not what the part says, so that all has to be read. */
export async function lastFrameOf(segment: OpenSegment, part: VouchedPart): Promise<WalkStart | null> {
  const { file, header } = segment;
  const { lastOffset, end, chain } = part;
  const size = await file.size();
  const length = end - lastOffset;
  if (header === null || end > size || length <= 0 || length > FRAME_HEADER_BYTES + FRAME_BYTES_MAX)
    return null;
  const bytes = Buffer.alloc(length);
  const { count, unreadableAt } = await readLeniently(file, bytes, length, lastOffset);
  if (count < length || unreadableAt !== null) return null;
  const raw = header.format.readHeader(bytes, 0);
  if (raw === null || frameEnd(raw) !== bytes.length || isNewer(raw)) return null;
  if (raw.checksum !== chain || header.format.checksum(bytes, 0, raw.payloadBytes) !== chain) return null;
  const frame = { ...raw, offset: lastOffset };
  const id = peekId(bytes.subarray(raw.headerBytes));
  if (id === null || !isBatchStart(raw.batchStart, lastOffset)) return null;
  const last = await readLastEvent(segment, frame);
  return typeof last !== 'string' && last.lastId === part.lastId ? { id, frame } : null;
}

/** Null when all of it is whole. Throws on I/O errors, and where a newer version wrote some of it. */
export async function checkDeferredPart(
  source: JournalSource,
  part: DeferredPart,
  rest?: Rest,
): Promise<DataFolderError | null> {
  return withSegment(source, part.segment, (segment) => checkIn(segment, part, rest));
}

async function checkIn(
  segment: OpenSegment,
  part: DeferredPart,
  rest?: Rest,
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
    (frame, payload) => walk.visit(frame, payload) && frameEnd(frame) < part.end,
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
