/**
 * The table of a flag's metadata: one row for each field that says something about a flag and that clients set. What
 * creates, updates, patches, clones, rolls back, records, shows, lists, imports, exports and describes flags reads it
 * here, so a field is added by one row.
 *
 * The state copies a flag field by field on each change, because a loop over the fields would take longer than the
 * change (docs/decisions/state.md#metadata). `Flag` gets its fields from the table too, so the compiler rejects a copy
 * that leaves one out.
 */
import assert from 'node:assert/strict';
import * as v from 'valibot';
import { issuesOf } from '../json/issues.ts';
import { type JsonObject, jsonEqual } from '../json/json.ts';
import { LinksSchema } from './link.ts';

/** The purpose of a flag, and how long it is expected to live (docs/specification/flags.md#types). */

export const FLAG_TYPES = ['release', 'kill-switch', 'experiment', 'operational', 'permission'] as const;
export type FlagType = (typeof FLAG_TYPES)[number];

/** The bound that Unleash has. */
const LIFETIME_DAYS_MAX = 2 ** 31 - 1;

export const LifetimeDays = v.pipe(
  v.number('a number of days or null'),
  v.integer('a number of days or null'),
  v.minValue(0, 'a number of days or null'),
  v.maxValue(LIFETIME_DAYS_MAX, `at most ${LIFETIME_DAYS_MAX} days`),
);

/** Days after which an unarchived flag of each type counts as potentially stale; null for never. */
export type Lifetimes = Readonly<Record<FlagType, number | null>>;

/** Lifetimes that were set, for the service or for a project. */
export const SetLifetimes = v.strictObject(
  v.entriesFromList(
    FLAG_TYPES,
    v.exactOptional(v.nullable(v.pipe(LifetimeDays, v.minValue(1, 'at least 1 day')))),
  ),
);
export type SetLifetimes = Readonly<v.InferOutput<typeof SetLifetimes>>;

/**
 * The lifetimes of types for which none was set. Replay depends on them, so a change needs a new rule
 * (state/upgrade/replay-rules.ts).
 */
export const LIFETIME_DAYS: Lifetimes = {
  release: 40,
  experiment: 40,
  operational: 7,
  'kill-switch': null,
  permission: null,
};

interface FieldRow<S extends v.GenericSchema> {
  /** Checks what clients send and what documents hold, and describes what responses show. Never transforms. */
  readonly schema: S;
  /** The value in a new flag whose request leaves the field out. */
  readonly initial: v.InferOutput<S>;
  /** The value that the field gets from a patch that removes it; when left out, such a patch is refused. */
  readonly removed?: v.InferOutput<S>;
  /** The value in a clone: the source's, or that of a new flag. */
  readonly cloned: 'kept' | 'initial';
  /** Whether lists of flags show the field. */
  readonly listed: boolean;
  /** The version that added the field; null for a field of the first release. */
  readonly added: FieldAddition<v.InferOutput<S>> | null;
}

/** The release with which something came in. Never changes once that is out: it says how to read what older releases wrote. */
export interface Addition {
  readonly release: string;
  /** The first content version (state/upgrade.ts) that has it. */
  readonly contentVersion: number;
  /** The first version of state documents (desired/state-document.ts) that has it. */
  readonly documentVersion: number;
}

export interface FieldAddition<Value> extends Addition {
  /** The value in records, events and documents that are older. */
  readonly older: Value;
}

const row = <S extends v.GenericSchema>(fields: FieldRow<S>): FieldRow<S> => fields;

const FLAG_METADATA = {
  description: row({
    schema: v.nullable(v.string('a string or null')),
    initial: '',
    removed: null,
    cloned: 'kept',
    listed: true,
    added: null,
  }),
  type: row({
    schema: v.picklist(FLAG_TYPES, `one of ${FLAG_TYPES.join(', ')}`),
    initial: 'release',
    cloned: 'kept',
    listed: true,
    added: null,
  }),
  stale: row({
    schema: v.boolean(),
    initial: false,
    cloned: 'initial',
    listed: true,
    added: null,
  }),
  impressionData: row({
    schema: v.boolean(),
    initial: false,
    cloned: 'kept',
    listed: true,
    added: null,
  }),
  links: row({
    schema: LinksSchema,
    initial: [],
    removed: [],
    cloned: 'initial',
    listed: false,
    added: { release: '0.2.0', contentVersion: 2, documentVersion: 3, older: [] },
  }),
};

type Table = typeof FLAG_METADATA;
export type MetadataField = keyof Table;

export type FlagMetadata = { readonly [Field in MetadataField]: v.InferOutput<Table[Field]['schema']> };

/** The metadata that a client may send. A field that is absent keeps its value, or gets the initial one in a new flag. */
export type MetadataInput = { readonly [Field in MetadataField]?: FlagMetadata[Field] | undefined };

/** For code that treats all fields alike. */
const METADATA_ROWS = FLAG_METADATA as unknown as Readonly<Record<MetadataField, FieldRow<v.GenericSchema>>>;
const METADATA_FIELDS = Object.keys(FLAG_METADATA) as readonly MetadataField[];
const LISTED_FIELDS = METADATA_FIELDS.filter((field) => METADATA_ROWS[field].listed);

/** An object with one entry for each field. */
function perField(make: (row: FieldRow<v.GenericSchema>) => unknown, fields = METADATA_FIELDS): unknown {
  return Object.fromEntries(fields.map((field) => [field, make(METADATA_ROWS[field])]));
}

/** The metadata of a flag that was created without saying anything about it. */
export const INITIAL_METADATA = perField((one) => one.initial) as FlagMetadata;

type Schemas = { readonly [Field in MetadataField]: Table[Field]['schema'] };

/** Entries of an object schema, for responses: every field is there. */
export const METADATA_ENTRIES = perField((one) => one.schema) as Schemas;

/** Metadata in responses with lists of flags. */
export const LISTED_METADATA_ENTRIES = perField((one) => one.schema, LISTED_FIELDS) as v.ObjectEntries;

/** Metadata in requests, where every field is optional. */
export const METADATA_INPUT_ENTRIES = perField((one) => v.optional(one.schema)) as {
  readonly [Field in MetadataField]: v.OptionalSchema<Table[Field]['schema'], undefined>;
};

/** Metadata in state documents, where fields that older documents lack are optional. */
export const METADATA_DOCUMENT_ENTRIES = perField(({ schema, added }) =>
  added === null ? schema : v.optional(schema, () => added.older),
) as Schemas;

/** A kind that came in with a release, or a field of the records in a section of snapshots. */
export interface Added extends Addition {
  readonly section: string;
  /** Absent for the kind itself. */
  readonly field?: { readonly name: string; readonly older: unknown };
}

export const addedField = (section: string, name: string, added: FieldAddition<unknown>): Added => {
  const { older, ...addition } = added;
  return { ...addition, section, field: { name, older } };
};

/** The fields that came in after the first release. */
export const ADDED_METADATA: readonly Added[] = METADATA_FIELDS.flatMap((field) => {
  const { added } = METADATA_ROWS[field];
  return added === null ? [] : [addedField('flags', field, added)];
});

// Applies requests, patches and clones to a flag's metadata, for all fields of the table alike (metadata.ts).

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
