/**
 * A segment file restored from frames elsewhere: a backup, the folder of another node, the archive of a cluster. Each has to be the
 * very frame that stood there, which the chain of checksums proves, from the frame before the segment to the one behind it.
 */
import assert from 'node:assert/strict';
import type { OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';
import { FRAME_HEADER_BYTES, type FrameLink, sealFrame } from './frame-format.ts';
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES } from './segment.ts';
import type { Rest } from './segment-scan.ts';

/** A frame that is not the one that stood there. */
export class ForeignFrameError extends Error {
  override readonly name = 'ForeignFrameError';
  readonly id: number;

  constructor(id: number, what: string) {
    super(`event ${id} is not the one that was here: ${what}`);
    this.id = id;
  }
}

/** Frames of events from elsewhere. */
export interface FrameSource {
  readonly name: string;
  /** Hands on the frames that hold the events of the range, in order. Resolves with whether it has all of them. */
  read(reading: RangeReading): Promise<boolean>;
}

export interface RangeReading {
  /** The first event of a frame, and the last event of one. */
  readonly from: number;
  readonly to: number;
  take(frame: FrameLink): void;
  /** Awaited between pieces of what is read. */
  readonly rest: Rest;
}

export interface SegmentMending {
  readonly firstId: number;
  /** An empty file, which is on disk and closed at the end. */
  readonly file: OpenFile;
  /** Hands on all frames of the segment, in order. */
  fill(reading: Pick<RangeReading, 'take' | 'rest'>): Promise<void>;
}

/** Returns the checksum of the last frame. Throws `ForeignFrameError` for a frame that is not the one that stood there. */
export async function writeMended({ firstId, file, fill }: SegmentMending): Promise<number> {
  let pieces: Buffer[] = [];
  let writtenBytes = 0;
  let offset = SEGMENT_HEADER_BYTES;
  let chain = null as number | null;
  /** Gives the frame its own place. It keeps its checksum, which no other frame has there. */
  const take = ({ id, payload, previous, checksum, contentVersion, rules }: FrameLink): void => {
    if (chain === null) pieces.push(encodeSegmentHeader({ firstId, chain: previous }));
    const bytes = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
    const links = { previous: chain ?? previous, batchStart: offset, contentVersion, rules };
    if (sealFrame(bytes, 0, { payloadBytes: payload.length, ...links }) !== checksum)
      throw new ForeignFrameError(id, 'it belongs to another history');
    pieces.push(bytes);
    offset += bytes.length;
    chain = checksum;
  };
  /** Writes what was taken, so that no more of the file is in memory than was taken since. */
  const rest = async (): Promise<void> => {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    await writeFully(file, bytes, writtenBytes);
    writtenBytes += bytes.length;
  };
  try {
    await fill({ take, rest });
    await rest();
    assert(
      chain !== null && writtenBytes === offset,
      'a segment made anew has a frame, and all of them are written',
    );
    await file.sync();
    return chain;
  } finally {
    await file.close();
  }
}
