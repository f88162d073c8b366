/**
 * Counts a body's nesting, values, names and items of each list in one pass over its bytes, before any of it is parsed.
 * Protects the event loop, because parsing a byte and checking it against the schemas costs many times as much. The
 * counts are right if the body is JSON at all; parsing finds out whether it is.
 */
import { randomInt } from 'node:crypto';
import { JSON_DEPTH_MAX } from '../../domain/json/json.ts';
import { pointerToken } from '../../domain/json/json-pointer.ts';

/** Items of one list, or fields of one object, however deep. Far above what the rules allow of anything. */
export const LIST_LENGTH_MAX = 10_000;

/** Values in a body, lists and objects among them. At the size of the largest body that is one in 21 bytes. */
export const VALUES_MAX = 50_000;

/** Different names of fields. Parsing one takes as long as a hundred bytes do, and looking for it in a large object again. */
export const NAMES_MAX = 12_000;

export interface JsonLimits {
  /** Nesting levels of lists and objects. */
  readonly depthMax: number;
  readonly listLengthMax: number;
  readonly valuesMax: number;
  /** About how many different names its fields may have. */
  readonly namesMax: number;
}

export const BODY_LIMITS: JsonLimits = {
  depthMax: JSON_DEPTH_MAX,
  listLengthMax: LIST_LENGTH_MAX,
  valuesMax: VALUES_MAX,
  namesMax: NAMES_MAX,
};

export type JsonShape =
  | { readonly ok: true; readonly nameCount: number }
  /** `path`: JSON pointer below the body. */
  | { readonly ok: false; readonly message: string; readonly path?: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENING = [0x5b, 0x7b] as const;
const CLOSING = [0x5d, 0x7d] as const;

/**
 * The lists and objects that are open at a byte, by their depth. One for all calls: a body is measured in one go, and making
 * an object for each list of it takes as long as all the rest.
 */
const areLists: boolean[] = [];
/** Items or fields begun so far; 1 when it is empty, too. */
const lengths: number[] = [];
/** The start of the name of the field being read, for each open object; -1 before its first. */
const nameStarts: number[] = [];

/** Names so far, each as one of so many bits, which a few share by chance. */
const seenNames = new Uint8Array(2 ** 15);

/** Unknown to clients, so that none can make names that share bits. */
const HASH_START = randomInt(2 ** 32);

/** Bytes of the shortest field of an object, `"":0,`. */
const FIELD_BYTES_MIN = 5;

/** Bytes are enough to look at, since none of a multi-byte character is an ASCII one. */
export function measureShape(bytes: Uint8Array, limits: JsonLimits = BODY_LIMITS): JsonShape {
  let top = -1;
  let nameCount = 0;
  let valueCount = 1;
  let newNameCount = 0;
  const countsNames = bytes.length > limits.namesMax * FIELD_BYTES_MIN;
  if (countsNames) seenNames.fill(0);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at);
      if (top >= 0 && nameStarts[top]! < 0) {
        nameStarts[top] = at;
        if (countsNames && areLists[top] === false && isNew(bytes, at + 1, end)) newNameCount++;
        if (newNameCount > limits.namesMax) return tooManyNames(limits);
      }
      at = end;
    } else if (byte === COLON) nameCount++;
    else if (byte === COMMA && top >= 0) {
      const length = lengths[top]! + 1;
      lengths[top] = length;
      nameStarts[top] = -1;
      valueCount++;
      if (length > limits.listLengthMax) return tooLong(bytes, top, limits);
    } else if (byte === OPENING[0] || byte === OPENING[1]) {
      top++;
      if (top >= limits.depthMax) return tooDeep(limits);
      areLists[top] = byte === OPENING[0];
      lengths[top] = 1;
      nameStarts[top] = -1;
      valueCount++;
    } else if (byte === CLOSING[0] || byte === CLOSING[1]) {
      top--;
      // No JSON, whatever follows; the parser says why.
      if (top < -1) return { ok: true, nameCount };
    }
    if (valueCount > limits.valuesMax) return tooMany(limits);
  }
  return { ok: true, nameCount };
}

const tooDeep = ({ depthMax }: JsonLimits): JsonShape => ({
  ok: false,
  message: `The body must not nest arrays and objects more than ${depthMax} levels deep.`,
});

const tooMany = ({ valuesMax }: JsonLimits): JsonShape => ({
  ok: false,
  message: `The body must not hold more than ${valuesMax} values.`,
});

const tooManyNames = ({ namesMax }: JsonLimits): JsonShape => ({
  ok: false,
  message: `The fields of the body must not have more than ${namesMax} different names.`,
});

/** Notes the name between the two places; whether it was not there yet. */
function isNew(bytes: Uint8Array, start: number, end: number): boolean {
  // FNV-1a.
  let hash = HASH_START;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  const bit = (hash ^ (hash >>> 15)) & (8 * seenNames.length - 1);
  const mask = 1 << (bit & 7);
  const byte = seenNames[bit >>> 3]!;
  seenNames[bit >>> 3] = byte | mask;
  return (byte & mask) === 0;
}

/** `top`: the depth of the list or object that is too long. */
function tooLong(bytes: Uint8Array, top: number, { listLengthMax }: JsonLimits): JsonShape {
  const keys = areLists
    .slice(0, top)
    .map((isList, depth) => (isList ? lengths[depth]! - 1 : nameAt(bytes, nameStarts[depth]!)));
  const path = keys.map((key) => `/${pointerToken(key)}`).join('');
  const last = keys.at(-1);
  const place =
    last === undefined ? 'The body' : typeof last === 'string' ? `The field ${last}` : `Item ${last}`;
  const parts = areLists[top] === true ? 'items' : 'fields';
  return { ok: false, path, message: `${place} must not have more than ${listLengthMax} ${parts}.` };
}

/** Empty for what is no name: the body is not JSON then, which is not what it is refused for. */
function nameAt(bytes: Uint8Array, start: number): string {
  if (start < 0) return '';
  try {
    return String(JSON.parse(Buffer.from(bytes.subarray(start, endOfString(bytes, start) + 1)).toString()));
  } catch {
    return '';
  }
}

/** From its opening quote to its closing one, or to the end of the bytes when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
