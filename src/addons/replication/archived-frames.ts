/**
 * The content of an archived segment: a segment file whose frames are batches of their own, so that the same frames are the
 * same bytes whichever node archived them.
 */
import assert from 'node:assert/strict';
import {
  FRAME_FORMAT,
  FRAME_HEADER_BYTES,
  type FrameBody,
  frameEnd,
  type RawFrame,
  sealFrame,
} from '../../persistence/journal/frame-format.ts';
import { peekId } from '../../persistence/journal/frame-payload.ts';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
} from '../../persistence/journal/segment.ts';
import type { ArchivedSegment } from './archive-index.ts';
import type { ReadArchive } from './file-archive.ts';

/** An archived file does not hold what its name says. */
export class ArchiveDamageError extends Error {
  override readonly name = 'ArchiveDamageError';
}

export const doesNotFollow = ({ name }: ArchivedSegment, id: number): ArchiveDamageError =>
  new ArchiveDamageError(`the archived file ${name} does not follow event ${id}`);

const NO_HEADER = Buffer.alloc(FRAME_HEADER_BYTES);

/** A segment file that grows in memory, frame by frame. */
export class SegmentBuilder {
  readonly firstId: number;
  readonly #pieces: Buffer[];
  bytes = SEGMENT_HEADER_BYTES;
  /** Checksum of the last frame. */
  chain: number;

  /** `chain`: of the frame before event `firstId`. */
  constructor(firstId: number, chain: number) {
    this.firstId = firstId;
    this.chain = chain;
    this.#pieces = [encodeSegmentHeader({ firstId, chain })];
  }

  add({ payload, contentVersion, rules }: FrameBody): void {
    const bytes = Buffer.concat([NO_HEADER, payload]);
    const links = { previous: this.chain, batchStart: this.bytes, contentVersion, rules };
    this.chain = sealFrame(bytes, 0, { payloadBytes: payload.length, ...links });
    this.#pieces.push(bytes);
    this.bytes += bytes.length;
  }

  content(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** A frame of an archived segment, and the id of its first event. */
export interface ArchivedFrame extends RawFrame {
  readonly id: number;
}

/** The frames of an archived segment, all of them verified: the header, each checksum, the chain and what the name says. */
export const framesOf = (bytes: Buffer, segment: ArchivedSegment): readonly ArchivedFrame[] => [
  ...framesIn(bytes, segment),
];

/** Yields the frames of an archived file in turn, then verifies what its name says of the last. */
export function* framesIn(bytes: Buffer, segment: ArchivedSegment): Generator<ArchivedFrame, void> {
  const damaged = (what: string): ArchiveDamageError =>
    new ArchiveDamageError(`the archived file ${segment.name} is damaged: ${what}`);
  const header = decodeSegmentHeader(bytes, segment.name);
  if (header === null || header.firstId !== segment.firstId || header.format !== FRAME_FORMAT)
    throw damaged('its header is not that of its name');
  let isFirst = true;
  let chain = header.chain;
  for (let at = SEGMENT_HEADER_BYTES; at < bytes.length; ) {
    const frame = FRAME_FORMAT.readHeader(bytes, at);
    if (frame === null || frameEnd(frame) > bytes.length) throw damaged(`no whole frame is at offset ${at}`);
    const isGood = FRAME_FORMAT.checksum(bytes, at, frame.payloadBytes) === frame.checksum;
    const id = peekId(payloadOf(bytes, frame));
    if (!isGood || frame.previous !== chain || id === null)
      throw damaged(`the frame at offset ${at} does not follow`);
    if (id < segment.firstId || id > segment.lastId) throw damaged(`it holds event ${id}`);
    if (isFirst && id !== segment.firstId) throw damaged(`it begins with event ${id}`);
    isFirst = false;
    yield { ...frame, id };
    chain = frame.checksum;
    at = frameEnd(frame);
  }
  if (chain !== segment.chain) throw damaged('its last checksum is not that of its name');
}

export const payloadOf = (bytes: Buffer, frame: RawFrame): Buffer =>
  bytes.subarray(frame.offset + frame.headerBytes, frameEnd(frame));

/** The checksum of the frame that ends with event `id`, for every `id` between two frames of the segment. */
export function chainsOf(
  frames: readonly ArchivedFrame[],
  segment: ArchivedSegment,
): ReadonlyMap<number, number> {
  const chains = new Map(frames.map(({ id, previous }) => [id - 1, previous] as const));
  return chains.set(segment.lastId, segment.chain);
}

/** The frames of a file after event `id`. */
export function contentBehind(
  bytes: Buffer,
  frames: readonly ArchivedFrame[],
  { id, chain }: { readonly id: number; readonly chain: number },
): Buffer {
  const builder = new SegmentBuilder(id + 1, chain);
  for (const frame of frames) {
    if (frame.id <= id) continue;
    const { contentVersion, rules } = frame;
    builder.add({ payload: payloadOf(bytes, frame), contentVersion, rules });
  }
  assert(builder.bytes > SEGMENT_HEADER_BYTES, 'a segment that reaches further has frames behind the place');
  return builder.content();
}

export type UseSegment = (bytes: Buffer, segment: ArchivedSegment) => Promise<void> | void;

/** Reads segments of an archive by event. Where several hold one, those that are damaged or gone give way to the others. */
export class SegmentReader {
  readonly #archive: ReadArchive;
  readonly #segments: readonly ArchivedSegment[];
  readonly #failures = new Map<ArchivedSegment, ArchiveDamageError | null>();

  /** `segments`: the first one that holds an event is read first. */
  constructor(archive: ReadArchive, segments: readonly ArchivedSegment[]) {
    this.#archive = archive;
    this.#segments = segments;
  }

  /**
   * Hands one segment that holds event `id` to `use`, which reads on from there or throws `ArchiveDamageError`; then the next call tries
   * another one. False where all are gone. Throws `ArchiveDamageError`, which names each, where all are damaged or gone.
   */
  async tryOne(id: number, use: UseSegment): Promise<boolean> {
    const holding = this.#segments.filter(({ firstId, lastId }) => firstId <= id && id <= lastId);
    const segment = holding.find((one) => !this.#failures.has(one));
    if (segment === undefined) return this.#giveUp(id, holding);
    try {
      const bytes = await this.#archive.get(segment.name);
      if (bytes === null) this.#failures.set(segment, null);
      else await use(bytes, segment);
    } catch (error) {
      if (!(error instanceof ArchiveDamageError)) throw error;
      this.#failures.set(segment, error);
    }
    return true;
  }

  #giveUp(id: number, tried: readonly ArchivedSegment[]): false {
    if (tried.every((segment) => this.#failures.get(segment) === null)) return false;
    const problems = tried.map(
      (segment) => this.#failures.get(segment)?.message ?? `the archived file ${segment.name} is gone`,
    );
    throw new ArchiveDamageError(`no archived file has event ${id} whole: ${problems.join('; ')}`);
  }
}
