/**
 * A cursor that moves over MessagePack without decoding it, for readers that need few of many values.
 *
 * The bytes were written by this server (message-pack.ts) or verified at the start, so a cursor only makes sure that
 * it never reads beyond the end. It fails for good at anything that it cannot read. A failed cursor stands at the
 * end, so callers check `failed` once, when they are done.
 */
import { CONTENT_BYTES_OF, FIRST, KIND_OF, KINDS, LENGTH_BYTES_OF, lengthAt } from './first-bytes.ts';

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
    return this.#readCount(KINDS.map, 2);
  }

  /** Number of items; the cursor stands at the first. */
  readArray(): number {
    return this.#readCount(KINDS.list, 1);
  }

  /** Sets `stringStart` and `stringEnd`. */
  readString(): void {
    const first = this.#first();
    const length = KIND_OF[first] === KINDS.string ? lengthAt(this.bytes, this.at, first) : -1;
    if (length < 0) {
      this.fail();
      return;
    }
    this.stringStart = this.at + 1 + LENGTH_BYTES_OF[first]!;
    this.stringEnd = this.stringStart + length;
    this.#moveTo(this.stringEnd);
  }

  /** Moves over a nil, if there is one. */
  skipNil(): boolean {
    if (this.bytes[this.at] !== FIRST.nil) return false;
    this.at++;
    return true;
  }

  /** Moves over one value with all that is nested in it. */
  skip(): void {
    for (let values = 1; values > 0 && !this.failed; values--) values += this.#step();
  }

  /** Moves behind the place `from`, and says whether one string holds all bytes from there up to and without `to`. */
  isInString(from: number, to: number): boolean {
    this.stringEnd = 0;
    while (this.at <= from && !this.failed) this.#step();
    return this.stringStart <= from && to <= this.stringEnd;
  }

  /** Moves over a value, or the head of a list or map; returns how many values it holds. */
  #step(): number {
    const first = this.#first();
    const kind = KIND_OF[first] ?? KINDS.none;
    if (kind === KINDS.string) this.readString();
    else if (kind === KINDS.list) return this.readArray();
    else if (kind === KINDS.map) return 2 * this.readMap();
    else if (kind === KINDS.none) this.fail();
    else this.#moveTo(this.at + 1 + CONTENT_BYTES_OF[first]!);
    return 0;
  }

  fail(): 0 {
    this.failed = true;
    this.at = this.bytes.length;
    return 0;
  }

  #first(): number {
    return this.bytes[this.at] ?? -1;
  }

  /** Every nested value takes at least one byte, so a count beyond the remaining bytes is false. */
  #readCount(kind: number, valuesEach: number): number {
    const first = this.#first();
    const count = KIND_OF[first] === kind ? lengthAt(this.bytes, this.at, first) : -1;
    if (count < 0) return this.fail();
    this.#moveTo(this.at + 1 + LENGTH_BYTES_OF[first]!);
    return this.at + count * valuesEach > this.bytes.length ? this.fail() : count;
  }

  #moveTo(at: number): void {
    if (at > this.bytes.length || this.failed) this.fail();
    else this.at = at;
  }
}
