/** Applies requests, patches and clones to a flag's metadata, for all fields of the table alike (metadata.ts). */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { issuesOf } from '../json/issues.ts';
import { type JsonObject, jsonEqual } from '../json/json.ts';
import {
  type FlagMetadata,
  INITIAL_METADATA,
  LISTED_FIELDS,
  METADATA_FIELDS,
  METADATA_ROWS,
  type MetadataField,
  type MetadataInput,
} from './metadata.ts';

/** The copy of a flag, or of what shows one, in which metadata is set. */
type Editable = Partial<Record<MetadataField, unknown>>;

/** A copy of `before` with the fields that `input` has. */
export function withMetadata<T extends FlagMetadata>(before: T, input: MetadataInput): T {
  const after = { ...before };
  for (const field of METADATA_FIELDS) {
    const value = input[field];
    if (value !== undefined) (after as Editable)[field] = value;
  }
  return after;
}

/** A copy with the metadata that a clone gets. */
export function withClonedMetadata<T extends FlagMetadata>(source: T): T {
  const clone = { ...source };
  for (const field of METADATA_FIELDS) {
    if (METADATA_ROWS[field].cloned === 'initial') (clone as Editable)[field] = INITIAL_METADATA[field];
  }
  return clone;
}

export function sameMetadata(a: FlagMetadata, b: FlagMetadata): boolean {
  return METADATA_FIELDS.every((field) => jsonEqual(a[field], b[field]));
}

/** The metadata that lists of flags show. */
export function listedMetadata(source: FlagMetadata): Partial<FlagMetadata> {
  return Object.fromEntries(LISTED_FIELDS.map((field) => [field, source[field]]));
}

type PatchedMetadata =
  | { readonly ok: true; readonly value: MetadataInput }
  | { readonly ok: false; readonly field: MetadataField; readonly message: string };

/** One schema for each field, so that messages name it. */
const FIELD_SCHEMAS = new Map(
  METADATA_FIELDS.map((field) => [field, v.object({ [field]: METADATA_ROWS[field].schema })]),
);

/**
 * The metadata that a patch changed, by the rules of an update. Unchanged fields are not checked: what an older
 * release accepted does not stand in the way of another change.
 */
export function patchedMetadata(before: FlagMetadata, patched: JsonObject): PatchedMetadata {
  const input: Editable = {};
  for (const field of METADATA_FIELDS) {
    if (jsonEqual(patched[field], before[field])) continue;
    const value = patched[field] === undefined ? METADATA_ROWS[field].removed : patched[field];
    const parsed = parseField(field, value === undefined ? {} : { [field]: value });
    if (!parsed.ok) return { ok: false, field, message: parsed.message };
    input[field] = parsed.value;
  }
  return { ok: true, value: input as MetadataInput };
}

type ParsedField =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** The value without what its schema does not know. */
function parseField(field: MetadataField, value: object): ParsedField {
  const schema = FIELD_SCHEMAS.get(field);
  assert(schema !== undefined, 'each field of the metadata has a schema');
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { ok: true, value: (parsed.output as Editable)[field] };
  return { ok: false, message: issuesOf(parsed.issues)[0]?.message ?? '' };
}
