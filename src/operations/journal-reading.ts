/**
 * Reads the frames of a journal in order, from any event on, while a server may be appending to it. It changes
 * nothing. Every frame on the way, even a skipped one, is verified and must follow the previous one.
 *
 * The end of the last segment may be a write that is under way, or that a crash interrupted. That is not damage, and
 * reading ends before it. Anything else that is wrong is a `DataFolderError` that names the file and the offset.
 */
import { join } from 'node:path';
import { askServer } from '../control/control-client.ts';
import { ADVICE_DAMAGED, DataFolderError, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { readDurableMark } from '../persistence/journal/durable-mark.ts';
import { type Boundary, type Frame, lastEventId, type RecordedFrame } from '../persistence/journal/frame.ts';
import { frameEnd, type RawFrame } from '../persistence/journal/frame-format.ts';
import { decodePayload, peekId } from '../persistence/journal/frame-payload.ts';
import { segmentFileName } from '../persistence/journal/segment.ts';
import { judgeMissingHeader, judgeScanEnd, type SegmentEnd } from '../persistence/journal/segment-end.ts';
import {
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../persistence/journal/segment-file.ts';
import { type Rest, scanFrames, scanStartOf, type VisitFrame } from '../persistence/journal/segment-scan.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';
import { listSnapshots } from '../persistence/snapshots/snapshot-files.ts';
import { OperationError } from './operation-error.ts';

/** A frame, and where it lies. `raw.previous` is the checksum of the frame before it. */
export interface FoundFrame {
  readonly frame: RecordedFrame;
  readonly raw: RawFrame;
  readonly segment: number;
  /** Valid during the visit only. */
  readonly payload: Buffer;
}

export interface ReadOptions {
  /** Frames whose first event is newer than this are visited; it has to be the last event of a frame, or 0. */
  readonly afterId: number;
  /** Return false to stop after this frame. */
  visit(found: FoundFrame): boolean | undefined;
  /** Awaited now and then between frames. */
  readonly rest?: Rest;
}

export interface ReadEnd {
  /** The last event visited; `afterId` when there was none. */
  readonly lastId: number;
  /** The boundary after the last frame visited; null when there was none. */
  readonly boundary: Boundary | null;
}

/** Position in `segments` of the one that holds event `id`, or will; -1 when it lies before all of them. */
export function segmentOf(segments: readonly number[], id: number): number {
  return segments.findLastIndex((firstId) => firstId <= id);
}

export async function readJournal(source: JournalSource, options: ReadOptions): Promise<ReadEnd> {
  const segments = await listSegments(source);
  const start = segmentOf(segments, options.afterId + 1);
  if (start < 0 && segments.length > 0) throw startsLate(source, options.afterId, segments[0] ?? 0);
  const reader = new JournalReader(source, options);
  for (const firstId of segments.slice(Math.max(start, 0))) {
    await reader.segment(firstId, firstId === segments.at(-1));
    if (reader.stopped) break;
  }
  return { lastId: reader.lastId, boundary: reader.boundary };
}

/** The boundary after the frame that holds event `id`; null when no segment holds it. */
export async function boundaryAt(source: JournalSource, id: number): Promise<Boundary | null> {
  const segments = await listSegments(source);
  const firstId = segments[segmentOf(segments, id)];
  if (firstId === undefined) return null;
  const afterId = firstId - 1;
  const { boundary, lastId } = await readJournal(source, {
    afterId,
    visit: ({ frame }) => frame.id + frame.events.length - 1 < id,
  });
  return lastId >= id ? boundary : null;
}

/** The header of a segment and its first frame, null for an empty one. */
export async function readFirstFrame(source: JournalSource, firstId: number): Promise<Frame | null> {
  let first: Frame | null = null;
  await readJournal(source, {
    afterId: firstId - 1,
    visit: ({ frame }) => {
      first = frame;
      return false;
    },
  });
  return first;
}

/** The last whole frame from a segment on, before any damage; null where there is none. */
export async function readLastFrame(source: JournalSource, firstId: number): Promise<Frame | null> {
  let last: Frame | null = null;
  const visit = ({ frame }: FoundFrame): boolean => {
    last = frame;
    return true;
  };
  await readJournal(source, { afterId: firstId - 1, visit }).catch((error: unknown) => {
    if (!(error instanceof DataFolderError)) throw error;
  });
  return last;
}

function startsLate({ folder }: JournalSource, afterId: number, firstId: number): DataFolderError {
  const problem = `The events from ${afterId + 1} to ${firstId - 1} are no longer in the journal`;
  const file = join(folder, segmentFileName(firstId));
  return new DataFolderError(problem, { file, offset: 0, advice: 'Choose a later moment, or use a backup.' });
}

class JournalReader {
  readonly #source: JournalSource;
  readonly #options: ReadOptions;
  #chain: number | null = null;
  #scannedId: number | null = null;
  lastId: number;
  boundary: Boundary | null = null;
  stopped = false;

  constructor(source: JournalSource, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
    this.lastId = options.afterId;
  }

  async segment(firstId: number, isLast: boolean): Promise<void> {
    await withSegment(this.#source, firstId, async (segment) => {
      const { path, header } = segment;
      if (header === null) return this.#refuseDamage(segment, await judgeMissingHeader(segment, isLast));
      const follows = this.#scannedId === null || this.#scannedId + 1 === firstId;
      if (header.firstId !== firstId || !follows || (this.#chain !== null && this.#chain !== header.chain)) {
        throw this.#damaged(path, 0, 'a file does not follow the one before it');
      }
      this.#scannedId = firstId - 1;
      const visit: VisitFrame = (raw, payload) => this.#visit(segment, raw, payload);
      const end = await scanFrames(segment, scanStartOf(header), visit, this.#options.rest);
      this.#chain = end.chain;
      if (!this.stopped) this.#refuseDamage(segment, await judgeScanEnd(segment, end, isLast));
    });
  }

  #visit({ path, firstId: segment }: OpenSegment, raw: RawFrame, payload: Buffer): boolean {
    const id = peekId(payload);
    if (id === null) throw this.#damaged(path, raw.offset, 'a frame holds no event id');
    if (id <= this.#options.afterId) {
      this.#scannedId = null;
      return true;
    }
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null) throw this.#damaged(path, raw.offset, decoded.problem);
    const { frame } = decoded;
    if (frame.id !== this.lastId + 1) {
      throw this.#damaged(path, raw.offset, `event ${frame.id} is where event ${this.lastId + 1} should be`);
    }
    this.lastId = lastEventId(frame);
    this.#scannedId = this.lastId;
    this.boundary = { segment, offset: frameEnd(raw), chain: raw.checksum };
    if (this.#options.visit({ frame, raw, segment, payload }) === false) this.stopped = true;
    return !this.stopped;
  }

  #refuseDamage({ path }: OpenSegment, end: SegmentEnd): void {
    if (end.kind === 'damage') throw this.#damaged(path, end.offset, end.what);
  }

  #damaged(file: string, offset: number, what: string): DataFolderError {
    const details = { file, offset, lastGoodEventId: this.lastId, advice: ADVICE_DAMAGED };
    return new DataFolderError(`The journal is damaged: ${what}`, details);
  }
}

// The newest event that a reading command must show or copy: less than that would be a loss that nobody notices.

interface NewestEventOptions {
  readonly fs: FileSystem;
  readonly folder: string;
}

/**
 * The newest event that a running server reports to be on disk, or that a start would find; 0 when there is none.
 * Throws the refusal of a start for a folder that is damaged, cut off or incomplete.
 */
export async function newestEvent({ fs, folder }: NewestEventOptions): Promise<number> {
  const server = await askServer(folder, 'status');
  return server === null ? newestOfStopped(fs, folder) : server.durableId;
}

export async function newestOfStopped(fs: FileSystem, folder: string): Promise<number> {
  const check = await checkStart({ fs, folder });
  if (check.refusal !== null) throw check.refusal;
  return check.lastId;
}

/**
 * Works like `newestEvent`, for a state without the events before it, which may be damaged: the last journal file has
 * to be whole, as far as the durable mark and the newest snapshot say.
 */
export async function newestState({ fs, folder }: NewestEventOptions): Promise<number> {
  const server = await askServer(folder, 'status');
  if (server !== null) return server.durableId;
  const { journal, snapshots } = dataFolder(folder);
  const last = (await listSegments({ fs, folder: journal })).at(-1);
  if (last === undefined) return newestOfStopped(fs, folder);
  const { lastId } = await readJournal({ fs, folder: journal }, { afterId: last - 1, visit: () => true });
  const reading = await readDurableMark(fs, journal);
  const markedId = reading.state === 'good' ? reading.mark.lastId : 0;
  const knownId = Math.max(markedId, (await listSnapshots(fs, snapshots)).at(-1)?.id ?? 0);
  if (lastId < knownId) throw endsEarly(folder, { lastId, knownId });
  return lastId;
}

/** The files end before an event that is known to have been on disk: they were cut off or replaced. */
export function endsEarly(
  folder: string,
  { lastId, knownId }: { lastId: number; knownId: number },
): OperationError {
  const message = `Event ${knownId} had been on disk, but the files of ${folder} can be read up to event ${lastId} only. Run "flagstaff verify".`;
  return new OperationError('unsound', message);
}
