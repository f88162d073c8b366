/** Checks the frames of a segment beyond their checksums and links: their ids go up, from that of the segment on. */
import { type Boundary, type Frame, lastEventId } from './frame.ts';
import type { RawFrame } from './frame-format.ts';
import { decodePayload, peekId } from './frame-payload.ts';
import type { OpenSegment } from './segment-file.ts';

/** The beginning of a walk: before the first frame unless given. */
export interface WalkStart {
  /** Id of the first event of the frame before, and that frame. */
  readonly id: number;
  readonly frame: RawFrame;
}

/** Follows the ids of a segment's frames, and notes the boundaries that were asked for. */
export class FrameWalk {
  readonly #firstId: number;
  readonly #wantedIds: ReadonlySet<number>;
  readonly #boundaries: Map<number, Boundary>;
  #lastFirstId = 0;
  last: RawFrame | null = null;
  problem: string | null = null;

  constructor(firstId: number, wantedIds: ReadonlySet<number>, boundaries: Map<number, Boundary>) {
    this.#firstId = firstId;
    this.#wantedIds = wantedIds;
    this.#boundaries = boundaries;
  }

  /** Goes on behind a frame that needs no visit. */
  passTo({ id, frame }: WalkStart): void {
    this.#lastFirstId = id;
    this.last = frame;
  }

  visit(frame: RawFrame, payload: Buffer): boolean {
    const id = peekId(payload);
    const follows = this.last === null ? id === this.#firstId : id !== null && id > this.#lastFirstId;
    this.last = frame;
    if (id === null) return this.#stop('a frame holds no event id');
    if (!follows) return this.#stop(`event ${id} is out of order`);
    if (this.#wantedIds.has(id - 1)) {
      const { offset, previous: chain } = frame;
      this.#boundaries.set(id - 1, { segment: this.#firstId, offset, chain });
    }
    this.#lastFirstId = id;
    return true;
  }

  #stop(problem: string): false {
    this.problem = problem;
    return false;
  }
}

/** The last event of a frame whose checksum has been verified, and when it was made; or why the frame cannot be decoded. */
export async function readLastEvent(
  { file }: OpenSegment,
  raw: RawFrame,
): Promise<{ readonly lastId: number; readonly at: number } | string> {
  const payload = Buffer.alloc(raw.payloadBytes);
  await file.read(payload, 0, payload.length, raw.offset + raw.headerBytes);
  const decoded = decodePayload(payload, raw);
  if (decoded.problem !== null) return decoded.problem;
  const frame: Frame = decoded.frame;
  return { lastId: lastEventId(frame), at: frame.at };
}
