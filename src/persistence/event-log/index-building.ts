/**
 * Fills an event index from the segment files: at a start for what is neither replayed nor left for later, and part by part after it
 * (part-rows.ts).
 *
 * A half-written frame at the very end is ignored. Anything else that does not match stops the build, since an index with a
 * gap would hide events silently.
 */
import assert from 'node:assert/strict';
import { changesEvents } from '../../domain/state/upgrade.ts';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { frameEnd } from '../journal/frame-format.ts';
import { FrameOutline } from '../journal/frame-outline.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import type { ReplayExtent } from '../journal/journal.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { judgeScanEnd } from '../journal/segment-end.ts';
import { type JournalSource, type OpenSegment, withSegment } from '../journal/segment-file.ts';
import { scanFrames, scanStartOf, type VisitFrame } from '../journal/segment-scan.ts';
import { EventColumns } from './event-columns.ts';
import type { EventIndex } from './event-index.ts';

interface BuildOptions extends JournalSource {
  readonly index: EventIndex;
}

/** Covers what lies before the frames that are going to be replayed. The rows of deferred parts are to be filled in later. */
export async function buildIndexBefore(extent: ReplayExtent, options: BuildOptions): Promise<void> {
  for (const firstId of extent.segments.filter((id) => id <= extent.from.segment))
    await withSegment(options, firstId, (segment) => indexSegment(options.index, segment, extent));
}

async function indexSegment(
  index: EventIndex,
  segment: OpenSegment,
  { from, to, deferred }: ReplayExtent,
): Promise<void> {
  const { firstId, path, header } = segment;
  assert(header?.firstId === firstId, `${path} begins with a header of its own`);
  const part = deferred.find((one) => one.segment === firstId);
  const columns = part ? EventColumns.unread(part) : new EventColumns(firstId, SEGMENT_HEADER_BYTES);
  index.beginSegment(columns);
  const stopAt = firstId === from.segment ? from.offset : Number.POSITIVE_INFINITY;
  if (columns.bytesEnd >= stopAt) return;
  const first = scanStartOf(header);
  const start = part ? { ...first, offset: part.end, chain: part.chain } : first;
  const visit = frameIndexer(index, segment);
  const end = await scanFrames(segment, start, (raw, payload) => {
    visit(raw, payload);
    return frameEnd(raw) < stopAt;
  });
  assert(columns.bytesEnd === end.offset, 'the index ends where the last whole frame does');
  const judged = await judgeScanEnd(segment, end, firstId === to.segment);
  if (judged.kind !== 'damage') return;
  const details = {
    file: path,
    offset: judged.offset,
    lastGoodEventId: index.lastId,
    advice: ADVICE_DAMAGED,
  };
  throw new DataFolderError(`The journal cannot be indexed: ${judged.what}`, details);
}

/** Adds each frame of the segment, which has begun in the index. */
export function frameIndexer(
  index: EventIndex,
  { firstId, path }: Pick<OpenSegment, 'firstId' | 'path'>,
): VisitFrame {
  const outline = new FrameOutline();
  return (raw, payload) => {
    const refuse = (problem: string): never => {
      const details = {
        file: path,
        offset: raw.offset,
        lastGoodEventId: index.lastId,
        advice: ADVICE_DAMAGED,
      };
      throw new DataFolderError(`A frame cannot be read: ${problem}`, details);
    };
    const id = peekId(payload);
    if (id !== index.lastId + 1) return refuse(`it does not begin with event ${index.lastId + 1}`);
    const position = { segment: firstId, offset: raw.offset, length: raw.headerBytes + raw.payloadBytes };
    if (!changesEvents(raw.contentVersion) && outline.read(payload)) {
      index.addOutline(id, outline, position);
      return;
    }
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null) return refuse(decoded.problem);
    if (!changesEvents(raw.contentVersion)) return refuse('its fields are not in their form');
    index.add(decoded.frame, position);
  };
}
