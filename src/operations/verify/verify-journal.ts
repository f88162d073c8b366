/**
 * Verifies a journal to its end, past every damage. Recovery stops at the first wrong byte, but an operator wants to
 * know all damage before choosing what to do. It only reads.
 *
 * It checks every header, every checksum, every link from frame to frame and file to file, the order of ids, and that
 * every payload decodes. After a damage it continues at the next intact frame.
 */
import { join } from 'node:path';
import { type FileSystem, isMissing, type OpenFile } from '../../persistence/disk/file-system.ts';
import { FRAME_HEADER_BYTES, lastEventId, type RawFrame } from '../../persistence/journal/frame.ts';
import { decodePayload } from '../../persistence/journal/frame-payload.ts';
import { withFile } from '../../persistence/journal/frame-reader.ts';
import { SEGMENT_HEADER_BYTES, segmentFileName } from '../../persistence/journal/segment.ts';
import { findProofOfDamage, type ScanEnd, scanFrames } from '../../persistence/journal/segment-scan.ts';
import type { Boundary } from '../../persistence/recovery/journal-survey.ts';
import { listSegments, readSegmentHeader } from '../read/journal-reading.ts';
import { findWholeFrame } from './whole-frame-search.ts';

export interface Damage {
  readonly file: string;
  /** Null when the file as a whole is damaged. */
  readonly offset: number | null;
  /** The last event known to be whole before it; 0 when none is. */
  readonly lastGoodEventId: number;
  readonly what: string;
}

/** Frames that follow each other without a fault, across files too. */
export interface IntactRun {
  readonly firstId: number;
  lastId: number;
  /** Before the first frame; its `chain` is the checksum that the first frame names as its predecessor's. */
  readonly start: Boundary;
  /** Behind the last one. */
  end: Boundary;
}

export interface JournalVerification {
  readonly segments: readonly number[];
  readonly damages: readonly Damage[];
  /** In order. */
  readonly runs: readonly IntactRun[];
  readonly bytes: number;
  readonly frames: number;
  readonly events: number;
  /** Bytes at the very end that are not a frame yet, or never became one. They are not damage. */
  readonly unfinished: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
  /** For the ids asked for: the checksum of the frame that ends with it. */
  readonly checksums: ReadonlyMap<number, number>;
}

export interface VerifyJournalOptions {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
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
      runs: this.#runs,
      bytes: this.#bytes,
      frames: this.#frames,
      events: this.#events,
      unfinished: this.#unfinished,
      checksums: this.#checksums,
    };
  }

  async segment(firstId: number, isLast: boolean): Promise<void> {
    const { fs, folder, onProgress } = this.#options;
    const path = join(folder, segmentFileName(firstId));
    try {
      await withFile(fs, path, (file) => this.#segment(file, { path, firstId, isLast }));
    } catch (error) {
      // Retention may remove the oldest file of a running server's journal while it is being read.
      if (!isMissing(error) || this.#frames > 0) throw error;
    }
    onProgress?.(this.#bytes);
  }

  async #segment(file: OpenFile, place: SegmentPlace): Promise<void> {
    const { path, firstId } = place;
    const size = await file.size();
    let at = SEGMENT_HEADER_BYTES;
    let chain = await this.#header(file, place);
    if (chain === null) {
      if (place.isLast && (await this.#isUnfinished(file, path, 0, size))) return;
      this.#damage(path, 0, 'the header of the file is damaged');
    }
    for (;;) {
      const resumed = chain === null ? await findWholeFrame(file, at) : null;
      if (chain === null && resumed === null) break;
      const start = { offset: resumed?.offset ?? at, chain: resumed?.previous ?? chain ?? 0 };
      const end = await scanFrames(file, start, (raw, payload) => this.#visit(path, firstId, raw, payload));
      if (end.problem === null || (await this.#judge(file, place, end))) break;
      // A frame that is whole and in the wrong place is taken up as it is; wrong bytes are stepped over.
      at = end.problem.tornLike ? end.offset + 1 : end.offset;
      chain = null;
    }
    this.#bytes += size;
  }

  async #header(file: OpenFile, { path, firstId }: SegmentPlace): Promise<number | null> {
    const header = await readSegmentHeader(file, path);
    if (header === null) return null;
    const misfit = this.#misfit(header.firstId, header.chain, firstId);
    if (misfit !== null) this.#damage(path, 0, misfit);
    return header.chain;
  }

  #misfit(headerId: number, chain: number, firstId: number): string | null {
    if (headerId !== firstId) return `the file says that it begins with event ${headerId}`;
    if (this.#lastId === null) return null;
    if (firstId > this.#lastId + 1)
      return `the events from ${this.#lastId + 1} to ${firstId - 1} are missing`;
    if (firstId <= this.#lastId) return `the file repeats events up to ${this.#lastId}`;
    // After a damage at the end of the file before, the link has nothing to be compared with.
    if (this.#run === null || this.#run.end.chain === chain) return null;
    return 'the file does not follow the one before it';
  }

  #visit(path: string, segment: number, raw: RawFrame, payload: Buffer): boolean {
    const decoded = decodePayload(payload);
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
    this.#extend(segment, raw, frame.id, this.#lastId);
    return true;
  }

  #extend(segment: number, raw: RawFrame, firstId: number, lastId: number): void {
    const offset = raw.offset + FRAME_HEADER_BYTES + raw.payloadBytes;
    const end: Boundary = { segment, offset, chain: raw.checksum };
    if (this.#run === null) {
      const start: Boundary = { segment, offset: raw.offset, chain: raw.previous };
      this.#run = { firstId, lastId, start, end };
      this.#runs.push(this.#run);
      return;
    }
    this.#run.lastId = lastId;
    this.#run.end = end;
  }

  /** Whether the segment ends here: it was only the tail, or nothing whole follows. */
  async #judge(file: OpenFile, { path, isLast }: SegmentPlace, end: ScanEnd): Promise<boolean> {
    if (end.problem === null) return true;
    const { what, tornLike } = end.problem;
    if (isLast && tornLike && (await this.#isUnfinished(file, path, end.offset, end.size))) return true;
    this.#damage(path, end.offset, what);
    return false;
  }

  async #isUnfinished(file: OpenFile, path: string, offset: number, size: number): Promise<boolean> {
    if ((await findProofOfDamage(file, offset)) !== null) return false;
    this.#unfinished = { file: path, offset, bytes: size - offset };
    return true;
  }

  #damage(file: string, offset: number, what: string): void {
    this.#damages.push({ file, offset, lastGoodEventId: this.#lastId ?? 0, what });
    this.#run = null;
    this.#isResuming = true;
  }
}

interface SegmentPlace {
  readonly path: string;
  readonly firstId: number;
  readonly isLast: boolean;
}
