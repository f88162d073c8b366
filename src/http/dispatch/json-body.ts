/**
 * Turns the bytes of a body into a JSON value that can be stored. It comes back equal from the journal, a snapshot
 * and a response (see src/domain/json/json.ts), and means the same to every reader. So, besides invalid JSON,
 * - bytes that are not UTF-8 are refused instead of replaced, and so is a byte order mark;
 * - a name given twice in one object is refused: readers differ on which of the two counts;
 * - numbers beyond the range of a double, half surrogate pairs and fields named __proto__ are refused;
 * - nesting beyond JSON_DEPTH_MAX is refused before anything is parsed;
 * - -0 becomes 0, as JSON.stringify would make it anyway.
 *
 * One pass over the bytes counts nesting and names, JSON.parse does the rest, and a walk over the result counts its
 * fields. JSON.parse keeps only the last of equal names, so the two counts differ exactly when a name occurs twice. A
 * valid body therefore needs no set of names. Everything takes linear time.
 */
import { checkStorable, JSON_DEPTH_MAX, type JsonValue } from '../../domain/json/json.ts';
import { diagnoseJson } from './json-error-locator.ts';

export type ParsedBody =
  | { readonly ok: true; readonly value: JsonValue }
  /** `path` is a JSON pointer below the body, when the fault is inside a value that could be parsed. */
  | { readonly ok: false; readonly message: string; readonly path?: string };

export function parseJsonBody(bytes: Uint8Array): ParsedBody {
  const text = decode(bytes);
  if (text === undefined) return refusal('The body is not valid UTF-8.');
  if (text.startsWith('\uFEFF')) return refusal('The body must not start with a byte order mark.');
  const nameCount = countNames(bytes);
  if (nameCount === TOO_DEEP) {
    return refusal(`The body must not nest arrays and objects more than ${JSON_DEPTH_MAX} levels deep.`);
  }
  const parsed = parse(text);
  if (parsed === undefined || countFields(parsed) !== nameCount) return { ok: false, ...diagnoseJson(text) };
  const value = Object.is(parsed, -0) ? 0 : parsed;
  const fault = checkStorable(value);
  return fault === null ? { ok: true, value } : { ok: false, ...fault };
}

/** Keeps the mark, so that it can be refused. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING = [0x5b, 0x7b] as const;
const CLOSING = [0x5d, 0x7d] as const;
const TOO_DEEP = -1;

/**
 * Colons outside strings: one for each name, if the body is JSON at all. Bytes are enough, since none of a
 * multi-byte character is an ASCII one.
 */
function countNames(bytes: Uint8Array): number {
  let depth = 0;
  let nameCount = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COLON) nameCount++;
    else if (byte === OPENING[0] || byte === OPENING[1]) depth++;
    else if (byte === CLOSING[0] || byte === CLOSING[1]) depth--;
    if (depth > JSON_DEPTH_MAX) return TOO_DEEP;
  }
  return nameCount;
}

/** From its opening quote to its closing one, or to the end of the bytes when there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Fields of all objects in the value. On its way it makes every -0 inside a 0; the value is nobody else's yet. */
function countFields(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Array.isArray(value) ? countInItems(value) : countInObject(value as Record<string, JsonValue>);
}

function countInItems(items: JsonValue[]): number {
  let fieldCount = 0;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as JsonValue;
    if (typeof item === 'object') fieldCount += countFields(item);
    else if (Object.is(item, -0)) items[index] = 0;
  }
  return fieldCount;
}

function countInObject(fields: Record<string, JsonValue>): number {
  const names = Object.keys(fields);
  let fieldCount = names.length;
  for (const name of names) {
    const field = fields[name] as JsonValue;
    if (typeof field === 'object') fieldCount += countFields(field);
    else if (Object.is(field, -0)) fields[name] = 0;
  }
  return fieldCount;
}

function refusal(message: string): ParsedBody {
  return { ok: false, message };
}
