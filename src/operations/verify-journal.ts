/**
 * Verifies a journal to its end, past every damage. Recovery stops at the first wrong byte, but an operator wants to
 * know all damage before choosing what to do. It only reads.
 *
 * It checks every header, every checksum, every link from frame to frame and file to file, the order of ids, and that
 * every payload decodes. After a damage it continues at the next intact frame.
 */
import assert from 'node:assert/strict';
import { isMissing, UNREADABLE } from '../persistence/disk/file-system.ts';
import { type Boundary, type Frame, lastEventId } from '../persistence/journal/frame.ts';
import { frameEnd, type RawFrame } from '../persistence/journal/frame-format.ts';
import { decodePayload } from '../persistence/journal/frame-payload.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from '../persistence/journal/segment.ts';
import {
  judgeMissingHeader,
  judgeScanEnd,
  resumeFrom,
  type SegmentEnd,
} from '../persistence/journal/segment-end.ts';
import {
  isUnreadableSegment,
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../persistence/journal/segment-file.ts';
import { type ScanStart, scanFrames, scanStartOf } from '../persistence/journal/segment-scan.ts';

export interface Damage {
  readonly file: string;
  /** Null when the file as a whole is damaged. */
  readonly offset: number | null;
  /** The last event known to be whole before it; 0 when none is. */
  readonly lastGoodEventId: number;
  readonly what: string;
}

/** Event ids, both included. */
export interface EventRange {
  readonly from: number;
  readonly to: number;
}

/** Frames that follow each other without a fault, across files too. */
export interface IntactRun {
  readonly firstId: number;
  lastId: number;
  /** The boundary before the first frame; its `chain` is the checksum that the first frame names as its predecessor's. */
  readonly start: Boundary;
  /** The boundary after the last frame. */
  end: Boundary;
}

export interface JournalVerification {
  readonly segments: readonly number[];
  readonly damages: readonly Damage[];
  /** The headers that are whole, by the first event of their segment. */
  readonly headers: ReadonlyMap<number, SegmentHeader>;
  /** Runs by their first events. Where files stand in each other's place or repeat events, they may overlap. */
  readonly runs: readonly IntactRun[];
  readonly bytes: number;
  readonly frames: number;
  readonly events: number;
  /** Bytes at the very end that are not a frame yet, or never became one. They are not damage. */
  readonly unfinished: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
  /** For the ids asked for: the checksum of the frame that ends with it. */
  readonly checksums: ReadonlyMap<number, number>;
}

export interface VerifyJournalOptions extends JournalSource {
  /** Event ids whose frames' checksums are wanted. */
  readonly wantedIds: ReadonlySet<number>;
  onProgress?(bytesDone: number): void;
}

export async function verifyJournal(options: VerifyJournalOptions): Promise<JournalVerification> {
  const segments = await listSegments(options);
  const verifier = new JournalVerifier(options);
  for (const firstId of segments) await verifier.segment(firstId, firstId === segments.at(-1));
  return { segments, ...verifier.result() };
}

class JournalVerifier {
  readonly #options: VerifyJournalOptions;
  readonly #damages: Damage[] = [];
  readonly #headers = new Map<number, SegmentHeader>();
  readonly #runs: IntactRun[] = [];
  readonly #checksums = new Map<number, number>();
  #run: IntactRun | null = null;
  /** Right behind a damage the next id is not known: the frame found there says where the journal goes on. */
  #isResuming = false;
  #lastId: number | null = null;
  #bytes = 0;
  #frames = 0;
  #events = 0;
  #unfinished: JournalVerification['unfinished'] = null;

  constructor(options: VerifyJournalOptions) {
    this.#options = options;
  }

  result(): Omit<JournalVerification, 'segments'> {
    return {
      damages: this.#damages,
      headers: this.#headers,
      runs: this.#runs.toSorted((a, b) => a.firstId - b.firstId || b.lastId - a.lastId),
      bytes: this.#bytes,
      frames: this.#frames,
      events: this.#events,
      unfinished: this.#unfinished,
      checksums: this.#checksums,
    };
  }

  async segment(firstId: number, isLast: boolean): Promise<void> {
    try {
      await withSegment(this.#options, firstId, (segment) => this.#segment(segment, isLast));
    } catch (error) {
      if (isUnreadableSegment(error)) this.#damage(error.file, error.offset ?? 0, UNREADABLE);
      // Retention may remove the oldest file of a running server's journal while it is being read.
      else if (!isMissing(error) || this.#frames > 0) throw error;
    }
    this.#options.onProgress?.(this.#bytes);
  }

  async #segment(segment: OpenSegment, isLast: boolean): Promise<void> {
    const { file, header } = segment;
    this.#bytes += await file.size();
    let start: ScanStart | null = null;
    if (header === null) {
      if (this.#endsAs(segment, await judgeMissingHeader(segment, isLast))) return;
      start = await resumeFrom(segment, SEGMENT_HEADER_BYTES);
    } else {
      this.#header(segment, header);
      start = scanStartOf(header);
    }
    while (start !== null) {
      const end = await scanFrames(segment, start, (raw, payload) => this.#visit(segment, raw, payload));
      if (this.#endsAs(segment, await judgeScanEnd(segment, end, isLast))) return;
      // A frame that is whole and in the wrong place is taken up as it is; wrong bytes are stepped over.
      start = await resumeFrom(segment, end.problem?.tornLike ? end.offset + 1 : end.offset);
    }
  }

  #header({ path, firstId }: OpenSegment, header: SegmentHeader): void {
    this.#headers.set(firstId, header);
    const mismatch = this.#mismatch(header.firstId, header.chain, firstId);
    if (mismatch !== null) this.#damage(path, 0, mismatch);
  }

  #mismatch(headerId: number, chain: number, firstId: number): string | null {
    if (headerId !== firstId) return `the file says that it begins with event ${headerId}`;
    if (this.#lastId === null) return null;
    if (firstId > this.#lastId + 1)
      return `the events from ${this.#lastId + 1} to ${firstId - 1} are missing`;
    if (firstId <= this.#lastId) return `the file repeats events up to ${this.#lastId}`;
    // After a damage at the end of the file before, the link has nothing to be compared with.
    if (this.#run === null || this.#run.end.chain === chain) return null;
    return 'the file does not follow the one before it';
  }

  #visit({ path, firstId: segment }: OpenSegment, raw: RawFrame, payload: Buffer): boolean {
    const decoded = decodePayload(payload, raw);
    if (decoded.problem !== null) {
      this.#damage(path, raw.offset, `a frame holds data that the server never writes: ${decoded.problem}`);
      return true;
    }
    const { frame } = decoded;
    const expected = (this.#lastId ?? segment - 1) + 1;
    if (frame.id !== expected && !this.#isResuming) {
      this.#damage(path, raw.offset, `event ${frame.id} is where event ${expected} should be`);
    }
    this.#isResuming = false;
    this.#lastId = lastEventId(frame);
    this.#frames += 1;
    this.#events += frame.events.length;
    if (this.#options.wantedIds.has(this.#lastId)) this.#checksums.set(this.#lastId, raw.checksum);
    this.#extend(segment, raw, frame);
    return true;
  }

  #extend(segment: number, raw: RawFrame, frame: Frame): void {
    const { id: firstId } = frame;
    const lastId = lastEventId(frame);
    const end: Boundary = { segment, offset: frameEnd(raw), chain: raw.checksum };
    if (this.#run === null) {
      const start: Boundary = { segment, offset: raw.offset, chain: raw.previous };
      this.#run = { firstId, lastId, start, end };
      this.#runs.push(this.#run);
      return;
    }
    assert(firstId === this.#run.lastId + 1, 'a run grows by the frame that follows it');
    this.#run.lastId = lastId;
    this.#run.end = end;
  }

  /** Whether the segment ends here; else the damage is noted, and something whole may follow. */
  #endsAs({ path }: OpenSegment, end: SegmentEnd): boolean {
    if (end.kind === 'damage') this.#damage(path, end.offset, end.what);
    else if (end.kind === 'tail') this.#unfinished = { file: path, offset: end.offset, bytes: end.bytes };
    return end.kind !== 'damage';
  }

  #damage(file: string, offset: number, what: string): void {
    this.#damages.push({ file, offset, lastGoodEventId: this.#lastId ?? 0, what });
    this.#run = null;
    this.#isResuming = true;
  }
}
