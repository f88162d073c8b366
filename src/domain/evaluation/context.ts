/**
 * What is known about whom a flag is evaluated for. All values are texts, as SDKs compare them. Properties are a Map,
 * because callers choose their names: `__proto__` is a property like any other.
 */
import { isJsonObject } from '../json/json.ts';

const STANDARD_FIELDS = [
  'userId',
  'sessionId',
  'remoteAddress',
  'environment',
  'appName',
  'currentTime',
] as const;

type StandardField = (typeof STANDARD_FIELDS)[number];

export interface EvaluationContext extends Readonly<Partial<Record<StandardField, string>>> {
  readonly properties: ReadonlyMap<string, string>;
}

export type ContextReader = (context: EvaluationContext) => string | undefined;

const isStandard = (name: string): name is StandardField => STANDARD_FIELDS.some((field) => field === name);

/** Reads a field that a constraint, a stickiness or an override names. A property stands in for a field not given. */
export function contextReader(name: string): ContextReader {
  if (!isStandard(name)) return (context) => context.properties.get(name);
  return (context) => context[name] ?? context.properties.get(name);
}

/**
 * From the JSON of a request. A field that SDKs do not know is a property, and wins over one of the same name below
 * `properties`. Numbers and booleans become texts; null counts as not given; lists and objects are left out, because
 * no operator compares them.
 */
export function contextOf(sent: Readonly<Record<string, unknown>>): EvaluationContext {
  const properties = new Map<string, string>();
  if (isJsonObject(sent['properties'])) addTexts(properties, Object.entries(sent['properties']));
  const fields = new Map<string, string>();
  addTexts(fields, Object.entries(sent));
  const standard: Partial<Record<StandardField, string>> = {};
  for (const [name, text] of fields) {
    if (isStandard(name)) standard[name] = text;
    else properties.set(name, text);
  }
  return { ...standard, properties };
}

function addTexts(texts: Map<string, string>, entries: readonly (readonly [string, unknown])[]): void {
  for (const [name, value] of entries) {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      texts.set(name, String(value));
    }
  }
}
