/**
 * The first bytes of MessagePack values: which kind of value each begins, and where its length stands. The one place that
 * knows them, for the guard, for readers that do not decode, and for writers. What Flagstaff never writes is no kind.
 *
 * A value is its first byte, then a length of 0, 1, 2 or 4 bytes (big-endian), then content: bytes of its own, or as many
 * values as the length says, two for each entry of a map.
 */

/** The first bytes that are written one by one. Of the `fix` ones the length is added, of negative integers the value. */
export const FIRST = {
  fixMap: 0x80,
  fixList: 0x90,
  fixString: 0xa0,
  nil: 0xc0,
  false: 0xc2,
  true: 0xc3,
  float64: 0xcb,
  uint8: 0xcc,
  uint16: 0xcd,
  uint32: 0xce,
  int8: 0xd0,
  int16: 0xd1,
  int32: 0xd2,
  /** Followed by its type, 0, and one byte: a property that is `undefined`. */
  undefined: 0xd4,
  string8: 0xd9,
  string16: 0xda,
  list16: 0xdc,
  list32: 0xdd,
  map16: 0xde,
  map32: 0xdf,
} as const;

/** The longest length that the first byte of a list or map holds, and that of a string. */
export const FIX_COUNT_MAX = 15;
export const FIX_STRING_MAX = 31;

export const KINDS = {
  none: 0,
  nil: 1,
  boolean: 2,
  number: 3,
  undefined: 4,
  string: 5,
  list: 6,
  map: 7,
} as const;

/** All by first byte. */
export const KIND_OF = new Uint8Array(256);
/** Bytes of content, and number of values within, where the first byte says it all. */
export const CONTENT_BYTES_OF = new Uint8Array(256);
export const VALUES_OF = new Uint8Array(256);
/** Bytes of the length that follows. */
export const LENGTH_BYTES_OF = new Uint8Array(256);
/** The length that the first byte holds itself. */
const FIX_LENGTH_OF = new Uint8Array(256);

type Kind = (typeof KINDS)[keyof typeof KINDS];

function declare(first: number, kind: Kind, contentBytes: number): void {
  KIND_OF[first] = kind;
  CONTENT_BYTES_OF[first] = contentBytes;
}

/** The first of some bytes that follow each other, each with a longer length than the one before. */
function declareLengths(first: number, kind: Kind, lengthBytes: readonly number[]): void {
  for (const [index, bytes] of lengthBytes.entries()) {
    KIND_OF[first + index] = kind;
    LENGTH_BYTES_OF[first + index] = bytes;
  }
}

function declareFix(first: number, kind: Kind, lengthMax: number): void {
  for (let length = 0; length <= lengthMax; length += 1) {
    declare(first + length, kind, kind === KINDS.string ? length : 0);
    FIX_LENGTH_OF[first + length] = length;
    if (kind !== KINDS.string) VALUES_OF[first + length] = kind === KINDS.map ? 2 * length : length;
  }
}

KIND_OF.fill(KINDS.number, 0x00, 0x80);
KIND_OF.fill(KINDS.number, 0xe0, 0x100);
declareFix(FIRST.fixMap, KINDS.map, FIX_COUNT_MAX);
declareFix(FIRST.fixList, KINDS.list, FIX_COUNT_MAX);
declareFix(FIRST.fixString, KINDS.string, FIX_STRING_MAX);
declare(FIRST.nil, KINDS.nil, 0);
declare(FIRST.false, KINDS.boolean, 0);
declare(FIRST.true, KINDS.boolean, 0);
// Floats, unsigned and signed integers, of 1 to 8 bytes.
for (const [index, bytes] of [4, 8, 1, 2, 4, 8, 1, 2, 4, 8].entries()) {
  declare(0xca + index, KINDS.number, bytes);
}
declare(FIRST.undefined, KINDS.undefined, 2);
declareLengths(FIRST.string8, KINDS.string, [1, 2, 4]);
declareLengths(FIRST.list16, KINDS.list, [2, 4]);
declareLengths(FIRST.map16, KINDS.map, [2, 4]);

/** All bytes of a value whose first byte says how many they are, where it is neither a list, a map nor undefined; else 0. */
export const PLAIN_BYTES_OF = Uint8Array.from(KIND_OF, (kind, first) => {
  const isPlain =
    kind !== KINDS.none && kind !== KINDS.undefined && kind !== KINDS.list && kind !== KINDS.map;
  return isPlain && LENGTH_BYTES_OF[first] === 0 ? 1 + CONTENT_BYTES_OF[first]! : 0;
});

/** The length of the string, list or map at `at`, which begins with `first`; -1 where it is cut short. */
export function lengthAt(bytes: Buffer, at: number, first: number): number {
  const lengthBytes = LENGTH_BYTES_OF[first]!;
  if (lengthBytes === 0) return FIX_LENGTH_OF[first]!;
  if (at + 1 + lengthBytes > bytes.length) return -1;
  return lengthBytes === 1 ? bytes[at + 1]! : bytes.readUIntBE(at + 1, lengthBytes);
}

/** The number at `at`; null where there is none, where it is cut short, and for the kinds that are hardly ever written. */
export function numberAt(bytes: Buffer, at: number): number | null {
  const first = bytes[at];
  if (first === undefined || KIND_OF[first] !== KINDS.number) return null;
  if (first < 0x80) return first;
  if (first >= 0xe0) return first - 0x100;
  if (at + 1 + CONTENT_BYTES_OF[first]! > bytes.length) return null;
  switch (first) {
    case FIRST.uint8:
      return bytes.readUInt8(at + 1);
    case FIRST.uint16:
      return bytes.readUInt16BE(at + 1);
    case FIRST.uint32:
      return bytes.readUInt32BE(at + 1);
    case FIRST.float64:
      return bytes.readDoubleBE(at + 1);
    case FIRST.int8:
      return bytes.readInt8(at + 1);
    case FIRST.int16:
      return bytes.readInt16BE(at + 1);
    case FIRST.int32:
      return bytes.readInt32BE(at + 1);
    default:
      return null;
  }
}
