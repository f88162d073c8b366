/**
 * Reads a JSON document of any size part by part: lists and objects that the caller wants opened are read one item or
 * field after the other, and everything else is one part, parsed and checked as a body is (json-body.ts). Only one part
 * is in memory at a time.
 */

import type { JsonValue } from '../../domain/json/json.ts';
import { pointerToken } from '../../domain/json/json-pointer.ts';
import { parseJson } from './json-body.ts';
import type { TextPlace } from './json-error-locator.ts';
import type { JsonLimits } from './json-shape.ts';

export type PartPath = readonly (string | number)[];

export interface JsonPart {
  /** Names and positions from the whole document to this part. */
  readonly path: PartPath;
  /** The value; for an opened list or object an empty one, whose parts follow. */
  readonly value: JsonValue;
}

export interface JsonPartsOptions {
  /** The name of the document in messages. */
  readonly whole: string;
  /** Whether the list or object at this path is opened. */
  isOpened(path: PartPath): boolean;
  /** Whether the value at this path is stepped over; it may be anything then, and be no JSON. */
  isSkipped?(path: PartPath): boolean;
  readonly partBytesMax: number;
  /** False where parts need not be fit to be stored: all that JSON.parse takes is one. */
  readonly isStored?: boolean;
  readonly limits: JsonLimits;
}

/** An error in the document. `path` is a JSON pointer. */
export class JsonPartsError extends Error {
  override readonly name = 'JsonPartsError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Throws `JsonPartsError` when it comes to a part that is not JSON, or that cannot be stored. */
export async function* readJsonParts(
  chunks: AsyncIterable<Uint8Array>,
  options: JsonPartsOptions,
): AsyncGenerator<JsonPart> {
  const reader = new PartReader(new ByteSource(chunks), options);
  yield* reader.value([]);
  await reader.end();
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [LIST_OPENS, LIST_CLOSES, OBJECT_OPENS, OBJECT_CLOSES] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
const SPACES: ReadonlySet<number | null> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NEWLINE = 0x0a;

class PartReader {
  readonly #source: ByteSource;
  readonly #options: JsonPartsOptions;

  constructor(source: ByteSource, options: JsonPartsOptions) {
    this.#source = source;
    this.#options = options;
  }

  async *value(path: PartPath): AsyncGenerator<JsonPart> {
    const first = await this.#next();
    if (this.#options.isOpened(path) && first === LIST_OPENS) yield* this.#items(path);
    else if (this.#options.isOpened(path) && first === OBJECT_OPENS) yield* this.#fields(path);
    else {
      const part = await this.#bytesOfValue(path);
      if (this.#options.isSkipped?.(path) !== true) yield { path, value: this.#parse(part, path) };
    }
  }

  async end(): Promise<void> {
    if ((await this.#next()) !== null) throw this.#expected('the end');
  }

  async *#items(path: PartPath): AsyncGenerator<JsonPart> {
    yield { path, value: [] };
    this.#source.skip(1);
    if (await this.#took(LIST_CLOSES)) return;
    for (let index = 0; ; index += 1) {
      yield* this.value([...path, index]);
      if (await this.#took(LIST_CLOSES)) return;
      if (!(await this.#took(COMMA))) throw this.#expected('a comma or ]');
    }
  }

  async *#fields(path: PartPath): AsyncGenerator<JsonPart> {
    yield { path, value: {} };
    this.#source.skip(1);
    if (await this.#took(OBJECT_CLOSES)) return;
    const names = new Set<string>();
    for (;;) {
      if ((await this.#next()) !== QUOTE) throw this.#expected('a field name in double quotes');
      const name = this.#parse(await this.#bytesOfValue(path), path) as string;
      this.#checkName(names, [...path, name]);
      if (!(await this.#took(COLON))) throw this.#expected('a colon');
      yield* this.value([...path, name]);
      if (await this.#took(OBJECT_CLOSES)) return;
      if (!(await this.#took(COMMA))) throw this.#expected('a comma or }');
    }
  }

  #checkName(names: Set<string>, path: PartPath): void {
    const name = String(path.at(-1));
    const shown = JSON.stringify(name);
    if (names.has(name)) throw faultAt(path, `The field ${shown} is given more than once.`);
    if (name === '__proto__') throw faultAt(path, `A field must not be named ${name}.`);
    names.add(name);
  }

  /** The next byte that is no space; null at the end. */
  async #next(): Promise<number | null> {
    for (;;) {
      const byte = await this.#source.peek();
      if (!SPACES.has(byte)) return byte;
      this.#source.skip(1);
    }
  }

  async #took(wanted: number): Promise<boolean> {
    if ((await this.#next()) !== wanted) return false;
    this.#source.skip(1);
    return true;
  }

  /** From here to where the value ends, if it is one: quotes and brackets are all that is looked at. */
  async #bytesOfValue(path: PartPath): Promise<Part> {
    const { partBytesMax } = this.#options;
    const end = new ValueEnd();
    let length = 0;
    for (;;) {
      length = end.search(this.#source.bytes, length);
      if (length > partBytesMax) {
        throw faultAt(path, `It must not take more than ${partBytesMax} bytes.`);
      }
      if (end.isFound || !(await this.#source.fill())) break;
    }
    const start = this.#source.place();
    const bytes = this.#source.bytes.subarray(0, length);
    this.#source.skip(length);
    return { bytes, start };
  }

  #parse({ bytes, start }: Part, path: PartPath): JsonValue {
    const { whole, limits, isStored = true } = this.#options;
    const parsed = parseJson(bytes, { whole, start, limits, isStored });
    if (parsed.ok) return parsed.value;
    throw new JsonPartsError(`${pointerTo(path)}${parsed.path ?? ''}`, parsed.message);
  }

  #expected(what: string): JsonPartsError {
    const { line, column } = this.#source.place();
    const { whole } = this.#options;
    const message = `${whole} is not valid JSON: at line ${line}, column ${column} there should be ${what}.`;
    return new JsonPartsError('', message);
  }
}

interface Part {
  readonly bytes: Uint8Array;
  /** The place of its first byte in the document. */
  readonly start: TextPlace;
}

const pointerTo = (path: PartPath): string => path.map((key) => `/${pointerToken(key)}`).join('');
const faultAt = (path: PartPath, message: string): JsonPartsError =>
  new JsonPartsError(pointerTo(path), message);

/** Looks for the end of a value in bytes that arrive bit by bit. */
class ValueEnd {
  #depth = 0;
  #isInText = false;
  isFound = false;

  /** Goes on at `from`; returns the offset behind the value, or the one to go on at. */
  search(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at]!;
      if (this.#isInText) {
        at += byte === BACKSLASH ? 2 : 1;
        if (byte !== QUOTE) continue;
        this.#isInText = false;
        if (this.#depth === 0) return this.#found(at);
      } else if (byte === LIST_CLOSES || byte === OBJECT_CLOSES) {
        // At depth 0 it ends the list or object that the value is in.
        if (this.#depth > 0) at += 1;
        this.#depth -= 1;
        if (this.#depth <= 0) return this.#found(at);
      } else if (this.#depth === 0 && (byte === COMMA || byte === COLON || SPACES.has(byte))) {
        return this.#found(at);
      } else {
        if (byte === QUOTE) this.#isInText = true;
        else if (byte === LIST_OPENS || byte === OBJECT_OPENS) this.#depth += 1;
        at += 1;
      }
    }
    return at;
  }

  #found(at: number): number {
    this.isFound = true;
    return at;
  }
}

/** The bytes that have arrived and were not skipped, and how many lines lie before them. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #buffer: Uint8Array = new Uint8Array();
  #at = 0;
  #lines = 0;
  /** Bytes of the line before `#at`. */
  #column = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(this.#at);
  }

  /** Waits for more bytes; false at the end. */
  async fill(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#buffer = Buffer.concat([this.bytes, next.value]);
    this.#at = 0;
    return true;
  }

  async peek(): Promise<number | null> {
    while (this.#at >= this.#buffer.length) if (!(await this.fill())) return null;
    return this.#buffer[this.#at] ?? null;
  }

  skip(count: number): void {
    const end = Math.min(this.#at + count, this.#buffer.length);
    const skipped = this.#buffer.subarray(this.#at, end);
    let lineAt = 0;
    for (let newline = skipped.indexOf(NEWLINE); newline >= 0; newline = skipped.indexOf(NEWLINE, lineAt)) {
      this.#lines += 1;
      this.#column = 0;
      lineAt = newline + 1;
    }
    this.#column += skipped.length - lineAt;
    this.#at = end;
  }

  place(): TextPlace {
    return { line: this.#lines + 1, column: this.#column + 1 };
  }
}
