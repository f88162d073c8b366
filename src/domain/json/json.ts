/**
 * JSON values, and which of them can be stored. A value that passes `checkStorable` comes back equal from the journal
 * (MessagePack), a snapshot and a response (JSON). Any other value is refused where it enters, because it would make
 * the recovered state differ from the live one. Functions here read only own keys, so nothing inherited is read or
 * copied.
 */
import { growthIn, type SizeUnit } from './growth.ts';
import { pointerToken } from './json-pointer.ts';

export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/**
 * Nesting levels of arrays and objects. Protects the stack in recursive functions: JSON.stringify overflows it near
 * 4,200 levels and msgpackr near 1,400. The deepest value of the interface has 6.
 */
export const JSON_DEPTH_MAX = 64;

/** The reason why a value cannot be stored. `path` is a JSON pointer below the value, '' for the value itself. */
export interface StorableIssue {
  readonly path: string;
  readonly message: string;
}

/** `depthMax`: for what holds values of JSON_DEPTH_MAX levels in some more of its own. */
export function checkStorable(value: unknown, depthMax = JSON_DEPTH_MAX): StorableIssue | null {
  return new StorableWalk().issueIn(value, JSON_DEPTH_MAX - depthMax, null);
}

/** `checkStorable` and a measure of the value in one walk. The measure holds only where there is no issue. */
export function inspectJson(value: unknown): JsonMeasure & { readonly issue: StorableIssue | null } {
  const walk = new StorableWalk();
  const issue = walk.issueIn(value, 0, null);
  return { issue, depth: walk.depth, size: walk.size };
}

/**
 * Compares keys in any order and items in their order; 0 and -0 are equal. Both values must be JSON. They are typed
 * as unknown, because TypeScript does not accept an interface as a JsonObject.
 */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isJsonArray(a))
    return isJsonArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  return !isJsonArray(b) && objectsEqual(a as JsonObject, b as JsonObject);
}

/** A copy that shares no array or object with `value`. */
export function cloneJson<T extends JsonValue>(value: T): T {
  return cloneValue(value) as T;
}

export interface JsonMeasure {
  /** The nesting depth: 0 for a scalar, 1 for an array or object of scalars. */
  readonly depth: number;
  /** Bytes of the JSON text. */
  readonly size: number;
}

/** Bytes of the JSON text. It runs on every change of a strategy, so it allocates nothing for plain text. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return stringSize(value);
  if (typeof value !== 'object' || value === null) return scalarSize(value);
  let size = 0;
  if (Array.isArray(value)) {
    for (const item of value) size += jsonSize(item);
    return size + frameSize(value.length);
  }
  let count = 0;
  for (const key in value) {
    count += 1;
    size += fieldSize(value as JsonObject, key);
  }
  return size + frameSize(count);
}

function fieldSize(fields: Readonly<Record<string, unknown>>, key: string): number {
  return jsonSize(fields[key]) + nameSize(key);
}

/** By how much `after` is larger than `before`: the difference of their sizes. */
export function jsonGrowth(before: unknown, after: unknown): number {
  return growthIn(JSON_BYTES, before, after);
}

/** How many values there are in `value`, itself and the names of fields included, as the journal counts them. */
export function valueCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  if (Array.isArray(value)) {
    for (const item of value) count += valueCount(item);
    return count;
  }
  for (const key in value) count += 1 + valueCount((value as JsonObject)[key]);
  return count;
}

/** `Array.isArray` alone does not narrow a union with a readonly array. */
export function isJsonArray(value: unknown): value is JsonArray {
  return Array.isArray(value);
}

/** True for a JSON object: not null and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No lone surrogates: UTF-8 has no bytes for them, so they would come back as U+FFFD. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

/** The size of a number, true, false or null. */
const scalarSize = (value: unknown): number =>
  typeof value === 'number' ? String(value).length : value === false ? 5 : 4;

/** The brackets of a list or an object, and the commas in it. */
const frameSize = (count: number): number => 2 + (count > 1 ? count - 1 : 0);

const JSON_BYTES: SizeUnit = {
  sizeOf: jsonSize,
  listSize: frameSize,
  objectSize: frameSize,
  fieldSize,
};

/** Up to this length a loop is quicker than the start of a regular expression. */
const LOOPED_LENGTH_MAX = 40;
/** Characters that JSON writes as one byte each. */
const PLAIN_TEXT = /^[\x20\x21\x23-\x5b\x5d-\x7f]*$/;

/** Bytes of the text in its quotes, with escapes, as UTF-8. */
function stringSize(text: string): number {
  const isPlain = text.length <= LOOPED_LENGTH_MAX ? isPlainText(text) : PLAIN_TEXT.test(text);
  return isPlain ? text.length + 2 : escapedSize(text);
}

/** For each character up to 0x7f, as JSON has it. */
const ESCAPED_SIZES = Uint8Array.from(
  { length: 0x80 },
  (_, code) => JSON.stringify(String.fromCharCode(code)).length - 2,
);

/** Bytes of the text in its quotes. `JSON.stringify` takes six times as long for a text of control characters. */
function escapedSize(text: string): number {
  let size = 2;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) size += ESCAPED_SIZES[code]!;
    else if (code < 0x800) size += 2;
    else if (code < 0xd800 || code > 0xdfff) size += 3;
    else if (code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      size += 4;
      at += 1;
    } else size += LONE_SURROGATE_SIZE;
  }
  return size;
}

/** Bytes of half of a surrogate pair, which JSON has as an escape. */
const LONE_SURROGATE_SIZE = 6;

function isPlainText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7f || code === 0x22 || code === 0x5c) return false;
  }
  return true;
}

/** With its quotes and a colon. */
const nameSize = (key: string): number => stringSize(key) + 1;

/** The path is a linked list towards the root, and becomes text only when there is a fault. */
interface Step {
  readonly key: string | number;
  readonly parent: Step | null;
}

/** Walks a value once: says why it cannot be stored, or how deep and how large it is. */
class StorableWalk implements JsonMeasure {
  depth = 0;
  size = 0;

  issueIn(value: unknown, depth: number, at: Step | null): StorableIssue | null {
    switch (typeof value) {
      case 'string':
        this.size += stringSize(value);
        return isWellFormed(value) ? null : issue(at, LONE_SURROGATE);
      case 'number':
        this.size += scalarSize(value);
        return Number.isFinite(value) ? null : issue(at, OUT_OF_RANGE);
      case 'boolean':
        this.size += scalarSize(value);
        return null;
      case 'object':
        if (value !== null) return this.#issueInside(value, depth, at);
        this.size += scalarSize(value);
        return null;
      default:
        return issue(at, `A value of type ${typeof value} is not JSON.`);
    }
  }

  #issueInside(value: object, depth: number, at: Step | null): StorableIssue | null {
    if (depth >= JSON_DEPTH_MAX) return issue(at, TOO_DEEP);
    if (depth >= this.depth) this.depth = depth + 1;
    return Array.isArray(value)
      ? this.#issueInItems(value, depth, at)
      : this.#issueInFields(value, depth, at);
  }

  #issueInItems(items: readonly unknown[], depth: number, at: Step | null): StorableIssue | null {
    this.size += frameSize(items.length);
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      const found = this.#passes(item) ? null : this.issueIn(item, depth + 1, { key: index, parent: at });
      if (found !== null) return found;
    }
    return null;
  }

  #issueInFields(fields: object, depth: number, at: Step | null): StorableIssue | null {
    const prototype: unknown = Object.getPrototypeOf(fields);
    if (prototype !== Object.prototype && prototype !== null) return issue(at, NOT_PLAIN);
    const keys = Object.keys(fields);
    this.size += frameSize(keys.length);
    for (const key of keys) {
      if (key === '__proto__') return issue({ key, parent: at }, PROTO_KEY);
      if (!isWellFormed(key)) return issue(at, LONE_SURROGATE_KEY);
      this.size += nameSize(key);
      const field = (fields as Record<string, unknown>)[key];
      const found = this.#passes(field) ? null : this.issueIn(field, depth + 1, { key, parent: at });
      if (found !== null) return found;
    }
    return null;
  }

  /** Lets the most common values pass, for which no step has to be made. */
  #passes(value: unknown): boolean {
    if (typeof value !== 'boolean' && value !== null) return false;
    this.size += scalarSize(value);
    return true;
  }
}

const OUT_OF_RANGE = 'The number is beyond the range of a double, about 1.8e308.';
const LONE_SURROGATE = 'The text holds half of a surrogate pair, which is not a Unicode character.';
const LONE_SURROGATE_KEY = 'A field name holds half of a surrogate pair, which is not a Unicode character.';
const PROTO_KEY = 'A field must not be named __proto__.';
const TOO_DEEP = `Arrays and objects must not be nested more than ${JSON_DEPTH_MAX} levels deep.`;
const NOT_PLAIN = 'An object that is not a plain one is not JSON.';

function issue(at: Step | null, message: string): StorableIssue {
  let path = '';
  for (let step = at; step !== null; step = step.parent) path = `/${pointerToken(step.key)}${path}`;
  return { path, message };
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  let more = 0;
  for (const key in a) {
    if (!Object.hasOwn(b, key) || !jsonEqual(a[key], b[key])) return false;
    more += 1;
  }
  for (const _ in b) more -= 1;
  return more === 0;
}

function cloneValue(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonArray(value)) return value.map(cloneValue);
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    // Assigning to this key would set the copy's prototype instead of a field.
    if (key === '__proto__') throw new Error('A field named __proto__ got past checkStorable.');
    copy[key] = cloneValue(value[key] as JsonValue);
  }
  return copy;
}
