/**
 * The context that a flag is evaluated for. All values are texts, as SDKs compare them. Properties are a Map,
 * because callers choose their names: `__proto__` is a property like any other.
 */

import { CONTEXT_LENGTH_MAX } from '../../../domain/flags/evaluation-cost.ts';
import { isJsonObject } from '../../../domain/json/json.ts';

const STANDARD_FIELDS = [
  'userId',
  'sessionId',
  'remoteAddress',
  'environment',
  'appName',
  'currentTime',
] as const;

type StandardField = (typeof STANDARD_FIELDS)[number];

type StandardFields = { readonly [Field in StandardField]?: string | undefined };

export interface EvaluationContext extends StandardFields {
  readonly properties: ReadonlyMap<string, string>;
}

export type ContextReader = (context: EvaluationContext) => string | undefined;

const isStandard = (name: string): name is StandardField => STANDARD_FIELDS.some((field) => field === name);

/** Reads a field that a constraint, a stickiness or an override names. A property stands in for a field not given. */
export function contextReader(name: string): ContextReader {
  return isStandard(name) ? STANDARD_READERS[name] : (context) => context.properties.get(name);
}

/** Each written out, because reading a property whose name is a variable takes several times as long. */
const STANDARD_READERS: Readonly<Record<StandardField, ContextReader>> = {
  userId: (context) => context.userId ?? context.properties.get('userId'),
  sessionId: (context) => context.sessionId ?? context.properties.get('sessionId'),
  remoteAddress: (context) => context.remoteAddress ?? context.properties.get('remoteAddress'),
  environment: (context) => context.environment ?? context.properties.get('environment'),
  appName: (context) => context.appName ?? context.properties.get('appName'),
  currentTime: (context) => context.currentTime ?? context.properties.get('currentTime'),
};

/**
 * From the JSON of a request. A field that SDKs do not know is a property, and wins over one of the same name below
 * `properties`. Numbers and booleans become texts; null counts as not given; lists and objects are left out, because
 * no operator compares them.
 */
export function contextOf(sent: Readonly<Record<string, unknown>>): EvaluationContext {
  const below = sent['properties'];
  const properties = new Map<string, string>();
  if (isJsonObject(below)) {
    for (const name of Object.keys(below)) {
      const text = textOf(below[name]);
      if (text !== undefined) properties.set(name, text);
    }
  }
  const standard: Partial<Record<StandardField, string>> = {};
  for (const name of Object.keys(sent)) {
    const text = name === 'properties' ? undefined : textOf(sent[name]);
    if (text === undefined) continue;
    if (isStandard(name)) standard[name] = text;
    else properties.set(name, text);
  }
  return { ...standard, properties };
}

/** Names of the fields and properties that are left out for their values. */
export function fieldsLeftOut({ properties, ...fields }: Readonly<Record<string, unknown>>): string[] {
  const below = isJsonObject(properties) ? properties : {};
  const all = [...Object.entries(fields), ...Object.entries(below)];
  return all.filter(([, value]) => isLeftOut(value)).map(([name]) => name);
}

/** Whether no operator compares such a value. */
export const isLeftOut = (value: unknown): boolean => typeof value === 'object' && value !== null;

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function contextLength(context: EvaluationContext): number {
  let length = 0;
  for (const name of STANDARD_FIELDS) length += context[name]?.length ?? 0;
  for (const [name, value] of context.properties) length += name.length + value.length;
  return length;
}

/** A sentence that says why nothing should be evaluated for a context of that length, or null. For contexts from outside. */
export function contextIssue(length: number): string | null {
  if (length <= CONTEXT_LENGTH_MAX) return null;
  return `The context must have at most ${CONTEXT_LENGTH_MAX} characters in all its names and values, not ${length}.`;
}
