/**
 * A segment file made anew, of frames from elsewhere: a backup, the folder of another node, the archive of a cluster. Each has to be the
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
  const segment = new LinkedSegment(file, firstId);
  try {
    const take = (frame: FrameLink): void => {
      if (!segment.add(frame)) throw new ForeignFrameError(frame.id, 'it belongs to another history');
    };
    await fill({ take, rest: () => segment.flush() });
    await segment.flush();
    return await segment.sync();
  } finally {
    await segment.close();
  }
}

/** The file, frame by frame. Each gets a place of its own, and keeps its checksum, which no other frame has there. */
class LinkedSegment {
  readonly #file: OpenFile;
  readonly #firstId: number;
  #pieces: Buffer[] = [];
  #writtenBytes = 0;
  #offset = SEGMENT_HEADER_BYTES;
  #chain: number | null = null;

  /** `file` is empty, and closed by `close`. */
  constructor(file: OpenFile, firstId: number) {
    this.#file = file;
    this.#firstId = firstId;
  }

  /** False where the frame is not the one that followed. */
  add({ payload, previous, checksum, contentVersion, rules }: FrameLink): boolean {
    if (this.#chain === null)
      this.#pieces.push(encodeSegmentHeader({ firstId: this.#firstId, chain: previous }));
    const bytes = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), payload]);
    const links = { previous: this.#chain ?? previous, batchStart: this.#offset, contentVersion, rules };
    if (sealFrame(bytes, 0, { payloadBytes: payload.length, ...links }) !== checksum) return false;
    this.#pieces.push(bytes);
    this.#offset += bytes.length;
    this.#chain = checksum;
    return true;
  }

  /** Writes what was added, so that no more of the file is in memory than was added since. */
  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    await writeFully(this.#file, bytes, this.#writtenBytes);
    this.#writtenBytes += bytes.length;
  }

  /** Returns the checksum of the last frame, once the file is on disk. */
  async sync(): Promise<number> {
    assert(
      this.#chain !== null && this.#writtenBytes === this.#offset,
      'a segment made anew has a frame, and all of them are written',
    );
    await this.#file.sync();
    return this.#chain;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
