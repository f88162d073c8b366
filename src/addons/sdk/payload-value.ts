/** The value of a variant's payload, as OpenFeature has values. */
import type { Variant } from '../../domain/flags/variant.ts';

/** The payload in its declared type, or else as a text. Undefined when there is none. */
export function payloadValue(variant: Pick<Variant, 'payload'> | null): unknown {
  const payload = variant?.payload;
  if (payload === undefined) return undefined;
  const { type, value } = payload;
  if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  return type === 'json' ? (parsedList(value) ?? value) : value;
}

/** Null for what is no JSON, and for JSON that is neither an object nor a list. */
function parsedList(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null; // The payload is not JSON, whatever its type says.
  }
}
