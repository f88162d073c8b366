/**
 * MessagePack as Flagstaff writes it, and the guard that every stored value passes on its way in and out.
 *
 * It writes nil, booleans, numbers, strings, arrays and maps with string keys, which any language can read, and the
 * extension type 0 with one byte for a property that is `undefined`, to be read as nil. It writes nothing else.
 *
 * The guard walks the bytes before anything is decoded, because a checksum proves only that the bytes are those
 * that were written: content may be hostile. It bounds depth (a decoder recurses), counts (a decoder allocates
 * what a length field says) and kinds. The same guard runs before an append, so nothing can be written that a later
 * start would refuse.
 */
import { Packr } from 'msgpackr';
import { CONTENT_BYTES_OF, KIND_OF, KINDS, LENGTH_BYTES_OF, lengthAt, VALUES_OF } from './first-bytes.ts';

/** Protects the stack: msgpackr overflows it near depth 1,400. Request bodies are limited to 64, state adds a few. */
export const DEPTH_MAX = 128;

/** Protects the heap: a value costs up to 60 bytes decoded, and a megabyte of JSON holds half a million at most. */
export const VALUES_MAX = 2 ** 21;

/** A value that must not be written: a reader would refuse it, or it is over a limit. The message names the limit. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}

// `useToJSON`: a field of that name in users' data is data, and not a function to call.
const packr = new Packr({
  useRecords: false,
  variableMapSize: true,
  int64AsType: 'number',
  useToJSON: false,
});

/**
 * Encodes a value. The result is a view into a shared buffer that the next call overwrites, so copy it to keep it.
 */
export function pack(value: unknown): Buffer {
  return packr.pack(value);
}

/** Decodes bytes that the guard has accepted. Throws on bytes that are not one whole value. */
export function unpack(bytes: Uint8Array): unknown {
  return packr.unpack(bytes);
}

export type GuardVerdict =
  | { readonly problem: string }
  | { readonly problem: null; readonly values: number; readonly mapEntries: number };

const refuse = (problem: string, at: number): GuardVerdict => ({ problem: `${problem} at byte ${at}` });

/** What a first byte announces: bytes of the head, bytes of the content, and number of nested values. */
interface Head {
  headBytes: number;
  contentBytes: number;
  items: number;
  isMap: boolean;
  isString: boolean;
}

/** The guard's working memory: for each depth, how many values are still to come and whether they belong to a map. */
const head: Head = { headBytes: 0, contentBytes: 0, items: 0, isMap: false, isString: false };
const remaining = new Float64Array(DEPTH_MAX + 1);
const inMap = new Uint8Array(DEPTH_MAX + 1);

/**
 * Walks the bytes without decoding or recursing. Says what is wrong, or how many map entries there are.
 * `outerDepth`: how many levels the value is to be nested in.
 */
export function guard(bytes: Buffer, outerDepth = 0): GuardVerdict {
  let top = 0;
  remaining[0] = 1;
  inMap[0] = 0;
  let at = 0;
  let values = 0;
  let mapEntries = 0;
  while (top >= 0) {
    const left = remaining[top]!;
    if (left === 0) {
      top -= 1;
      continue;
    }
    if (!readHead(bytes, at, head))
      return refuse('not a kind of value that is ever written, or cut short', at);
    if (inMap[top] === 1 && left % 2 === 0) {
      if (!head.isString) return refuse('a map key that is not a string', at);
      if (isProtoKey(bytes, at + head.headBytes, head.contentBytes)) return refuse('the key __proto__', at);
    }
    remaining[top] = left - 1;
    at += head.headBytes + head.contentBytes;
    // Every nested value takes at least one byte, so a count beyond the remaining bytes is false.
    if (at + head.items > bytes.length) return refuse('a length beyond the end', at);
    values += 1;
    if (values > VALUES_MAX) return refuse(`more than ${VALUES_MAX} values`, at);
    if (head.items === 0) continue;
    if (top + outerDepth >= DEPTH_MAX) return refuse(`nesting deeper than ${DEPTH_MAX}`, at);
    if (head.isMap) mapEntries += head.items / 2;
    top += 1;
    remaining[top] = head.items;
    inMap[top] = head.isMap ? 1 : 0;
  }
  return at === bytes.length ? { problem: null, values, mapEntries } : refuse('bytes after the value', at);
}

function readHead(bytes: Buffer, at: number, head: Head): boolean {
  const first = bytes[at];
  if (first === undefined) return false;
  const kind = KIND_OF[first]!;
  head.isString = kind === KINDS.string;
  head.isMap = kind === KINDS.map;
  if (LENGTH_BYTES_OF[first] !== 0) return readLength(bytes, at, first, head);
  head.headBytes = 1;
  head.contentBytes = CONTENT_BYTES_OF[first]!;
  head.items = VALUES_OF[first]!;
  if (kind !== KINDS.undefined) return kind !== KINDS.none;
  return bytes[at + 1] === 0 && at + 2 < bytes.length;
}

function readLength(bytes: Buffer, at: number, first: number, head: Head): boolean {
  const length = lengthAt(bytes, at, first);
  if (length < 0) return false;
  head.headBytes = 1 + LENGTH_BYTES_OF[first]!;
  head.contentBytes = head.isString ? length : 0;
  head.items = head.isString ? 0 : head.isMap ? length * 2 : length;
  return true;
}

const PROTO_KEY = Buffer.from('__proto__');

/** msgpackr reads this key back under another name, so it cannot be stored. Requests with it are refused too. */
function isProtoKey(bytes: Buffer, start: number, length: number): boolean {
  return length === PROTO_KEY.length && bytes.subarray(start, start + length).equals(PROTO_KEY);
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
