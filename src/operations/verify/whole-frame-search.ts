/** Finds the next intact frame behind damaged bytes. */
import type { OpenFile } from '../../persistence/disk/file-system.ts';
import {
  FRAME_HEADER_BYTES,
  frameChecksum,
  isPayloadLength,
  type RawFrame,
  readFrameHeader,
} from '../../persistence/journal/frame.ts';
import { beginsLikePayload, PAYLOAD_MARK } from '../../persistence/journal/frame-payload.ts';
import { SEGMENT_HEADER_BYTES } from '../../persistence/journal/segment.ts';
import { CHUNK_BYTES } from '../../persistence/journal/segment-scan.ts';

/** What has to be seen of a frame before its payload is worth reading. */
const HEAD_BYTES = FRAME_HEADER_BYTES + 1 + PAYLOAD_MARK.length;

/**
 * The first whole frame at `from` or behind it; null when there is none. Only places where the payload's first bytes
 * stand are looked at, so that noise costs no checksums.
 */
export async function findWholeFrame(file: OpenFile, from: number): Promise<RawFrame | null> {
  const size = await file.size();
  const window = Buffer.allocUnsafe(CHUNK_BYTES);
  const overlap = PAYLOAD_MARK.length - 1;
  for (let start = from; start < size; start += CHUNK_BYTES - overlap) {
    const count = await file.read(window, 0, Math.min(CHUNK_BYTES, size - start), start);
    const bytes = window.subarray(0, count);
    for (let at = bytes.indexOf(PAYLOAD_MARK); at >= 0; at = bytes.indexOf(PAYLOAD_MARK, at + 1)) {
      const offset = start + at - 1 - FRAME_HEADER_BYTES;
      const frame = offset < from ? null : await wholeFrameAt(file, offset, size);
      if (frame !== null) return frame;
    }
  }
  return null;
}

async function wholeFrameAt(file: OpenFile, offset: number, size: number): Promise<RawFrame | null> {
  const head = Buffer.alloc(HEAD_BYTES);
  if ((await file.read(head, 0, HEAD_BYTES, offset)) < HEAD_BYTES) return null;
  const header = readFrameHeader(head, 0);
  if (header === null || !isPayloadLength(header.payloadBytes)) return null;
  if (header.batchStart < SEGMENT_HEADER_BYTES || header.batchStart > offset) return null;
  const frameBytes = FRAME_HEADER_BYTES + header.payloadBytes;
  if (offset + frameBytes > size || !beginsLikePayload(head, FRAME_HEADER_BYTES)) return null;
  const bytes = Buffer.allocUnsafe(frameBytes);
  if ((await file.read(bytes, 0, frameBytes, offset)) < frameBytes) return null;
  if (frameChecksum(bytes, 0, header.payloadBytes) !== header.checksum) return null;
  return { ...header, offset };
}
