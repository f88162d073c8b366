/**
 * Turns the bytes of a body into a JSON value that can be stored. It comes back equal from the journal, a snapshot
 * and a response (see src/domain/json/json.ts), and means the same to every reader. So, besides invalid JSON,
 * - bytes that are not UTF-8 are refused instead of replaced, and so is a byte order mark;
 * - a name given twice in one object is refused: readers differ on which of the two counts;
 * - numbers beyond the range of a double, half surrogate pairs and fields named __proto__ are refused;
 * - nesting, lists and numbers of values beyond the bounds of json-shape.ts are refused before anything is parsed;
 * - -0 becomes 0, as JSON.stringify would make it anyway.
 *
 * One pass over the bytes counts nesting and names, JSON.parse does the rest, and a walk over the result counts its
 * fields. JSON.parse keeps only the last of equal names, so the two counts differ exactly when a name occurs twice. A
 * valid body therefore needs no set of names. Everything takes linear time.
 */
import { checkStorable, type JsonValue } from '../../domain/json/json.ts';
import { BODY_ORIGIN, diagnoseJson, type TextOrigin } from './json-error-locator.ts';
import { BODY_LIMITS, type JsonLimits, measureShape } from './json-shape.ts';

export type ParsedBody =
  | { readonly ok: true; readonly value: JsonValue }
  /** `path` is a JSON pointer below the body, when the fault is inside a value that could be parsed. */
  | { readonly ok: false; readonly message: string; readonly path?: string };

export interface JsonSource extends TextOrigin {
  readonly limits: JsonLimits;
}

export const parseJsonBody = (bytes: Uint8Array): ParsedBody =>
  parseJson(bytes, { ...BODY_ORIGIN, limits: BODY_LIMITS });

/** The same for a part of something larger. */
export function parseJson(bytes: Uint8Array, source: JsonSource): ParsedBody {
  const { whole, limits } = source;
  const text = decode(bytes);
  if (text === undefined) return refusal(`${whole} is not valid UTF-8.`);
  if (text.startsWith('\uFEFF')) return refusal(`${whole} must not start with a byte order mark.`);
  const shape = measureShape(bytes, limits);
  if (!shape.ok) return shape;
  const parsed = parse(text);
  if (parsed === undefined || countFields(parsed) !== shape.nameCount)
    return { ok: false, ...diagnoseJson(text, source) };
  const value = Object.is(parsed, -0) ? 0 : parsed;
  const issue = checkStorable(value, limits.depthMax);
  return issue === null ? { ok: true, value } : { ok: false, ...issue };
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
