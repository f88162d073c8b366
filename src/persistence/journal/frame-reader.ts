/**
 * Reads single frames back from the segment files, for pages of events and for history.
 *
 * Frames that are close to each other are read together, and each group is processed before the next one is read, so
 * memory is bounded by one group or one frame, whichever is larger. Nothing is cached: the
 * operating system keeps the pages, and decoding a page of a hundred events costs less than a millisecond.
 *
 * Checksums are verified again: bytes may go bad after the start, and a wrong event must not be shown as a true one.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import { isMissing, type OpenFile, readLeniently, UNREADABLE } from '../disk/file-system.ts';
import { type Frame, lastEventId, type RecordedFrame } from './frame.ts';
import { type FrameFormat, frameEnd, type RawFrame } from './frame-format.ts';
import { decodePayload, decodePayloadInSteps, peekId } from './frame-payload.ts';
import { SEGMENT_HEADER_BYTES } from './segment.ts';
import { type JournalSource, type OpenSegment, withSegment } from './segment-file.ts';

/** Reading this much unneeded data costs less than another call to the disk. */
const GAP_BYTES_MAX = 32 * 1024;

/**
 * Bounds the buffer of a grouped read, and what is decoded between two turns of the event loop, to about 5 ms; a single
 * larger frame still gets its own buffer.
 */
const GROUP_BYTES_MAX = 256 * 1024;

/** A piece of so few bytes is decoded in a fifth of a millisecond, and waits for no turn. */
const SHORT_BYTES_MAX = 8 * 1024;

/** So much of a larger frame is decoded between two turns: some 4 ms, or one event that is larger. */
const PIECE_BYTES_MAX = 128 * 1024;

/** A frame's extent in a segment file, header included. */
export interface FramePlace {
  readonly segment: number;
  readonly offset: number;
  readonly bytesEnd: number;
  /** The requested events in it, where they are known. */
  readonly ids?: readonly number[];
}

/** The file is not the one of which the index was made. */
const WRONG_PLACE = 'it is not where its index says';

type VisitFrame<Place extends FramePlace> = (frame: RecordedFrame, place: Place) => void;

/** The frame from `offset` to `end` of `bytes`, which must be wholly there and unharmed; in steps, each of which yields the bytes it is through with. */
function* decodeFrameAt(
  bytes: Buffer,
  { offset, end }: { readonly offset: number; readonly end: number },
  format: FrameFormat,
): Generator<number, RecordedFrame | { readonly problem: string }> {
  const raw = format.readHeader(bytes, offset);
  if (raw === null || frameEnd(raw) > bytes.length) return { problem: 'a frame is cut short' };
  if (format.checksum(bytes, offset, raw.payloadBytes) !== raw.checksum) {
    return { problem: 'a checksum does not match' };
  }
  if (frameEnd(raw) !== end) return { problem: WRONG_PLACE };
  const payload = bytes.subarray(offset + format.headerBytes, frameEnd(raw));
  const decoded =
    payload.length > PIECE_BYTES_MAX
      ? yield* decodePayloadInSteps(payload, raw)
      : decodePayload(payload, raw);
  return decoded.problem === null ? decoded.frame : { problem: decoded.problem };
}

export interface FrameReading extends JournalSource {
  /** Whether a segment still belongs to the log. Retention may delete a file just before it would be read. */
  isKept(segment: number): boolean;
  /** Told for how many milliseconds each piece of the work has held the event loop. */
  readonly charge?: ((heldMs: number) => void) | undefined;
  /** Awaited before each piece that is not short. */
  turn?(): Promise<void>;
}

/**
 * Calls `visit` for every place in the order of the files and offsets, in any order given; not for places in a
 * segment whose file was deleted by retention.
 */
export async function readFrames<Place extends FramePlace>(
  reading: FrameReading,
  places: readonly Place[],
  visit: VisitFrame<Place>,
): Promise<void> {
  const groups = groupPlaces(places);
  for (let at = 0; at < groups.length; ) {
    const { segment } = groups[at]!;
    const end = at + groups.slice(at).filter((group) => group.segment === segment).length;
    try {
      await readSegment(reading, groups.slice(at, end), visit);
    } catch (error) {
      if (!isMissing(error) || reading.isKept(segment)) throw error;
    }
    at = end;
  }
}

function readSegment<Place extends FramePlace>(
  source: FrameReading,
  groups: readonly Group<Place>[],
  visit: VisitFrame<Place>,
): Promise<void> {
  const [first] = groups;
  assert(first !== undefined, 'a file is opened for a frame in it');
  return withSegment(source, first.segment, async ({ path, file, header }) => {
    if (header === null) {
      const problem = 'the header of the file is damaged';
      throw unreadableEvent({ id: first.places[0]?.ids?.[0], file: path, offset: 0, problem });
    }
    for (const group of groups) {
      assert(group.segment === first.segment, 'one file is read at a time');
      const bytes = await readExtent(file, path, group);
      if (source.turn !== undefined && bytes.length > SHORT_BYTES_MAX) await source.turn();
      let begunAt = performance.now();
      const charge = (): void => source.charge?.(performance.now() - begunAt);
      for (const place of group.places) {
        const extent = { offset: place.offset - group.offset, end: place.bytesEnd - group.offset };
        const steps = decodeFrameAt(bytes, extent, header.format);
        let step = steps.next();
        for (let restAt = PIECE_BYTES_MAX; step.done !== true; step = steps.next()) {
          if (step.value < restAt) continue;
          restAt = step.value + PIECE_BYTES_MAX;
          charge();
          await source.turn?.();
          begunAt = performance.now();
        }
        const frame = step.value;
        if ('problem' in frame) {
          const { problem } = frame;
          throw unreadableEvent({ id: place.ids?.[0], file: path, offset: place.offset, problem });
        }
        visit(frame, place);
      }
      charge();
    }
  });
}

export interface UnreadableEvent {
  /** Undefined where it is not known which event the place holds. */
  readonly id: number | undefined;
  readonly file: string;
  readonly offset: number;
  readonly problem: string;
}

/** The error for an event that the journal holds, and that cannot be read back from it. */
export function unreadableEvent({ id, file, offset, problem }: UnreadableEvent): DataFolderError {
  const what = id === undefined ? 'An event' : `Event ${id}`;
  return new DataFolderError(`${what} cannot be read back: ${problem}`, {
    file,
    offset,
    advice: ADVICE_DAMAGED,
  });
}

interface Group<Place extends FramePlace> {
  readonly segment: number;
  readonly offset: number;
  bytesEnd: number;
  readonly places: Place[];
}

function groupPlaces<Place extends FramePlace>(places: readonly Place[]): Group<Place>[] {
  const groups: Group<Place>[] = [];
  for (const place of [...places].sort((a, b) => a.segment - b.segment || a.offset - b.offset)) {
    const group = groups.at(-1);
    if (group !== undefined && fits(group, place)) {
      group.places.push(place);
      group.bytesEnd = Math.max(group.bytesEnd, place.bytesEnd);
    } else {
      const { segment, offset, bytesEnd } = place;
      groups.push({ segment, offset, bytesEnd, places: [place] });
    }
  }
  return groups;
}

const fits = (group: Group<FramePlace>, place: FramePlace): boolean =>
  place.segment === group.segment &&
  place.offset - group.bytesEnd <= GAP_BYTES_MAX &&
  place.bytesEnd - group.offset <= GROUP_BYTES_MAX;

async function readExtent(
  file: OpenFile,
  path: string,
  { offset, bytesEnd, places }: Group<FramePlace>,
): Promise<Buffer> {
  if (offset < SEGMENT_HEADER_BYTES || bytesEnd <= offset)
    throw unreadableEvent({ id: places[0]?.ids?.[0], file: path, offset, problem: WRONG_PLACE });
  const bytes = Buffer.allocUnsafe(bytesEnd - offset);
  const { count, unreadableAt } = await readLeniently(file, bytes, bytes.length, offset);
  const badAt = unreadableAt ?? (count < bytes.length ? offset + count : null);
  if (badAt !== null) {
    const problem = unreadableAt === null ? 'the file is too short' : UNREADABLE;
    const id = places.find((place) => place.bytesEnd > badAt)?.ids?.[0];
    throw unreadableEvent({ id, file: path, offset: badAt, problem });
  }
  return bytes;
}

// Checks the frames of a segment beyond their checksums and links: their ids go up, from that of the segment on.

/** Follows the ids of a segment's frames, from the first one, or from one behind damage. */
export class FrameWalk {
  readonly #firstId: number;
  readonly #isResumed: boolean;
  last: RawFrame | null = null;
  /** Id of the first event of that frame. */
  id = 0;
  problem: string | null = null;

  constructor(firstId: number, isResumed = false) {
    assert(firstId > 0, 'the frames of a segment begin with an event');
    this.#firstId = firstId;
    this.#isResumed = isResumed;
  }

  visit(frame: RawFrame, payload: Buffer): boolean {
    assert(this.problem === null, 'a walk ends with the first problem');
    const id = peekId(payload);
    const isFirst = this.last === null && !this.#isResumed;
    this.last = frame;
    if (id === null) this.problem = 'a frame holds no event id';
    else if (isFirst ? id !== this.#firstId : id <= this.id) this.problem = `event ${id} is out of order`;
    else this.id = id;
    return this.problem === null;
  }
}

/** The last event of a frame whose checksum has been verified, and when it was made; or why the frame cannot be decoded. */
export async function readLastEvent(
  { file }: OpenSegment,
  raw: RawFrame,
): Promise<{ readonly lastId: number; readonly at: number } | string> {
  assert(raw.offset >= SEGMENT_HEADER_BYTES, 'a frame lies behind the header of its segment');
  const payload = Buffer.alloc(raw.payloadBytes);
  await file.read(payload, 0, payload.length, raw.offset + raw.headerBytes);
  const decoded = decodePayload(payload, raw);
  if (decoded.problem !== null) return decoded.problem;
  const frame: Frame = decoded.frame;
  return { lastId: lastEventId(frame), at: frame.at };
}
