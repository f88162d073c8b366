// A sidecar: the index of one segment, or of its front part, saved beside it as `<first event id, 20 digits>.index`.
//
// Derived: it may be deleted at any time, and one that does not fit its segment is ignored and rebuilt. It is neither
// synced nor read back when it is written, since a torn one fails its checksum and costs only time.
//
// Format 1. Every number is little-endian.
//
//   offset  bytes  what
//        0      8  magic: "FLAGINDX"
//        8      4  format version: 1
//       12      4  CRC-32 of bytes 16 to the end
//       16      8  id of the segment's first event
//       24      4  number of events covered, n
//       28      4  offset in the segment behind the last frame covered
//       32      4  checksum of the last frame covered, which through the chain stands for all before it
//       36      4  bytes of the names, m
//       40      m  names: a MessagePack array of five arrays: types, projects, features, environments, authors;
//                  a name's code is its place in its array, and nil stands for no name
//     40+m     4n  each event's frame offset, then likewise n type codes, project codes, feature codes, environment
//                  codes and author codes
//
// Sample, for the segment whose one event has the type "a", the author "b", and no other name (CRC and checksum left out):
//   46 4c 41 47 49 4e 44 58 | 01 00 00 00 | .. .. .. .. | 01 00 00 00 00 00 00 00 | 01 00 00 00 | a8 00 00 00 |
//   .. .. .. .. | 0d 00 00 00 | 95 91 a1 61 91 c0 91 c0 91 c0 91 a1 62 | 40 00 00 00 | 20 zeros
//
// History: 1, the first. Any other version is ignored and rebuilt.
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import {
  allocateColumns,
  COLUMN_NAMES,
  type ColumnName,
  EventColumns,
  type SegmentView,
} from './event-columns.ts';
import type { EventIndex } from './event-index.ts';
import { pack, unpack } from './message-pack.ts';
import type { NameTable } from './name-table.ts';
import { SEGMENT_HEADER_BYTES } from './segment.ts';

export const SIDECAR_SUFFIX = '.index';

const MAGIC = Buffer.from('FLAGINDX', 'latin1');
const VERSION = 1;
const HEAD_BYTES = 40;
const CHECKSUM_AT = 12;
const CHECKED_FROM = 16;

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

/** A segment's codes, renumbered from 0 in the order of their first use, so that only names in use are saved. */
class Recoding {
  readonly names: (string | null)[] = [];
  readonly codes: Uint32Array;

  constructor(column: Uint32Array, count: number, table: NameTable) {
    const known = new Uint32Array(table.size);
    this.codes = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      const code = column[row] ?? 0;
      if (known[code] === 0) known[code] = this.names.push(table.nameOf(code));
      this.codes[row] = (known[code] ?? 0) - 1;
    }
  }
}

/** Encodes a view; `chain` is the checksum of its last frame. Gives way to the event loop between columns. */
export async function encodeSidecar(
  view: SegmentView,
  { index, chain, yieldToEventLoop }: { index: EventIndex; chain: number; yieldToEventLoop(): Promise<void> },
): Promise<Buffer> {
  const tables = tablesOf(index);
  const columns = [view.columns.offset];
  const names: (string | null)[][] = [];
  for (const name of NAMED_COLUMNS) {
    const recoding = new Recoding(view.columns[name], view.count, tables[name]);
    columns.push(recoding.codes);
    names.push(recoding.names);
    await yieldToEventLoop();
  }
  const namesBlock = Buffer.from(pack(names));
  const bytes = Buffer.alloc(HEAD_BYTES + namesBlock.length + columns.length * view.count * 4);
  bytes.set(namesBlock, HEAD_BYTES);
  let at = HEAD_BYTES + namesBlock.length;
  for (const column of columns) {
    for (let row = 0; row < view.count; row++, at += 4) bytes.writeUInt32LE(column[row] ?? 0, at);
    await yieldToEventLoop();
  }
  assert(at === bytes.length, 'a sidecar holds its columns and nothing else');
  writeHead(bytes, { view, chain, namesBytes: namesBlock.length });
  return bytes;
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
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), CHECKSUM_AT);
}

/** A sidecar whose checksum holds: what it claims about its segment, not yet compared with the segment. */
export interface Sidecar {
  readonly firstId: number;
  readonly count: number;
  readonly bytesEnd: number;
  readonly chain: number;
  /** Where the last covered frame starts. */
  readonly lastOffset: number;
  /** Registers the names in the index's tables and returns the columns in its codes. */
  toColumns(index: EventIndex): EventColumns;
}

/** Null when the bytes are not a whole sidecar of this format. */
export function decodeSidecar(bytes: Buffer): Sidecar | null {
  if (bytes.length < HEAD_BYTES || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return null;
  if (bytes.readUInt32LE(8) !== VERSION) return null;
  if (bytes.readUInt32LE(CHECKSUM_AT) !== crc32(bytes.subarray(CHECKED_FROM))) return null;
  const firstId = Number(bytes.readBigUInt64LE(16));
  const count = bytes.readUInt32LE(24);
  const bytesEnd = bytes.readUInt32LE(28);
  const columnsAt = HEAD_BYTES + bytes.readUInt32LE(36);
  assert(
    bytes.length === columnsAt + COLUMN_NAMES.length * count * 4,
    'a sidecar with a good checksum is whole',
  );
  const columnAt = (column: number): number => columnsAt + column * count * 4;
  return {
    firstId,
    count,
    bytesEnd,
    chain: bytes.readUInt32LE(32),
    lastOffset: count === 0 ? SEGMENT_HEADER_BYTES : bytes.readUInt32LE(columnAt(1) - 4),
    toColumns(index) {
      const names = unpack(bytes.subarray(HEAD_BYTES, columnsAt)) as (string | null)[][];
      const tables = tablesOf(index);
      const columns = allocateColumns(count);
      readColumn(bytes, columnAt(0), columns.offset);
      for (const [place, name] of NAMED_COLUMNS.entries()) {
        readColumn(bytes, columnAt(place + 1), columns[name]);
        recode(
          columns[name],
          Uint32Array.from(names[place] ?? [], (text) => tables[name].codeOf(text)),
        );
      }
      return EventColumns.restore({ firstId, count, bytesEnd, columns });
    },
  };
}

function readColumn(bytes: Buffer, at: number, column: Uint32Array): void {
  for (let row = 0; row < column.length; row++) column[row] = bytes.readUInt32LE(at + row * 4);
}

function recode(column: Uint32Array, codes: Uint32Array): void {
  for (let row = 0; row < column.length; row++) column[row] = codes[column[row] as number] as number;
}
