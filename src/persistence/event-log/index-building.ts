/**
 * Fills an event index from the index files, and from the segment files for everything that those do not cover.
 *
 * It covers what a start does not replay: the replayed frames are added one by one, so that they are not read twice. A
 * half-written frame at the very end is ignored. Anything else that does not match stops the build, since an index with a
 * gap would hide events silently.
 */
import assert from 'node:assert/strict';
import { changesEvents } from '../../domain/state/upgrade.ts';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import type { Frame } from '../journal/frame.ts';
import { frameEnd, type RawFrame } from '../journal/frame-format.ts';
import { FrameOutline } from '../journal/frame-outline.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import type { ReplayExtent } from '../journal/journal.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { judgeScanEnd } from '../journal/segment-end.ts';
import { type JournalSource, type OpenSegment, withSegment } from '../journal/segment-file.ts';
import { type ScanStart, scanFrames, scanStartOf } from '../journal/segment-scan.ts';
import { EventColumns, type SegmentView } from './event-columns.ts';
import type { EventIndex } from './event-index.ts';

/** Columns restored from an index file, and where decoding has to continue. */
export interface Restored {
  readonly columns: EventColumns;
  readonly chain: number;
  /** False where only the places of the events are known so far. */
  readonly isNamed: boolean;
}

export interface BuildOptions extends JournalSource {
  readonly index: EventIndex;
  /**
   * Restores from the index file of this segment, whose last frame ends at `end` or before; null when there is none that
   * can be trusted. `mayWait`: whether nothing is going to be added to the segment.
   */
  restore(segment: OpenSegment, end: number, mayWait: boolean): Promise<Restored | null>;
}

/** The place of a segment in the journal. */
interface Place {
  readonly isNewest: boolean;
  /** The frames behind it are not read. */
  readonly stopAt: number;
  /** No frame ends behind it. */
  readonly end: number;
}

/**
 * Covers what lies before the frames that are going to be replayed, and so many of these as the index file of their
 * first segment covers.
 */
export async function buildIndexBefore(
  { segments, from, to }: ReplayExtent,
  options: BuildOptions,
): Promise<void> {
  for (const firstId of segments.filter((id) => id <= from.segment)) {
    const isNewest = firstId === to.segment;
    const stopAt = firstId === from.segment ? from.offset : Number.POSITIVE_INFINITY;
    const end = isNewest ? to.offset : Number.POSITIVE_INFINITY;
    await withSegment(options, firstId, (segment) =>
      indexSegment(options, segment, { isNewest, stopAt, end }),
    );
  }
}

async function indexSegment(options: BuildOptions, segment: OpenSegment, place: Place): Promise<void> {
  const { firstId, path, header } = segment;
  const { index } = options;
  assert(header?.firstId === firstId, `${path} begins with a header of its own`);
  const restored = await options.restore(segment, place.end, !place.isNewest);
  const columns = index.beginSegment(
    restored?.columns ?? new EventColumns(firstId, SEGMENT_HEADER_BYTES),
    restored?.isNamed,
  );
  if (columns.bytesEnd >= place.stopAt) return;
  const start = { ...scanStartOf(header), offset: columns.bytesEnd };
  const read = frameNames(path, index);
  const end = await scanFrames(
    segment,
    restored === null ? start : { ...start, chain: restored.chain },
    (raw, payload) => {
      const position = { segment: firstId, offset: raw.offset, length: raw.headerBytes + raw.payloadBytes };
      const { id, frame, outline } = read(raw, payload);
      if (frame !== null) index.add(frame, position);
      else index.addOutline(id, outline, position);
      return frameEnd(raw) < place.stopAt;
    },
  );
  assert(columns.bytesEnd === end.offset, 'the index ends where the last whole frame does');
  const judged = await judgeScanEnd(segment, end, place.isNewest);
  if (judged.kind !== 'damage') return;
  const details = {
    file: path,
    offset: judged.offset,
    lastGoodEventId: index.lastId,
    advice: ADVICE_DAMAGED,
  };
  throw new DataFolderError(`The journal cannot be indexed: ${judged.what}`, details);
}

type FrameNames =
  | { readonly id: number; readonly frame: Frame; readonly outline: null }
  | { readonly id: number; readonly frame: null; readonly outline: FrameOutline };

/** Reads what the index has to know of each frame. */
function frameNames(path: string, index: EventIndex): (raw: RawFrame, payload: Buffer) => FrameNames {
  const outline = new FrameOutline();
  return (raw, payload) => {
    if (changesEvents(raw.contentVersion)) {
      const frame = decode(payload, raw, { path, index });
      return { id: frame.id, frame, outline: null };
    }
    const id = peekId(payload);
    if (id === null || !outline.read(payload)) throw unreadable(payload, raw, { path, index });
    return { id, frame: null, outline };
  };
}

/**
 * Names the rows of a segment whose index file was there when its places were read, and is not any more. Awaits `pause` after each piece
 * of work.
 */
export async function nameFromSegment(
  { segment, index }: { readonly segment: OpenSegment; readonly index: EventIndex },
  view: SegmentView,
  pause: () => Promise<void>,
): Promise<void> {
  const { path, header } = segment;
  assert(header !== null && header.firstId === view.firstId, `${path} begins with a header of its own`);
  const read = frameNames(path, index);
  let start: ScanStart = scanStartOf(header);
  let row = 0;
  while (row < view.count) {
    let frames = 0;
    const end = await scanFrames(segment, start, (raw, payload) => {
      const { frame, outline } = read(raw, payload);
      const by = index.names.authors.codeOf(frame === null ? outline.by : frame.by);
      const events = frame === null ? outline.eventCount : frame.events.length;
      for (let event = 0; event < events; event += 1, row += 1) {
        assert(
          view.columns.offset[row] === raw.offset,
          `event ${view.firstId + row} lies where the index says`,
        );
        index.nameRow(view, row, { ...(frame === null ? outline.names(event) : frame.events[event]!), by });
      }
      frames += 1;
      return row < view.count && frames < FRAMES_PER_SLICE;
    });
    if (frames < FRAMES_PER_SLICE && row < view.count) {
      const lastGoodEventId = view.firstId + row - 1;
      const details = { file: path, offset: end.offset, lastGoodEventId, advice: ADVICE_DAMAGED };
      const what = end.problem?.what ?? 'it ends too early';
      throw new DataFolderError(`The journal cannot be indexed: ${what}`, details);
    }
    start = { format: header.format, offset: end.offset, chain: end.chain };
    await pause();
  }
}

/** Frames read between two turns of the event loop: some milliseconds' worth. */
const FRAMES_PER_SLICE = 1_000;

interface Around {
  readonly path: string;
  readonly index: EventIndex;
}

function decode(payload: Buffer, raw: RawFrame, around: Around): Frame {
  const decoded = decodePayload(payload, raw);
  if (decoded.problem !== null) throw unreadable(payload, raw, around);
  return decoded.frame;
}

function unreadable(payload: Buffer, raw: RawFrame, { path, index }: Around): DataFolderError {
  const problem = decodePayload(payload, raw).problem ?? 'its fields are not in their form';
  const details = { file: path, offset: raw.offset, lastGoodEventId: index.lastId, advice: ADVICE_DAMAGED };
  return new DataFolderError(`A frame cannot be read: ${problem}`, details);
}
