/**
 * MessagePack as Flagstaff writes it, and the guard that every stored value passes on its way in.
 *
 * It writes nil, booleans, numbers, strings, arrays and maps with string keys, which any language can read, and the
 * extension type 0 with one byte for a property that is `undefined`, to be read as nil. It writes nothing else.
 *
 * The guard walks the bytes before anything is decoded, because a checksum proves only that the bytes are those
 * that were written: content may be hostile. It bounds depth (a decoder recurses), counts (a decoder allocates
 * what a length field says) and kinds. The writer refuses what the guard would refuse, so nothing can be written that a
 * later start cannot read.
 */
import { Unpackr } from 'msgpackr';
import {
  CONTENT_BYTES_OF,
  FIRST,
  FIX_COUNT_MAX,
  FIX_STRING_MAX,
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

const PROTO_KEY = '__proto__';
const PROTO_KEY_BYTES = Buffer.from(PROTO_KEY);

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

/** Holds almost every frame; a larger one makes it grow, and stay so. */
const BUFFER_BYTES_FIRST = 64 * 1024;

/** Strings up to this many characters are written byte by byte as long as they are ASCII: a native call costs more. */
const SHORT_STRING_MAX = 64;

/** The bytes that any length or number takes at most, with its first byte. */
const HEAD_BYTES_MAX = 9;

const UNDEFINED = Uint8Array.of(FIRST.undefined, 0, 0);

/**
 * Writes MessagePack piece by piece, in the shortest encoding for each integer and length. A general encoder would look up the fields
 * that every frame has, and the guard would have to read again what it made.
 */
export class PackWriter {
  #bytes = Buffer.allocUnsafe(BUFFER_BYTES_FIRST);
  #at = 0;

  begin(): void {
    this.#at = 0;
  }

  /** The bytes written since `begin`; overwritten after the next one. */
  end(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Bytes written since `begin`. */
  get length(): number {
    return this.#at;
  }

  /** Announces more entries, 15 at most, of the map that was begun first. */
  amendFirstMap(size: number): void {
    this.#bytes[0] = FIRST.fixMap + size;
  }

  /** Bytes that never change, such as keys. */
  fixed(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    for (let i = 0; i < bytes.length; i += 1) this.#bytes[this.#at + i] = bytes[i]!;
    this.#at += bytes.length;
  }

  list(length: number): void {
    this.#head(length, FIRST.fixList, FIX_COUNT_MAX, FIRST.list16);
  }

  map(size: number): void {
    this.#head(size, FIRST.fixMap, FIX_COUNT_MAX, FIRST.map16);
  }

  number(value: number): void {
    this.#makeRoom(HEAD_BYTES_MAX);
    if (value >>> 0 === value) return this.#unsigned(value);
    if (value >> 0 === value) return this.#negative(value);
    this.#bytes[this.#at] = FIRST.float64;
    this.#at = this.#bytes.writeDoubleBE(value, this.#at + 1);
  }

  name(value: string | null): void {
    if (value === null) this.#byte(FIRST.nil);
    else this.string(value);
  }

  string(value: string): void {
    if (value.length > SHORT_STRING_MAX || !this.#ascii(value)) this.#utf8(value);
  }

  /** JSON, or a property that is undefined, nested in `depth` levels of what was written piece by piece. */
  value(value: unknown, depth: number): void {
    if (typeof value === 'string') this.string(value);
    else if (typeof value === 'number') this.number(value);
    else if (value === null) this.#byte(FIRST.nil);
    else if (typeof value === 'boolean') this.#byte(value ? FIRST.true : FIRST.false);
    else if (Array.isArray(value)) this.#items(value, depth);
    else if (typeof value === 'object') this.#fields(value as Record<string, unknown>, depth);
    else if (value === undefined) this.fixed(UNDEFINED);
    else throw new EncodingError(UNKNOWN_KIND);
  }

  #items(items: readonly unknown[], depth: number): void {
    if (depth >= DEPTH_MAX && items.length > 0) throw new EncodingError(TOO_DEEP);
    this.list(items.length);
    for (let at = 0; at < items.length; at += 1) this.value(items[at], depth + 1);
  }

  #fields(fields: Record<string, unknown>, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(fields);
    if (prototype !== Object.prototype && prototype !== null) throw new EncodingError(UNKNOWN_KIND);
    const names = Object.keys(fields);
    if (depth >= DEPTH_MAX && names.length > 0) throw new EncodingError(TOO_DEEP);
    this.map(names.length);
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at]!;
      if (name === PROTO_KEY) throw new EncodingError(HAS_PROTO_KEY);
      this.string(name);
      this.value(fields[name], depth + 1);
    }
  }

  #byte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  #unsigned(value: number): void {
    const bytes = this.#bytes;
    const at = this.#at;
    if (value < 0x80) {
      bytes[at] = value;
      this.#at = at + 1;
    } else if (value < 0x100) {
      bytes[at] = FIRST.uint8;
      bytes[at + 1] = value;
      this.#at = at + 2;
    } else if (value < 0x10000) {
      bytes[at] = FIRST.uint16;
      this.#at = bytes.writeUInt16BE(value, at + 1);
    } else {
      bytes[at] = FIRST.uint32;
      this.#at = bytes.writeUInt32BE(value, at + 1);
    }
  }

  #negative(value: number): void {
    const bytes = this.#bytes;
    const at = this.#at;
    if (value >= -0x20) {
      this.#at = bytes.writeInt8(value, at);
    } else if (value >= -0x80) {
      bytes[at] = FIRST.int8;
      this.#at = bytes.writeInt8(value, at + 1);
    } else if (value >= -0x8000) {
      bytes[at] = FIRST.int16;
      this.#at = bytes.writeInt16BE(value, at + 1);
    } else {
      bytes[at] = FIRST.int32;
      this.#at = bytes.writeInt32BE(value, at + 1);
    }
  }

  /** `short` is the first byte for none, `long` that for a length of two bytes; the one after it takes four. */
  #head(count: number, short: number, shortMax: number, long: number): void {
    this.#makeRoom(HEAD_BYTES_MAX);
    if (count <= shortMax) return this.#byte(short + count);
    const isLong = count >= 0x10000;
    this.#byte(isLong ? long + 1 : long);
    this.#at = isLong
      ? this.#bytes.writeUInt32BE(count, this.#at)
      : this.#bytes.writeUInt16BE(count, this.#at);
  }

  #stringHead(bytes: number): void {
    if (bytes <= FIX_STRING_MAX || bytes >= 0x100) {
      return this.#head(bytes, FIRST.fixString, FIX_STRING_MAX, FIRST.string16);
    }
    this.#byte(FIRST.string8);
    this.#byte(bytes);
  }

  /** False, and nothing written, for a string with other characters. */
  #ascii(value: string): boolean {
    const before = this.#at;
    this.#makeRoom(HEAD_BYTES_MAX + value.length);
    this.#stringHead(value.length);
    const bytes = this.#bytes;
    const at = this.#at;
    for (let i = 0; i < value.length; i += 1) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) {
        this.#at = before;
        return false;
      }
      bytes[at + i] = code;
    }
    this.#at = at + value.length;
    return true;
  }

  #utf8(value: string): void {
    const length = Buffer.byteLength(value);
    this.#makeRoom(HEAD_BYTES_MAX + length);
    this.#stringHead(length);
    this.#at += this.#bytes.write(value, this.#at);
  }

  #makeRoom(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

const shared = new PackWriter();

/**
 * Encodes a value. The result is a view into a shared buffer that the next call overwrites, so copy it to keep it.
 * Throws `EncodingError` on what the guard would refuse, apart from the number of values. `outerDepth`: how many levels the value is
 * to be nested in.
 */
export function pack(value: unknown, outerDepth = 0): Buffer {
  shared.begin();
  shared.value(value, outerDepth);
  return shared.end();
}
