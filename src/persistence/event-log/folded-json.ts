/**
 * Converts MessagePack directly to lower-case JSON text, as bytes, without decoding, for a text search that has to
 * read everything. The result is exactly that of `JSON.stringify(value).toLowerCase()`, or null.
 *
 * It covers the usual content of events: ASCII strings, numbers, lists and maps. It returns null, and the caller has
 * to decode, for everything else: other characters (their lower case depends on more than one character), keys that
 * begin with a digit (JavaScript lists such keys before the others), values set to `undefined`, integers of 64 bits,
 * deep nesting.
 */
import { FIRST, KIND_OF, KINDS, numberAt } from '../codec/first-bytes.ts';
import { DEPTH_MAX } from '../codec/message-pack.ts';
import { MessagePackCursor } from '../codec/message-pack-cursor.ts';

/** Bounds the scratch buffer; larger data is decoded. */
const DATA_BYTES_MAX = 256 * 1024;

/**
 * The worst cases are a list of `false`, one byte each in MessagePack, and control characters, six bytes as `\u001f`.
 */
const TEXT_PER_BYTE_MAX = 6;

const GAVE_UP = -1;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];

const NULL = Buffer.from('null');
const FALSE = Buffer.from('false');
const TRUE = Buffer.from('true');

/** By byte of a string: what stands for it in the text; empty for bytes of other characters. */
const TEXT_OF_BYTE: readonly Buffer[] = Array.from({ length: 256 }, (_, byte) =>
  byte > 0x7f
    ? Buffer.alloc(0)
    : Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1).toLowerCase()),
);

/** By byte of a string: the one byte that stands for it, or 0 where it is not one. */
const FOLDED_BYTE = Uint8Array.from(TEXT_OF_BYTE, (text) => (text.length === 1 ? (text[0] ?? 0) : 0));

export class FoldedJson {
  readonly #cursor = new MessagePackCursor(Buffer.alloc(0));
  #text = Buffer.allocUnsafe(4096);
  #length = 0;

  /** The text of one value, valid until the next call; null when only decoding can tell. */
  of(value: Buffer): Buffer | null {
    if (value.length > DATA_BYTES_MAX) return null;
    const needed = value.length * TEXT_PER_BYTE_MAX + 2;
    if (this.#text.length < needed) this.#text = Buffer.allocUnsafe(needed * 2);
    this.#cursor.reset(value);
    this.#length = 0;
    this.#value(0);
    if (this.#length === GAVE_UP || this.#cursor.failed || this.#cursor.at !== value.length) return null;
    return this.#text.subarray(0, this.#length);
  }

  #value(depth: number): void {
    const { bytes, at } = this.#cursor;
    if (depth > DEPTH_MAX || this.#length === GAVE_UP) return this.#giveUp();
    switch (KIND_OF[bytes[at] ?? -1]) {
      case KINDS.nil:
        return this.#literal(NULL);
      case KINDS.boolean:
        return this.#literal(bytes[at] === FIRST.true ? TRUE : FALSE);
      case KINDS.number:
        return this.#number(numberAt(bytes, at));
      case KINDS.string:
        return this.#string();
      case KINDS.list:
        return this.#list(depth);
      case KINDS.map:
        return this.#map(depth);
      default:
        return this.#giveUp();
    }
  }

  #map(depth: number): void {
    const entries = this.#cursor.readMap();
    this.#byte(0x7b);
    for (let entry = 0; entry < entries && this.#length !== GAVE_UP; entry++) {
      if (entry > 0) this.#byte(COMMA);
      this.#string();
      const { bytes, stringStart, stringEnd } = this.#cursor;
      const first = bytes[stringStart] ?? 0;
      if (stringEnd > stringStart && first >= 0x30 && first <= 0x39) this.#giveUp();
      this.#byte(COLON);
      this.#value(depth + 1);
    }
    this.#byte(0x7d);
  }

  #list(depth: number): void {
    const items = this.#cursor.readArray();
    this.#byte(0x5b);
    for (let item = 0; item < items && this.#length !== GAVE_UP; item++) {
      if (item > 0) this.#byte(COMMA);
      this.#value(depth + 1);
    }
    this.#byte(0x5d);
  }

  #string(): void {
    const cursor = this.#cursor;
    cursor.readString();
    if (cursor.failed) return this.#giveUp();
    this.#byte(QUOTE);
    const { bytes, stringEnd } = cursor;
    const text = this.#text;
    let length = this.#length;
    for (let at = cursor.stringStart; at < stringEnd && length !== GAVE_UP; at++) {
      const byte = bytes[at] as number;
      const folded = FOLDED_BYTE[byte] as number;
      if (folded !== 0) text[length++] = folded;
      else length = this.#escape(byte, length);
    }
    this.#length = length;
    this.#byte(QUOTE);
  }

  #escape(byte: number, length: number): number {
    const escaped = TEXT_OF_BYTE[byte] as Buffer;
    if (escaped.length === 0) return GAVE_UP;
    this.#text.set(escaped, length);
    return length + escaped.length;
  }

  #number(value: number | null): void {
    if (value === null) return this.#giveUp();
    if (Number.isInteger(value) && Math.abs(value) < 100_000) this.#integer(value);
    else this.#write(Buffer.from(JSON.stringify(value), 'latin1'));
    this.#cursor.skip();
  }

  /** Up to five digits and a sign, without a string in between. */
  #integer(value: number): void {
    let rest = value;
    if (rest < 0) {
      this.#byte(0x2d);
      rest = -rest;
    }
    let unit = 1;
    while (unit * 10 <= rest) unit *= 10;
    for (; unit >= 1; unit = Math.trunc(unit / 10)) this.#byte(0x30 + (Math.trunc(rest / unit) % 10));
  }

  #literal(text: Buffer): void {
    this.#write(text);
    this.#cursor.skip();
  }

  #write(text: Buffer): void {
    if (this.#length === GAVE_UP) return;
    this.#text.set(text, this.#length);
    this.#length += text.length;
  }

  #byte(byte: number): void {
    if (this.#length !== GAVE_UP) this.#text[this.#length++] = byte;
  }

  #giveUp(): void {
    this.#length = GAVE_UP;
  }
}
