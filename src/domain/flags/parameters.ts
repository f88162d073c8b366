/** Parameters of a strategy as SDKs get them: texts. The state keeps them as they were sent. */
import type { JsonObject, JsonValue } from '../json/json.ts';

/** Reads a parameter of a strategy; '' when it was not given, which no kind of strategy tells apart. */
export function parameterReader(parameters: JsonObject | null): (key: string) => string {
  return (key) =>
    parameters !== null && Object.hasOwn(parameters, key) ? (parameterText(parameters[key]) ?? '') : '';
}

/** Numbers and booleans as JSON writes them, lists and objects as their JSON text; null counts as not given. */
export function parameterText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
