/**
 * Reads what a data folder holds through the operators' commands and its journal, and makes it comparable between builds.
 *
 * A later build may show fields that the release did not know. The fields that the release showed are therefore
 * recorded as a `Shape`, and every value is reduced to them before it is compared or hashed. Objects whose fields users
 * name are never reduced, since an additional field in them is a change of data.
 */
import { createHash } from 'node:crypto';
import { eventsIn } from '../support/operator.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json };

/** The fields of an object, or of all elements of a list together; null for a value that is compared as a whole. */
export type Shape = null | { readonly [field: string]: Shape };

/** Objects whose fields are named by users. */
const FREE_FORM_FIELDS: ReadonlySet<string> = new Set(['parameters']);

const isObject = (value: Json): value is { readonly [field: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the shape with every field that occurs in any of the values. */
export function shapeOf(values: readonly Json[]): Shape {
  const objects = values.flatMap((value) => (Array.isArray(value) ? value.flat() : [value])).filter(isObject);
  if (objects.length === 0) return null;
  const fields = new Set(objects.flatMap((object) => Object.keys(object)));
  return Object.fromEntries(
    [...fields].sort().map((field): [string, Shape] => {
      const inside = objects.flatMap((object) => (field in object ? [object[field] ?? null] : []));
      return [field, FREE_FORM_FIELDS.has(field) ? null : shapeOf(inside)];
    }),
  );
}

/** Returns `value` without the fields that the shape does not have, and with its fields in alphabetical order. */
export function reduceTo(shape: Shape, value: Json): Json {
  if (Array.isArray(value)) return value.map((element: Json) => reduceTo(shape, element));
  if (!isObject(value)) return value;
  const fields = Object.keys(value).sort();
  const kept = shape === null ? fields : fields.filter((field) => Object.hasOwn(shape, field));
  return Object.fromEntries(
    kept.map((field) => [
      field,
      reduceTo(shape === null ? null : (shape[field] ?? null), value[field] ?? null),
    ]),
  );
}

/** Returns the SHA-256 of what `reduceTo` leaves, in hexadecimal. */
export function hashOf(shape: Shape, value: Json): string {
  return createHash('sha256')
    .update(JSON.stringify(reduceTo(shape, value)))
    .digest('hex');
}

/** Runs `flagstaff` with these arguments and returns its standard output; throws unless it exits with 0. */
export type RunCommand = (args: readonly string[]) => Promise<string>;

export interface EventShown {
  readonly id: number;
  readonly type: string;
  readonly [field: string]: Json;
}

/** The whole event log as it is shown, the oldest event first. */
export async function shownEvents(folder: string): Promise<readonly EventShown[]> {
  return JSON.parse(JSON.stringify(await eventsIn(folder))) as EventShown[];
}

/**
 * Exports the state after an event, or the newest state, with the digests of tokens. The version of the document's
 * format is left out, since a later build may write a newer one.
 */
export async function documentIn(run: RunCommand, folder: string, eventId?: number): Promise<Json> {
  const at = eventId === undefined ? [] : ['--at', String(eventId)];
  const text = await run(['export', '--credentials', '--data-dir', folder, ...at]);
  const { formatVersion: _, ...document } = JSON.parse(text) as { readonly [field: string]: Json };
  return document;
}
