/**
 * Free-text search over segment files. It is exact, needs bounded memory, and reads nothing that filters have ruled
 * out.
 *
 * In each segment, the codes of a row first decide whether it is ruled out by a filter, found by type or author, or
 * open. Then the frames with open rows are read in large pieces. When the query allows, the text prefilter
 * (text-prefilter.ts) finds the frames worth reading. An event matches when the lower-case JSON text of its data
 * contains the lower-case query; where one string has all of it as it stands, nothing is decoded. Checksums are verified when
 * an event is shown, and were when the segment was indexed; here that would take several times as long for nothing.
 *
 * Runs in a thread of its own (log-reader-worker.ts); nothing here knows that.
 */
import { changesEvents } from '../../domain/state/upgrade.ts';
import { unpack } from '../codec/message-pack.ts';
import { MessagePackCursor } from '../codec/message-pack-cursor.ts';
import { type FileSystem, readLeniently, UNREADABLE, unlessMissing } from '../disk/file-system.ts';
import type { FrameFormat, RawFrame } from '../journal/frame-format.ts';
import { FrameOutline } from '../journal/frame-outline.ts';
import { decodePayload } from '../journal/frame-payload.ts';
import { unreadableEvent } from '../journal/frame-reader.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { type OpenSegment, withSegment } from '../journal/segment-file.ts';
import { firstRowAtOffset, type SegmentView } from './event-columns.ts';
import { type CodeFilter, IdPage, matchingRows, rowsWhere } from './event-filter.ts';
import { dataText } from './logged-event.ts';
import { beginsRun, type TextPrefilter, textPrefilterFor } from './text-prefilter.ts';

/** Bounds the scan's memory. A single larger frame gets its own buffer while it is read. */
const PIECE_BYTES = 1024 * 1024;

/** Reading this much unneeded data costs less than another call to the disk. */
const GAP_BYTES_MAX = 64 * 1024;

/** Plain data, so that it can be handed to another thread; the columns are shared, not copied. */
export interface TextScanRequest {
  /** The query in lower case, not empty. */
  readonly folded: string;
  readonly filter: CodeFilter;
  /** By code: 1 where the type's name contains the query; likewise the author's. */
  readonly types: Uint8Array;
  readonly authors: Uint8Array;
  /** Ids listed are this or older; the total counts all. */
  readonly newestId: number;
  readonly limit: number;
  /** How many of the newest matches up to that id are not listed. */
  readonly skip: number;
  /** The journal folder. */
  readonly folder: string;
  /** Oldest first, durable rows only. */
  readonly segments: readonly SegmentView[];
}

export interface TextMatches {
  /** Newest first. */
  readonly ids: readonly number[];
  readonly total: number;
}

const RULED_OUT = 0;
const FOUND = 1;
const OPEN = 2;
const IS_FOUND = Uint8Array.of(0, 1, 0);

/** Null when `goesOn` said no, which is asked between pieces, and may take its time. */
export async function scanText(
  request: TextScanRequest,
  fs: FileSystem,
  goesOn: () => Promise<boolean>,
): Promise<TextMatches | null> {
  const scan = new TextScan(request, fs, goesOn);
  const page = new IdPage(request.newestId, request.limit, request.skip);
  for (const view of request.segments.toReversed()) {
    const verdicts = await scan.segment(view);
    if (verdicts === null) return null;
    for (const rows of rowsWhere([{ codes: verdicts, wanted: IS_FOUND }], 0, view.count))
      page.take(view.firstId, rows);
  }
  return { ids: page.ids, total: page.total };
}

/** Frames that are read at once: rows from `firstRow` up to and without `endRow`. */
interface Piece {
  readonly firstRow: number;
  endRow: number;
  readonly offset: number;
  bytesEnd: number;
}

/** A segment that is being searched. */
interface Searched {
  readonly view: SegmentView;
  readonly verdicts: Uint8Array;
  readonly path: string;
  readonly format: FrameFormat;
  /** Null where the bytes do not show what its events hold. */
  readonly prefilter: TextPrefilter | null;
}

/** The rows of one frame. */
interface FrameRows {
  readonly firstRow: number;
  readonly endRow: number;
}

class TextScan {
  readonly #request: TextScanRequest;
  readonly #fs: FileSystem;
  readonly #goesOn: () => Promise<boolean>;
  readonly #prefilter: TextPrefilter | null;
  readonly #outline = new FrameOutline();
  readonly #cursor = new MessagePackCursor(Buffer.alloc(0));
  readonly #buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);

  constructor(request: TextScanRequest, fs: FileSystem, goesOn: () => Promise<boolean>) {
    this.#request = request;
    this.#fs = fs;
    this.#goesOn = goesOn;
    this.#prefilter = textPrefilterFor(request.folded);
  }

  /** One verdict a row, FOUND or RULED_OUT; null when cancelled. */
  async segment(view: SegmentView): Promise<Uint8Array | null> {
    const verdicts = this.#judgeByCodes(view);
    if (!verdicts.includes(OPEN)) return verdicts;
    const source = { fs: this.#fs, folder: this.#request.folder };
    const judging = withSegment(source, view.firstId, (segment) => this.#judge(segment, { view, verdicts }));
    // Where retention has deleted the segment since the search was asked for, its events are no longer kept.
    return unlessMissing(judging, new Uint8Array(view.count));
  }

  async #judge(segment: OpenSegment, rows: Pick<Searched, 'view' | 'verdicts'>): Promise<Uint8Array | null> {
    const { path, header } = segment;
    if (header === null) {
      const problem = 'the header of the file is damaged';
      throw unreadableEvent({ id: rows.view.firstId, file: path, offset: 0, problem });
    }
    const { format } = header;
    const prefilter = changesEvents(await oldestContent(segment, format)) ? null : this.#prefilter;
    for (const piece of piecesOf(rows.view, rows.verdicts)) {
      if (!(await this.#goesOn())) return null;
      const bytes = await this.#read(segment, piece, rows.view);
      this.#judgePiece(bytes, piece, { ...rows, path, format, prefilter });
    }
    return rows.verdicts;
  }

  #judgeByCodes(view: SegmentView): Uint8Array {
    const { filter, types, authors } = this.#request;
    const { type, by } = view.columns;
    const verdicts = new Uint8Array(view.count);
    for (const rows of matchingRows(filter, view))
      for (const row of rows)
        verdicts[row] = types[type[row]!] === 1 || authors[by[row]!] === 1 ? FOUND : OPEN;
    return verdicts;
  }

  async #read(
    { file, path }: OpenSegment,
    { offset, bytesEnd, firstRow }: Piece,
    view: SegmentView,
  ): Promise<Buffer> {
    const length = bytesEnd - offset;
    const buffer = length <= PIECE_BYTES ? this.#buffer : Buffer.allocUnsafeSlow(length);
    const { count, unreadableAt } = await readLeniently(file, buffer, length, offset);
    const badAt = unreadableAt ?? (count < length ? offset + count : null);
    if (badAt !== null) {
      const problem = unreadableAt === null ? 'the file is too short' : UNREADABLE;
      const id = view.firstId + Math.max(firstRowAtOffset(view, badAt + 1, firstRow) - 1, firstRow);
      throw unreadableEvent({ id, file: path, offset: badAt, problem });
    }
    return buffer.subarray(0, length);
  }

  #judgePiece(bytes: Buffer, piece: Piece, searched: Searched): void {
    const { view, verdicts, prefilter } = searched;
    const offsets = view.columns.offset;
    const find = prefilter?.finder(bytes) ?? ((from: number) => (from < bytes.length ? from : -1));
    let firstRow = piece.firstRow;
    for (let at = find(0); at >= 0; at = find((offsets[firstRow] ?? 0) - piece.offset)) {
      const endRow = firstRowAtOffset(view, piece.offset + at + 1, firstRow);
      const offset = offsets[endRow - 1] ?? 0;
      firstRow = firstRowAtOffset(view, offset, firstRow);
      const bytesEnd = endRow < piece.endRow ? (offsets[endRow] ?? 0) : piece.bytesEnd;
      let openRow = firstRow;
      while (openRow < endRow && verdicts[openRow] !== OPEN) openRow += 1;
      if (openRow < endRow) {
        const frame = bytes.subarray(offset - piece.offset, bytesEnd - piece.offset);
        this.#judgeFrame(frame, { firstRow, endRow }, searched);
      }
      firstRow = endRow;
      if (firstRow >= piece.endRow) break;
    }
  }

  #judgeFrame(
    bytes: Buffer,
    { firstRow, endRow }: FrameRows,
    { view, verdicts, path, format, prefilter }: Searched,
  ): void {
    const raw = format.readHeader(bytes, 0);
    const payload = bytes.subarray(format.headerBytes);
    if (raw === null || !this.#outline.read(payload) || this.#outline.eventCount !== endRow - firstRow) {
      const problem = 'it is not where its index says';
      const offset = view.columns.offset[firstRow] ?? 0;
      throw unreadableEvent({ id: view.firstId + firstRow, file: path, offset, problem });
    }
    const isAsRecorded = !changesEvents(raw.contentVersion);
    // A frame that is upgraded is decoded once for all of its events.
    let events: readonly LoggedData[] | null = null;
    for (let row = firstRow; row < endRow; row++) {
      if (verdicts[row] !== OPEN) continue;
      if (!isAsRecorded) events ??= eventsOf(payload, raw);
      const event = row - firstRow;
      const holdsQuery =
        events === null
          ? this.#isIn(this.#outline.data(event), prefilter)
          : this.#isInData(events[event]?.data);
      verdicts[row] = holdsQuery ? FOUND : RULED_OUT;
    }
  }

  #isIn(data: Buffer, prefilter: TextPrefilter | null): boolean {
    const at = prefilter === null ? 0 : prefilter.finder(data)(0);
    return at >= 0 && (this.#isInString(data, at, prefilter) || this.#isInData(unpack(data)));
  }

  /** Whether the query was found as it stands and within one string: then it is in the JSON too, which need not be made. */
  #isInString(data: Buffer, at: number, prefilter: TextPrefilter | null): boolean {
    const { folded } = this.#request;
    if (prefilter?.run !== folded || !beginsRun(data[at]!)) return false;
    this.#cursor.reset(data);
    return this.#cursor.isInString(at, at + folded.length);
  }

  #isInData(data: unknown): boolean {
    return dataText(data).toLowerCase().includes(this.#request.folded);
  }
}

interface LoggedData {
  readonly data: unknown;
}

function eventsOf(payload: Buffer, raw: RawFrame): readonly LoggedData[] {
  const decoded = decodePayload(payload, raw);
  if (decoded.problem !== null) throw new Error(`A frame cannot be read: ${decoded.problem}`);
  return decoded.frame.events;
}

/** The content version of the first frame: builds get newer along the journal, since none opens what a newer one wrote. */
async function oldestContent({ file }: OpenSegment, format: FrameFormat): Promise<number> {
  const bytes = Buffer.alloc(format.headerBytes);
  // Where it cannot be read, the first event that is looked at in that place says so.
  const { count } = await readLeniently(file, bytes, bytes.length, SEGMENT_HEADER_BYTES);
  return format.readHeader(bytes.subarray(0, count), 0)?.contentVersion ?? 1;
}

/** Goes through the frames with open rows, joining neighbours until a piece is full. */
function* piecesOf(view: SegmentView, verdicts: Uint8Array): Generator<Piece> {
  const offsets = view.columns.offset;
  let piece: Piece | null = null;
  for (let row = 0; row < view.count; ) {
    const offset = offsets[row] ?? 0;
    const firstRow = row;
    let isOpen = false;
    for (; row < view.count && offsets[row] === offset; row++) isOpen ||= verdicts[row] === OPEN;
    if (!isOpen) continue;
    const bytesEnd = row < view.count ? (offsets[row] ?? 0) : view.bytesEnd;
    if (
      piece !== null &&
      offset - piece.bytesEnd <= GAP_BYTES_MAX &&
      bytesEnd - piece.offset <= PIECE_BYTES
    ) {
      piece.endRow = row;
      piece.bytesEnd = bytesEnd;
      continue;
    }
    if (piece !== null) yield piece;
    piece = { firstRow, endRow: row, offset, bytesEnd };
  }
  if (piece !== null) yield piece;
}
