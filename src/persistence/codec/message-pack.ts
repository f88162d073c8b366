/**
 * MessagePack as Flagstaff writes it, and the guard that every stored value passes on its way in.
 *
 * It writes nil, booleans, numbers, strings, arrays and maps with string keys, which any language can read, and the
 * extension type 0 with one byte for a property that is `undefined`, to be read as nil. It writes nothing else.
 *
 * The guard walks the bytes before anything is decoded, because a checksum proves only that the bytes are those
 * that were written: content may be hostile. It bounds depth (a decoder recurses), counts (a decoder allocates
 * what a length field says) and kinds. What is stored passes it before, so nothing can be written that a later start
 * cannot read.
 */
// The other entry loads a native decoder, whose strings keep the bytes of whole records in memory.
import { Packr, Unpackr } from 'msgpackr/pack';
import {
  CONTENT_BYTES_OF,
  KIND_OF,
  KINDS,
  LENGTH_BYTES_OF,
  lengthAt,
  PLAIN_BYTES_OF,
  VALUES_OF,
} from './first-bytes.ts';

/** Protects the stack: msgpackr overflows it near depth 1,400. Request bodies are limited to 64, state adds a few. */
export const DEPTH_MAX = 128;

/** Protects the heap: a value costs up to 60 bytes decoded, and a megabyte of JSON holds half a million at most. */
export const VALUES_MAX = 2 ** 21;

/** A value that must not be written: a reader would refuse it, or it is over a limit. The message names the limit. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}

const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

/** Decodes bytes that the guard has accepted. Throws on bytes that are not one whole value. */
export function unpack(bytes: Uint8Array): unknown {
  return unpackr.unpack(bytes);
}

export type GuardVerdict =
  | { readonly problem: string }
  | { readonly problem: null; readonly values: number; readonly mapEntries: number };

const refuse = (problem: string, at: number): GuardVerdict => ({ problem: `${problem} at byte ${at}` });

/** The guard's working memory: for each depth, how many values are still to come and whether they belong to a map. */
const remaining = new Int32Array(DEPTH_MAX + 1);
const inMap = new Uint8Array(DEPTH_MAX + 1);

const TOO_DEEP = `nesting deeper than ${DEPTH_MAX}`;
const HAS_PROTO_KEY = 'the key __proto__';
const UNKNOWN_KIND = 'not a kind of value that is ever written, or cut short';

/**
 * Walks the bytes without decoding or recursing. Says what is wrong, or how many map entries there are.
 * `outerDepth`: how many levels the value is to be nested in.
 */
export function guard(bytes: Buffer, outerDepth = 0): GuardVerdict {
  let top = 0;
  // Of the list or map that is being read: what `remaining` and `inMap` hold for those around it.
  let left = 1;
  let isMap = false;
  let at = 0;
  let values = 0;
  let mapEntries = 0;
  while (left > 0 || top > 0) {
    if (left === 0) {
      top -= 1;
      left = remaining[top]!;
      isMap = inMap[top] === 1;
      continue;
    }
    const first = bytes[at] ?? NEVER_WRITTEN;
    const plainBytes = PLAIN_BYTES_OF[first]!;
    const items = plainBytes > 0 ? 0 : itemsAt(bytes, at, first);
    if (items === NOT_READABLE) return refuse(UNKNOWN_KIND, at);
    const end = plainBytes > 0 ? at + plainBytes : endOfHead(bytes, at, first);
    if (isMap && (left & 1) === 0) {
      if (KIND_OF[first] !== KINDS.string) return refuse('a map key that is not a string', at);
      if (isProtoKey(bytes, at + 1 + LENGTH_BYTES_OF[first]!, end)) return refuse(HAS_PROTO_KEY, at);
    }
    left -= 1;
    at = end;
    // Every nested value takes at least one byte, so a count beyond the remaining bytes is false.
    if (at + items > bytes.length) return refuse('a length beyond the end', at);
    values += 1;
    if (values > VALUES_MAX) return refuse(`more than ${VALUES_MAX} values`, at);
    if (items === 0) continue;
    if (top + outerDepth >= DEPTH_MAX) return refuse(TOO_DEEP, at);
    remaining[top] = left;
    inMap[top] = isMap ? 1 : 0;
    top += 1;
    left = items | 0;
    isMap = KIND_OF[first] === KINDS.map;
    if (isMap) mapEntries += items / 2;
  }
  return at === bytes.length ? { problem: null, values, mapEntries } : refuse('bytes after the value', at);
}

const NOT_READABLE = -1;
/** Begins no value. Stands for the byte behind the last one. */
const NEVER_WRITTEN = 0xc1;

/** How many values the one that begins with `first` holds; NOT_READABLE for no kind of value, and for one cut short. */
function itemsAt(bytes: Buffer, at: number, first: number): number {
  const kind = KIND_OF[first]!;
  if (kind === KINDS.none) return NOT_READABLE;
  if (LENGTH_BYTES_OF[first] === 0) {
    if (kind === KINDS.undefined && (bytes[at + 1] !== 0 || at + 2 >= bytes.length)) return NOT_READABLE;
    return VALUES_OF[first]!;
  }
  const length = lengthAt(bytes, at, first);
  if (length < 0) return NOT_READABLE;
  return kind === KINDS.string ? 0 : kind === KINDS.map ? length * 2 : length;
}

/** The end of the head of a list or map; the end of any other value. */
function endOfHead(bytes: Buffer, at: number, first: number): number {
  const headEnd = at + 1 + LENGTH_BYTES_OF[first]!;
  const isLong = KIND_OF[first] === KINDS.string && LENGTH_BYTES_OF[first] !== 0;
  return headEnd + (isLong ? lengthAt(bytes, at, first) : CONTENT_BYTES_OF[first]!);
}

const PROTO_KEY_BYTES = Buffer.from('__proto__');

/** msgpackr reads this key back under another name, so it cannot be stored. Requests with it are refused too. */
function isProtoKey(bytes: Buffer, start: number, end: number): boolean {
  if (end - start !== PROTO_KEY_BYTES.length || bytes[start] !== PROTO_KEY_BYTES[0]) return false;
  return bytes.subarray(start, end).equals(PROTO_KEY_BYTES);
}

/** Counts the map entries of a decoded value. Fewer than the guard counted means that a key occurred twice. */
export function countMapEntries(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMapEntries(item);
    return count;
  }
  for (const item of Object.values(value)) count += 1 + countMapEntries(item);
  return count;
}

/** No records and no hooks of values: bytes that any language reads, with each integer and length in its shortest form. */
const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false });

/** Encodes JSON, or a property that is undefined. Whoever stores the bytes has them pass the guard. */
export function pack(value: unknown): Buffer {
  return packr.pack(value);
}
