/**
 * A cursor that moves over MessagePack without decoding it, for readers that need few of many values.
 *
 * The bytes were written by this server (message-pack.ts) or verified at the start, so a cursor only makes sure that
 * it never reads beyond the end. It fails for good at anything that it cannot read. A failed cursor stands at the
 * end, so callers check `failed` once, when they are done.
 */

const NIL = 0xc0;

/** By first byte: the size of a value without nested values, if the first byte determines it; else 0. */
const FIXED_LENGTHS = fixedLengths();

function fixedLengths(): Uint8Array {
  const lengths = new Uint8Array(256);
  lengths.fill(1, 0x00, 0x80);
  lengths.fill(1, 0xe0, 0x100);
  for (let length = 0; length < 32; length++) lengths[0xa0 + length] = 1 + length;
  for (const [first, length] of [
    [0xc0, 1],
    [0xc2, 1],
    [0xc3, 1],
    [0xca, 5],
    [0xcb, 9],
    [0xcc, 2],
    [0xcd, 3],
  ] as const)
    lengths[first] = length;
  for (const [first, length] of [
    [0xce, 5],
    [0xcf, 9],
    [0xd0, 2],
    [0xd1, 3],
    [0xd2, 5],
    [0xd3, 9],
    [0xd4, 3],
  ] as const)
    lengths[first] = length;
  return lengths;
}

export class MessagePackCursor {
  bytes: Buffer;
  at: number;
  failed = false;
  /** The content of the last string read. */
  stringStart = 0;
  stringEnd = 0;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  reset(bytes: Buffer, at = 0): void {
    this.bytes = bytes;
    this.at = at;
    this.failed = false;
  }

  /** Number of entries; the cursor stands at the first key. */
  readMap(): number {
    const first = this.#first();
    if (first >= 0x80 && first <= 0x8f) return this.#count(first & 15, 1, 2);
    if (first === 0xde) return this.#count(this.#length(2), 3, 2);
    if (first === 0xdf) return this.#count(this.#length(4), 5, 2);
    return this.fail();
  }

  /** Number of items; the cursor stands at the first. */
  readArray(): number {
    const first = this.#first();
    if (first >= 0x90 && first <= 0x9f) return this.#count(first & 15, 1, 1);
    if (first === 0xdc) return this.#count(this.#length(2), 3, 1);
    if (first === 0xdd) return this.#count(this.#length(4), 5, 1);
    return this.fail();
  }

  /** Sets `stringStart` and `stringEnd`. */
  readString(): void {
    const first = this.#first();
    let start = this.at + 1;
    let length = first & 31;
    if (first < 0xa0 || first > 0xbf) {
      if (first < 0xd9 || first > 0xdb) {
        this.fail();
        return;
      }
      const lengthBytes = 1 << (first - 0xd9);
      length = this.#length(lengthBytes);
      start += lengthBytes;
    }
    this.stringStart = start;
    this.stringEnd = start + length;
    this.#moveTo(start + length);
  }

  /** Moves over a nil, if there is one. */
  skipNil(): boolean {
    if (this.bytes[this.at] !== NIL) return false;
    this.at++;
    return true;
  }

  /** Moves over one value with all that is nested in it. */
  skip(): void {
    for (let values = 1; values > 0 && !this.failed; values--) {
      const first = this.#first();
      const fixed = FIXED_LENGTHS[first] ?? 0;
      if (fixed > 0) this.#moveTo(this.at + fixed);
      else if ((first & 0xf0) === 0x90 || first === 0xdc || first === 0xdd) values += this.readArray();
      else if (first >= 0xd9 && first <= 0xdb) this.readString();
      else values += 2 * this.readMap();
    }
  }

  fail(): 0 {
    this.failed = true;
    this.at = this.bytes.length;
    return 0;
  }

  #first(): number {
    return this.bytes[this.at] ?? -1;
  }

  #length(lengthBytes: number): number {
    if (this.at + 1 + lengthBytes > this.bytes.length) return this.fail();
    return this.bytes.readUIntBE(this.at + 1, lengthBytes);
  }

  /** Every nested value takes at least one byte, so a count beyond the remaining bytes is false. */
  #count(count: number, headBytes: number, valuesEach: number): number {
    this.#moveTo(this.at + headBytes);
    return this.at + count * valuesEach > this.bytes.length ? this.fail() : count;
  }

  #moveTo(at: number): void {
    if (at > this.bytes.length || this.failed) this.fail();
    else this.at = at;
  }
}
