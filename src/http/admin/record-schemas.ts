/** The shapes of responses about records, made from the rows of their kinds. */
import * as v from 'valibot';
import { described, Integer, Timestamp, Version } from '../../domain/json/schema.ts';
import { Id, Time } from '../../domain/kinds/document-values.ts';
import { shownRecord } from '../../domain/kinds/kind.ts';
import { MANAGED_KIND_NAMES, type ManagedKindName, managedKindOf } from '../../domain/kinds/kinds.ts';

type Schema = v.GenericSchema;

const UseCount = v.pipe(Integer, v.minValue(0));

const USE_COUNTS = {
  usedInFeatures: described(UseCount, 'Flags whose strategies refer to it, archived ones included.'),
  usedInProjects: described(UseCount, 'Projects that have such flags.'),
} as const;

/** `context field` → `ContextField`, by which the description names schemas about the kind. */
export const titleOf = (kind: ManagedKindName): string =>
  managedKindOf(kind).noun.replaceAll(/(?:^| )(.)/g, (_, letter: string) => letter.toUpperCase());

const made = new Map<string, Schema>();

/** The schema of that title, which is made once. */
function once(title: string, make: () => Schema): Schema {
  const schema = made.get(title) ?? v.pipe(make(), v.title(title));
  made.set(title, schema);
  return schema;
}

/** A record as responses show it. */
export const recordSchema = (kind: ManagedKindName): Schema =>
  once(titleOf(kind), () => {
    const counts = managedKindOf(kind).use?.isShown ? USE_COUNTS : {};
    return v.object({ ...shownFields(kind), ...counts });
  });

/** Stored fields as responses show them. */
export function shownFields(kind: ManagedKindName): v.ObjectEntries {
  const { document, routes } = managedKindOf(kind);
  const stored = Object.entries(document.entries).map(([name, field]) => [name, shownField(field)] as const);
  return { ...Object.fromEntries(stored), ...routes.shown } as v.ObjectEntries;
}

/** A response with one record: the record, or an object that has it in a field. */
export function foundSchema(
  kind: ManagedKindName,
  {
    field,
    record,
    prefix = 'Found',
  }: { readonly field?: string | undefined; readonly record?: Schema | undefined; readonly prefix?: string },
): Schema {
  const found = record ?? recordSchema(kind);
  if (field === undefined) return found;
  const version = record === undefined ? v.literal(1) : Version;
  return once(`${prefix}${titleOf(kind)}`, () => v.object({ version, [field]: found }));
}

export function recordsSchema(kind: ManagedKindName, record?: Schema): Schema {
  const { list, listVersion } = managedKindOf(kind).routes;
  const { field } = list;
  const records = v.array(record ?? recordSchema(kind));
  if (field === null) return records;
  const version = record === undefined ? v.literal(1) : Version;
  const others: v.ObjectEntries = listVersion === undefined ? {} : { version };
  return once(`${titleOf(kind)}s`, () => v.object({ ...others, [field]: records }));
}

/** Headings of routes about records, with what the description says there. */
export const RECORD_TAGS: readonly (readonly [string, string])[] = MANAGED_KIND_NAMES.flatMap((kind) => {
  const { tag, tagDescription } = managedKindOf(kind).routes;
  return tagDescription === undefined ? [] : [[tag, tagDescription] as const];
});

/** Examples of all these shapes, and of the bodies that clients send, by the names of their components. */
export const RECORD_EXAMPLES: Readonly<Record<string, unknown>> = Object.assign(
  {},
  ...MANAGED_KIND_NAMES.map(examplesOf),
);

/** Names of records as examples, by the lists that hold such. */
export const RECORD_NAMES: readonly (readonly [string, string])[] = MANAGED_KIND_NAMES.flatMap((kind) => {
  const { example } = managedKindOf(kind);
  return example === undefined ? [] : [[`${kind}.name`, example.name] as const];
});

/** Parameters in the paths of the routes. */
export const RECORD_PARAMETERS = Object.fromEntries(
  MANAGED_KIND_NAMES.map(managedKindOf).map(({ noun, example, routes }) => [
    routes.param,
    { description: `Name of the ${noun}.`, example: example?.name ?? '' },
  ]),
);

function examplesOf(kind: ManagedKindName): object {
  const row = managedKindOf(kind);
  const { sent, lastId, use, routes, example } = row;
  if (example === undefined) return {};
  const { body } = routes;
  const title = titleOf(kind);
  const shown = shownRecord(row, example);
  const record = { ...shown, ...(use?.isShown && { usedInFeatures: 1, usedInProjects: 1 }) };
  const input = Object.fromEntries(Object.entries(shown).filter(([name]) => Object.hasOwn(sent, name)));
  const { name, ...others } = input;
  return {
    [title]: record,
    [body ?? `Create${title}`]: input,
    ...(body === undefined && { [`Update${title}`]: lastId === undefined ? others : input }),
  };
}

/**
 * The field without the bounds that hold for what clients send: a record may be older than they are. Schemas with a title,
 * which have a component of their own, stay as they are.
 */
function shownField(field: v.ObjectEntries[string]): Schema {
  if (field === Time) return Timestamp;
  if (field === Id) return Integer;
  if (v.getTitle(field as Schema) !== undefined) return field as Schema;
  const { type, pipe, wrapped, item } = field as unknown as Wrapping;
  if (pipe !== undefined) return shownField(pipe[0]);
  if (type === 'nullable') return v.nullable(shownField(wrapped));
  if (type === 'optional') return shownField(wrapped);
  if (type === 'exact_optional') return v.exactOptional(shownField(wrapped)) as unknown as Schema;
  if (type === 'array') return v.array(shownField(item));
  return SIMPLE[type] ?? (field as Schema);
}

/** Schemas with a phrase of their own are for what clients send. */
const SIMPLE: Readonly<Record<string, Schema>> = {
  string: v.string(),
  number: v.number(),
  boolean: v.boolean(),
};

interface Wrapping {
  readonly type: string;
  readonly pipe?: readonly [Schema];
  readonly wrapped: Schema;
  readonly item: Schema;
}
