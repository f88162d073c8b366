/** Parameters of a strategy as SDKs get them: texts. The state keeps them as they were sent. */
import type { JsonValue } from '../json/json.ts';

/** Numbers and booleans as JSON writes them, lists and objects as their JSON text; null counts as not given. */
export function parameterText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
