/** Adds frames to an event index that are not decoded for anything else: at a start, and part by part after it (part-rows.ts). */
import { changesEvents } from '../../domain/state/upgrade.ts';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import type { RawFrame } from '../journal/frame-format.ts';
import { FrameOutline } from '../journal/frame-outline.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import type { OpenSegment } from '../journal/segment-file.ts';
import type { EventIndex } from './event-index.ts';

/** Used for one frame at a time. */
const outline = new FrameOutline();

/** Throws `DataFolderError` where the frame does not follow what is indexed: an index with a gap would hide events silently. */
export function indexFrame(
  index: EventIndex,
  { firstId, path }: Pick<OpenSegment, 'firstId' | 'path'>,
  raw: RawFrame,
  payload: Buffer,
): void {
  const refuse = (problem: string): never => {
    const details = { file: path, offset: raw.offset, lastGoodEventId: index.lastId, advice: ADVICE_DAMAGED };
    throw new DataFolderError(`A frame cannot be read: ${problem}`, details);
  };
  const expectedId = index.count === 0 ? firstId : index.lastId + 1;
  const id = peekId(payload);
  if (id !== expectedId) return refuse(`it does not begin with event ${expectedId}`);
  const position = { segment: firstId, offset: raw.offset, length: raw.headerBytes + raw.payloadBytes };
  if (!changesEvents(raw.contentVersion) && outline.read(payload)) {
    index.addOutline(id, outline, position);
    return;
  }
  const decoded = decodePayload(payload, raw);
  if (decoded.problem !== null) return refuse(decoded.problem);
  if (!changesEvents(raw.contentVersion)) return refuse('its fields are not in their form');
  index.add(decoded.frame, position);
}
