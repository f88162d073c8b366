/**
 * An index file: the index of one segment, or of its first part, saved beside it as `<first event id, 20
 * digits>.index`.
 *
 * It is derived, may be deleted at any time, and is ignored and rebuilt when it does not match its segment. It is
 * neither synced nor read back when it is written, since a torn one fails its checksum and only costs time.
 *
 * Format 2. Every number is little-endian.
 *
 *   offset  bytes  what
 *        0      8  magic: "FLAGINDX"
 *        8      4  format version: 2
 *       12      4  CRC-32 of bytes 16 to the end
 *       16      8  id of the segment's first event
 *       24      4  number of events covered, n
 *       28      4  offset in the segment behind the last frame covered
 *       32      4  checksum of the last frame covered, which through the chain stands for all before it
 *       36      4  bytes of the names, m
 *       40      4  content version to which the events had been upgraded when their names were taken
 *       44     4n  each event's frame offset, then likewise n type codes, project codes, feature codes, environment
 *                  codes and author codes
 *   44+24n      m  names: a MessagePack array of five arrays: types, projects, features, environments, authors;
 *                  a name's code is its place in its array, and nil stands for no name
 *
 * Sample, for the segment whose one event has the type "a", the author "b", and no other name (CRC and checksum left out):
 *   46 4c 41 47 49 4e 44 58 | 02 00 00 00 | .. .. .. .. | 01 00 00 00 00 00 00 00 | 01 00 00 00 | b0 00 00 00 |
 *   .. .. .. .. | 0d 00 00 00 | 02 00 00 00 | 40 00 00 00 | 20 zeros | 95 91 a1 61 91 c0 91 c0 91 c0 91 a1 62
 *
 * History: 1, the first. 2: the content version. A file of another format, or of another content version, is ignored and
 * rebuilt.
 */
import assert from 'node:assert/strict';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { CONTENT_VERSION } from '../../domain/state/upgrade.ts';
import { guard, pack, unpack } from '../codec/message-pack.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import {
  allocateColumns,
  COLUMN_NAMES,
  type ColumnName,
  type ColumnSet,
  EventColumns,
  type SegmentView,
} from './event-columns.ts';
import type { EventIndex } from './event-index.ts';
import type { NameTable } from './name-table.ts';

export const INDEX_FILE_SUFFIX = '.index';

const MAGIC = Buffer.from('FLAGINDX', 'latin1');
const VERSION = 2;
const HEAD_BYTES = 44;
const CHECKSUM_AT = 12;
const CHECKED_FROM = 16;

/** Rows written between two turns of the event loop: about a millisecond's worth. */
const ROWS_PER_SLICE = 16_384;

type Tables = Readonly<Record<Exclude<ColumnName, 'offset'>, NameTable>>;

/** The tables in the order of the columns that hold their codes. */
function tablesOf({ names }: EventIndex): Tables {
  return {
    type: names.types,
    project: names.projects,
    feature: names.features,
    environment: names.environments,
    by: names.authors,
  };
}

const NAMED_COLUMNS = COLUMN_NAMES.filter((name): name is keyof Tables => name !== 'offset');

/** A column's codes renumbered from 0 in the order of their first use, so that only names in use are saved. */
class Recoding {
  readonly names: (string | null)[] = [];
  readonly #table: NameTable;
  /** By code of the table: the new code plus one, 0 where the name was not met yet. */
  readonly #known: Uint32Array;

  constructor(table: NameTable) {
    this.#table = table;
    this.#known = new Uint32Array(table.size);
  }

  code(code: number): number {
    const known = this.#known[code] as number;
    return known > 0 ? known - 1 : this.#add(code);
  }

  #add(code: number): number {
    this.#known[code] = this.names.push(this.#table.nameOf(code));
    return this.names.length - 1;
  }
}

export interface EncodeOptions {
  readonly index: EventIndex;
  /** Checksum of the view's last frame. */
  readonly chain: number;
  yieldToEventLoop(): Promise<void>;
}

/** Encodes a view, in slices, giving way to the event loop between them. */
export async function encodeIndexFile(view: SegmentView, options: EncodeOptions): Promise<Buffer> {
  const tables = tablesOf(options.index);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + COLUMN_NAMES.length * view.count * 4);
  const names: (readonly (string | null)[])[] = [];
  let at = HEAD_BYTES;
  for (const name of COLUMN_NAMES) {
    const recoding = name === 'offset' ? null : new Recoding(tables[name]);
    if (recoding !== null) names.push(recoding.names);
    for (let row = 0; row < view.count; row += ROWS_PER_SLICE) {
      const slice = view.columns[name].subarray(row, Math.min(row + ROWS_PER_SLICE, view.count));
      at = writeSlice(bytes, at, slice, recoding);
      await options.yieldToEventLoop();
    }
  }
  assert(at === bytes.length, 'an index file holds its columns, then the names');
  const namesBlock = pack(names);
  const whole = Buffer.concat([bytes, namesBlock]);
  writeHead(whole, { view, chain: options.chain, namesBytes: namesBlock.length });
  return whole;
}

function writeSlice(bytes: Buffer, start: number, slice: Uint32Array, recoding: Recoding | null): number {
  let at = start;
  for (const value of slice) at = bytes.writeUInt32LE(recoding === null ? value : recoding.code(value), at);
  return at;
}

interface HeadFields {
  readonly view: SegmentView;
  readonly chain: number;
  readonly namesBytes: number;
}

function writeHead(bytes: Buffer, { view, chain, namesBytes }: HeadFields): void {
  bytes.set(MAGIC, 0);
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeBigUInt64LE(BigInt(view.firstId), 16);
  bytes.writeUInt32LE(view.count, 24);
  bytes.writeUInt32LE(view.bytesEnd, 28);
  bytes.writeUInt32LE(chain, 32);
  bytes.writeUInt32LE(namesBytes, 36);
  bytes.writeUInt32LE(CONTENT_VERSION, 40);
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), CHECKSUM_AT);
}

/** An index file with a good checksum. Its content has not been compared with the segment yet. */
export interface IndexFile {
  readonly firstId: number;
  readonly count: number;
  readonly bytesEnd: number;
  readonly chain: number;
  /** The start of the last covered frame. */
  readonly lastOffset: number;
  /** The columns, of which only that of the offsets is filled. */
  toColumns(): EventColumns;
  /** The names of each column; null where they are no such names, although the checksum holds. */
  names(): IndexNames | null;
  /** The place of a column, by its number. */
  columnAt(column: number): { readonly bytes: Buffer; readonly at: number };
}

type IndexNames = readonly (readonly (string | null)[])[];

/** Null when the bytes are not a whole index file of this format and of the content that this build records. */
export function decodeIndexFile(bytes: Buffer): IndexFile | null {
  if (bytes.length < HEAD_BYTES || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(8) !== VERSION) return null;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== crc32(bytes.subarray(CHECKED_FROM))) return null;
  if (bytes.readUInt32LE(40) !== CONTENT_VERSION) return null;
  const firstId = Number(bytes.readBigUInt64LE(16));
  const count = bytes.readUInt32LE(24);
  const bytesEnd = bytes.readUInt32LE(28);
  const columnAt = (column: number): number => HEAD_BYTES + column * count * 4;
  const namesAt = columnAt(COLUMN_NAMES.length);
  // A checksum tells only of disks: whoever may write the folder may have made it.
  if (bytes.length !== namesAt + bytes.readUInt32LE(36)) return null;
  if (!areOrdered(bytes, columnAt(0), { count, bytesEnd })) return null;
  return {
    firstId,
    count,
    bytesEnd,
    chain: bytes.readUInt32LE(32),
    lastOffset: count === 0 ? SEGMENT_HEADER_BYTES : bytes.readUInt32LE(columnAt(1) - 4),
    toColumns() {
      const columns = allocateColumns(count);
      readColumn(bytes, columnAt(0), columns.offset);
      return EventColumns.restore({ firstId, count, bytesEnd, columns });
    },
    names() {
      const block = bytes.subarray(namesAt);
      if (guard(block).problem !== null) return null;
      const names = unpack(block);
      return areNames(names) ? names : null;
    },
    columnAt: (column) => ({ bytes, at: columnAt(column) }),
  };
}

/** Whether frames begin where a segment's do, in order. */
function areOrdered(
  bytes: Buffer,
  at: number,
  { count, bytesEnd }: { readonly count: number; readonly bytesEnd: number },
): boolean {
  let before = SEGMENT_HEADER_BYTES;
  if (count > 0 && bytes.readUInt32LE(at) !== before) return false;
  for (let row = 0; row < count; row += 1) {
    const offset = bytes.readUInt32LE(at + row * 4);
    if (offset < before) return false;
    before = offset;
  }
  return count === 0 || before < bytesEnd;
}

const areNames = (value: unknown): value is IndexNames =>
  Array.isArray(value) &&
  value.length === NAMED_COLUMNS.length &&
  value.every(
    (column) => Array.isArray(column) && column.every((name) => name === null || typeof name === 'string'),
  );

/** Registers the names in the index's tables, and fills the other columns with its codes. Yields after each piece of work. */
export function* fillNames(
  file: IndexFile,
  names: IndexNames,
  { index, columns }: { readonly index: EventIndex; readonly columns: Readonly<ColumnSet> },
): Generator<void, void> {
  const tables = tablesOf(index);
  for (const [place, name] of NAMED_COLUMNS.entries()) {
    const codes = yield* codesOf(names[place] ?? [], tables[name]);
    const { bytes, at } = file.columnAt(place + 1);
    readColumn(bytes, at, columns[name]);
    recode(columns[name], codes);
    yield;
  }
}

const IS_LITTLE_ENDIAN = endianness() === 'LE';

function readColumn(bytes: Buffer, at: number, column: Uint32Array): void {
  if (IS_LITTLE_ENDIAN) {
    new Uint8Array(column.buffer).set(bytes.subarray(at, at + column.byteLength));
    return;
  }
  for (let row = 0; row < column.length; row++) column[row] = bytes.readUInt32LE(at + row * 4);
}

/** Names looked up between two turns of the event loop: about a millisecond's worth. */
const NAMES_PER_SLICE = 2_048;

function* codesOf(names: readonly (string | null)[], table: NameTable): Generator<void, Uint32Array> {
  const codes = new Uint32Array(names.length);
  for (let from = 0; from < names.length; from += NAMES_PER_SLICE) {
    const end = Math.min(from + NAMES_PER_SLICE, names.length);
    for (let at = from; at < end; at += 1) codes[at] = table.codeOf(names[at]!);
    yield;
  }
  return codes;
}

function recode(column: Uint32Array, codes: Uint32Array): void {
  for (let row = 0; row < column.length; row++) column[row] = codes[column[row] as number] as number;
}
