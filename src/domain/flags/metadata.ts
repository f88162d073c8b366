/**
 * The table of a flag's metadata: one row for each field that says something about a flag and that clients set. What
 * creates, updates, patches, clones, rolls back, records, shows, lists, imports, exports and describes flags reads it
 * here, so a field is added by one row.
 *
 * The state copies a flag field by field on each change, because a loop over the fields would take longer than the
 * change (docs/decisions/state.md#metadata). `Flag` gets its fields from the table too, so the compiler rejects a copy
 * that leaves one out.
 */
import * as v from 'valibot';
import { FLAG_TYPES } from './flag-type.ts';
import { LinksSchema } from './link.ts';

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

/** Never changes once released: it says how to read what older releases wrote. */
interface FieldAddition<Value> {
  readonly release: string;
  /** The first content version that has the field; see state/upgrade/upgrade.ts. */
  readonly contentVersion: number;
  /** The first version of state documents that has the field; see document/state-document.ts. */
  readonly documentVersion: number;
  /** The value in flags, events and documents that are older. */
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
export const METADATA_ROWS = FLAG_METADATA as unknown as Readonly<
  Record<MetadataField, FieldRow<v.GenericSchema>>
>;
export const METADATA_FIELDS = Object.keys(FLAG_METADATA) as readonly MetadataField[];
export const LISTED_FIELDS = METADATA_FIELDS.filter((field) => METADATA_ROWS[field].listed);

/** An object with one entry for each field. */
function perField(make: (row: FieldRow<v.GenericSchema>) => unknown, fields = METADATA_FIELDS): unknown {
  return Object.fromEntries(fields.map((field) => [field, make(METADATA_ROWS[field])]));
}

/** The metadata of a flag that was created without saying anything about it. */
export const INITIAL_METADATA = perField((one) => one.initial) as FlagMetadata;

type Schemas = { readonly [Field in MetadataField]: Table[Field]['schema'] };

/** Entries of an object schema, for responses: every field is there. */
export const METADATA_ENTRIES = perField((one) => one.schema) as Schemas;

/** The same, for responses with lists of flags. */
export const LISTED_METADATA_ENTRIES = perField((one) => one.schema, LISTED_FIELDS) as v.ObjectEntries;

/** The same, for requests: every field may be left out. */
export const METADATA_INPUT_ENTRIES = perField((one) => v.optional(one.schema)) as {
  readonly [Field in MetadataField]: v.OptionalSchema<Table[Field]['schema'], undefined>;
};

/** The same, for state documents: fields that older ones do not have may be left out. */
export const METADATA_DOCUMENT_ENTRIES = perField(({ schema, added }) =>
  added === null ? schema : v.optional(schema, () => added.older),
) as Schemas;

export interface AddedField extends FieldAddition<unknown> {
  readonly field: string;
}

/** The fields that came in after the first release. */
export const ADDED_FIELDS: readonly AddedField[] = METADATA_FIELDS.flatMap((field) => {
  const { added } = METADATA_ROWS[field];
  return added === null ? [] : [{ ...added, field }];
});
