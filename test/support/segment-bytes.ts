/** The bytes of a segment, taken apart by what its headers say alone. */
import assert from 'node:assert/strict';
import { frameEnd, type RawFrame } from '../../src/persistence/journal/frame-format.ts';
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES } from '../../src/persistence/journal/segment.ts';

/** The frames, up to the first one that is not whole. */
export function framesIn(bytes: Buffer): RawFrame[] {
  const header = decodeSegmentHeader(bytes, 'a segment');
  assert(header !== null, 'the segment has a header');
  const frames: RawFrame[] = [];
  for (let at = SEGMENT_HEADER_BYTES; ; at = frameEnd(frames.at(-1)!)) {
    const frame = header.format.readHeader(bytes, at);
    if (frame === null || frameEnd(frame) > bytes.length) return frames;
    frames.push(frame);
  }
}
