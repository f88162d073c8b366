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
  /** Whether only what can be stored is taken, or all that JSON.parse takes. */
  readonly isStored: boolean;
  readonly limits: JsonLimits;
}

const BODY_SOURCE: JsonSource = { ...BODY_ORIGIN, isStored: true, limits: BODY_LIMITS };

export const parseJsonBody = (bytes: Uint8Array): ParsedBody => parseJson(bytes, BODY_SOURCE);

/** Parses the JSON of a part of something larger. */
export function parseJson(bytes: Uint8Array, source: JsonSource): ParsedBody {
  const { whole, limits, isStored } = source;
  const text = decode(bytes);
  if (text === undefined) return refusal(`${whole} is not valid UTF-8.`);
  if (text.charCodeAt(0) === BYTE_ORDER_MARK)
    return refusal(`${whole} must not start with a byte order mark.`);
  const shape = measureShape(bytes, limits);
  if (!shape.ok) return shape;
  const parsed = parse(text);
  if (!isStored && parsed !== undefined) return { ok: true, value: parsed };
  const walk = new FieldWalk();
  if (parsed === undefined || walk.count(parsed) !== shape.nameCount)
    return { ok: false, ...diagnoseJson(text, source) };
  const value = Object.is(parsed, -0) ? 0 : parsed;
  // Half a surrogate pair can only be written with a backslash: the bytes are valid UTF-8. The nesting has been measured.
  const issue = walk.isSuspect || text.includes('\\') ? checkStorable(value, limits.depthMax) : null;
  return issue === null ? { ok: true, value } : { ok: false, ...issue };
}

const BYTE_ORDER_MARK = 0xfeff;

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

/**
 * The one walk over a parsed value, which is nobody else's yet. It makes every -0 inside a 0, counts the fields of all objects,
 * and notices what may be unfit to be stored.
 */
class FieldWalk {
  /** A number beyond the range of a double, or a field named __proto__. */
  isSuspect = false;

  count(value: JsonValue): number {
    if (typeof value === 'object' && value !== null) {
      return Array.isArray(value) ? this.#inItems(value) : this.#inObject(value as Record<string, JsonValue>);
    }
    if (typeof value === 'number' && !Number.isFinite(value)) this.isSuspect = true;
    return 0;
  }

  #inItems(items: JsonValue[]): number {
    let fieldCount = 0;
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as JsonValue;
      if (Object.is(item, -0)) items[index] = 0;
      else if (typeof item !== 'string') fieldCount += this.count(item);
    }
    return fieldCount;
  }

  #inObject(fields: Record<string, JsonValue>): number {
    const names = Object.keys(fields);
    let fieldCount = names.length;
    for (const name of names) {
      if (name === '__proto__') this.isSuspect = true;
      const field = fields[name] as JsonValue;
      if (Object.is(field, -0)) fields[name] = 0;
      else if (typeof field !== 'string') fieldCount += this.count(field);
    }
    return fieldCount;
  }
}

function refusal(message: string): ParsedBody {
  return { ok: false, message };
}
