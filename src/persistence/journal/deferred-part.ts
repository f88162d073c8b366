/**
 * The beginning of a segment whose frames a start does not hand on, because its state does not depend on them: it is read after the start
 * instead (`verifyPart`), by the same rules.
 *
 * The segment behind it, or the snapshot, has the checksum of its last frame, which through the chain stands for all before it.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { frameEnd } from './frame-format.ts';
import { FrameWalk, readLastEvent } from './frame-reader.ts';
import { type JournalSource, type OpenSegment, withSegment } from './segment-file.ts';
import { type Rest, scanFrames, scanStartOf, type VisitFrame } from './segment-scan.ts';

/** From the header of a segment up to and with a frame. */
export interface JournalPart {
  readonly segment: number;
  /** The end of its last frame. */
  readonly end: number;
  /** Id of the last event in it. */
  readonly lastId: number;
  /** Checksum of that frame; null where it is not known, so that the frames alone vouch for each other. */
  readonly chain: number | null;
}

/** A part that the segment behind it, or the snapshot, vouches for. */
export interface DeferredPart extends JournalPart {
  readonly chain: number;
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
  const walk = new FrameWalk(firstId);
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
