/**
 * Writes MessagePack piece by piece: the fields that every frame has are known, and to have a general encoder look
 * them up in an object, and the guard read them again, is half of what appending a small change costs. Values whose
 * shape is not known here go through the general encoder and the guard (message-pack.ts), which reads all of it.
 *
 * The encodings are those that the general encoder chooses: the shortest for integers and lengths.
 */
import { FIRST, FIX_COUNT_MAX, FIX_STRING_MAX } from '../codec/first-bytes.ts';
import { EncodingError, guard, pack } from '../codec/message-pack.ts';

/** Holds almost every frame; a larger one makes it grow, and stay so. */
const BUFFER_BYTES_FIRST = 64 * 1024;

/** Strings up to this many characters are written byte by byte as long as they are ASCII: a native call costs more. */
const SHORT_STRING_MAX = 64;

/** The bytes that any length or number takes at most, with its first byte. */
const HEAD_BYTES_MAX = 9;

export class PayloadWriter {
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

  /** Keys and heads of maps and lists that never change. */
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

  /** A value of any shape, nested in `depth` levels of what was written piece by piece. */
  value(value: unknown, depth: number): void {
    if (value === null) return this.#byte(FIRST.nil);
    const packed = pack(value);
    const { problem } = guard(packed, depth);
    if (problem !== null) throw new EncodingError(problem);
    this.#makeRoom(packed.length);
    this.#bytes.set(packed, this.#at);
    this.#at += packed.length;
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
