/**
 * A kind of thing is a row, from which its records get their place in the state, in snapshots and in state documents, and
 * their events. A managed kind is one that clients create, change and delete: its row also gives the decisions on its records
 * (domain/decide/kind-commands.ts), their routes and the description of these (http/admin/kinds.ts).
 *
 * A new kind is one file beside this one, an entry of the table in kinds.ts, and nothing else. Whatever needs more of the state
 * than a row sees, such as what else goes with a record that is deleted, is a hook (domain/decide/kind-commands.ts).
 */
import * as v from 'valibot';
import type { PermissionName, Right } from '../access/permissions.ts';
import type { Addition, FieldAddition } from '../flags/metadata.ts';
import type { Issue } from '../json/issues.ts';

/** The type without ways to change a value of it. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

/** A value with a root role by its name, as state documents have it, and by its id, as the state has it. */
type WithRoleName<T> = T extends { readonly rootRole: infer Role }
  ? Omit<T, 'rootRole'> & { readonly rootRole: Exclude<Role, number> | string }
  : T;
export type WithRoleId<T extends { readonly rootRole: string | null }> = Omit<T, 'rootRole'> & {
  readonly rootRole: Exclude<T['rootRole'], string> | number;
};

/** Types of the events about a kind. The first ones leave a record as their `data`; after the last one there is none. Null: none goes. */
interface KindEvents<Created extends string, Changed extends string, Deleted extends string | null> {
  readonly created: Created;
  readonly changed: readonly Changed[];
  readonly deleted: Deleted;
}

export interface Kind<
  T extends object = object,
  Id extends string | number = string | number,
  Created extends string = string,
  Changed extends string = string,
  Deleted extends string | null = string | null,
  LastId extends string = string,
> {
  /** The name of the kind in sentences, such as `segment`. */
  readonly noun: string;
  readonly since: Addition;
  /** Fields that came in later than the kind. */
  readonly newFields?: { readonly [Field in keyof T]?: FieldAddition<T[Field]> };
  /** The key under which the state holds the record. */
  idOf(record: T): Id;
  readonly events: KindEvents<Created, Changed, Deleted>;
  /** The field of the directory with the newest id. Ids are never reused. Absent where records have no numbers. */
  readonly lastId?: LastId;
  /** A record in a state document. */
  readonly document: v.GenericSchema<unknown, WithRoleName<T>>;
  /** Fields in each of which no two records have the same; none where that holds for whole records. */
  readonly unique: readonly (keyof T & string)[];
  /** Fields likewise, in which texts that differ by case alone are the same. */
  readonly uniqueFolded?: readonly (keyof T & string)[];
  /** Fields that name other things, alone or in a list; null names nothing, and `*` all that are of the kind. */
  readonly refersTo?: { readonly [Field in keyof T]?: Referred | `${Referred} or *` };
}

/** Things that records name: users, roles and projects by their ids, environments by their names. */
export type Referred = 'user' | 'root role' | 'project' | 'environment';

interface Reference {
  /** The path of the value in the record, as a JSON pointer. */
  readonly path: string;
  readonly referred: Referred;
  readonly value: string | number;
}

/** All that the record, or the record in a state document, names. */
export function referencesOf({ refersTo = {} }: Kind, record: object): Reference[] {
  return Object.entries(refersTo).flatMap(([field, what]): Reference[] => {
    const [referred, all] = what.split(' or ') as [Referred, '*'?];
    const value: unknown = (record as Readonly<Record<string, unknown>>)[field];
    const list = Array.isArray(value)
      ? value.map((one, at) => [`/${field}/${at}`, one])
      : [[`/${field}`, value]];
    return list
      .filter(([, one]) => one !== null && one !== all)
      .map(([path, one]) => ({ path, referred, value: one }));
  });
}

export const kind = <
  T extends object,
  Id extends string | number,
  const Created extends string,
  const Changed extends string,
  const Deleted extends string | null,
  const LastId extends string = never,
>(
  row: Kind<T, Id, Created, Changed, Deleted, LastId>,
): Kind<T, Id, Created, Changed, Deleted, LastId> => row;

/** A field of a record, by the schema of what clients send: one that may be left out, and has no default there, is always stored. */
type StoredField<Field> = Field extends v.OptionalSchema<infer Sent, undefined> ? Sent : Field;

type StoredFields<Sent extends v.ObjectEntries, Added extends v.ObjectEntries> = {
  readonly [Name in keyof Sent]: StoredField<Sent[Name]>;
} & Added;

/** A record with fields that clients send, and fields that the service adds. */
export type RecordWith<Sent extends v.ObjectEntries, Added extends v.ObjectEntries> =
  StoredFields<Sent, Added> extends infer Stored extends v.ObjectEntries
    ? Immutable<v.InferOutput<v.ObjectSchema<Stored, undefined>>>
    : never;

/** Fields as clients send them. */
export type SentOf<Sent extends v.ObjectEntries> = Immutable<v.InferOutput<v.ObjectSchema<Sent, undefined>>>;

/** Kinds that parts of flags refer to. */
export type ReferenceKind = 'segment' | 'strategy-type' | 'context-field';

/** The flags that refer to a record. */
interface Use {
  readonly by: ReferenceKind;
  /** Whether responses with a record tell how many flags and projects use it. */
  readonly isShown: boolean;
  /** The sentence about what to do before a record that is used is deleted. Absent: it is deleted all the same. */
  readonly advice?: string;
}

/** A change of a record that a rule is asked about. */
interface Change<T> {
  readonly after: T;
  /** Null for a record that is new. */
  readonly before: T | null;
  /** The flags that use the record, such as `3 in the project "x"` for each project but `except`. */
  usedIn(except?: string): readonly string[];
}

export interface Operation {
  readonly id: string;
  /** One sentence. */
  readonly summary: string;
}

/** The routes of a kind, and what they show. */
export interface KindRoutes<T extends object = object> {
  /** The path of the list, such as `/segments`. */
  readonly path: string;
  /** The parameter for the id or name in the path of one. */
  readonly param: string;
  /** The heading under which the description lists the routes, and what it says there; absent where others are under it too. */
  readonly tag: string;
  readonly tagDescription?: string;
  /** The right to change records, and the permissions of custom roles that will do. Everybody may read. */
  readonly permission: Right;
  readonly needs?: { readonly [Action in 'create' | 'update' | 'remove']: readonly PermissionName[] };
  readonly list: Operation & {
    /** The field of the response with the records; null: the response is the list. */
    readonly field: string | null;
  };
  readonly create: Operation;
  /** With a field, the response has the record there. */
  readonly read: Operation & { readonly field?: string };
  readonly update: Operation;
  readonly remove: Operation;
  /** The status of a creation; 201 when absent. */
  readonly createdStatus?: 200;
  /** The status of a change and of a deletion. */
  readonly doneStatus: 200 | 204;
  /** Whether a change responds with the record. */
  readonly updateShows?: true;
  /** The field of such a response, and of that to a creation, with the record; absent: the response is the record. */
  readonly changedField?: string;
  /** The field `version` of the response with the list; absent: it has none. */
  readonly listVersion?: 1;
  /** The name of the body that creates and that which changes a record, where they are the same. */
  readonly body?: string;
  /** Whether `If-Match` pins a record. */
  readonly isPinned?: true;
  /** Fields of responses that are not as stored. One that may be left out is left out where it is null. */
  readonly shown?: v.ObjectEntries;
  /** The values of fields that are not stored. */
  view?(record: T): object;
}

/** A kind whose records clients create, change and delete. Records go by their `id` where `lastId` is given, else by `name`. */
export interface ManagedKind<
  T extends { readonly name: string } = { readonly name: string },
  Id extends string | number = string | number,
  Sent extends v.ObjectEntries = v.ObjectEntries,
  Created extends string = string,
  Changed extends string = string,
  Deleted extends string = string,
  LastId extends string = string,
> extends Kind<T, Id, Created, Changed, Deleted, LastId> {
  readonly document: v.ObjectSchema<v.ObjectEntries, undefined> & v.GenericSchema<unknown, WithRoleName<T>>;
  /** Fields that clients send: schemas with bounds, the default if a field that is left out has one in every request, an example. */
  readonly sent: Sent & { readonly name: v.GenericSchema<unknown, string> };
  /** Fields that clients send to change a record, where they are not those of a creation. */
  readonly changes?: v.ObjectEntries;
  /** Fields that a record gets at its creation when they are not sent, and keeps at a change when they are not sent. */
  readonly defaults: Partial<T>;
  /** The most records, predefined ones that nobody changed not counted. */
  readonly countMax: number;
  /** The largest record as JSON; null where the bounds of its fields leave no more than a few KiB. */
  readonly bytesMax: number | null;
  /** Records that are always there: none of them can be deleted. */
  readonly predefined: readonly T[];
  readonly canChangePredefined: boolean;
  /** The order in lists. Absent: the predefined ones, then the others by name. */
  readonly compare?: (one: T, other: T) => number;
  readonly use?: Use;
  /** A record for the description of the interface. Absent: it is made of examples of the fields. */
  readonly example?: T;
  /** Returns the record in the one form in which it is stored. */
  normal?(record: T): T;
  /** Returns the sentence that forbids a change, with the place where one part of the body is at fault. */
  faultOf?(change: Change<T>): Issue | string | null;
  readonly routes: KindRoutes<T>;
}

interface ManagedRow<
  Sent extends v.ObjectEntries,
  Added extends v.ObjectEntries,
  Created extends string,
  Changed extends string,
  Deleted extends string,
  LastId extends string,
> extends Omit<
    ManagedKind<ManagedRecord<Sent, Added>, string, Sent, Created, Changed, Deleted, LastId>,
    'idOf' | 'document' | 'predefined' | 'canChangePredefined' | 'unique'
  > {
  /** A record in a state document, where it is not as it is stored. */
  readonly document?: ManagedKind<ManagedRecord<Sent, Added>>['document'];
  /** Fields that the service adds. `id`, `createdAt` and `createdBy` are filled in; others are among the defaults. */
  readonly added: Added;
  readonly predefined?: readonly ManagedRecord<Sent, Added>[];
  readonly canChangePredefined?: boolean;
}

type ManagedRecord<Sent extends v.ObjectEntries, Added extends v.ObjectEntries> = RecordWith<Sent, Added> & {
  readonly name: string;
};

/** `kind` with the parts that follow from others. */
export function managedKind<
  Sent extends v.ObjectEntries,
  Added extends v.ObjectEntries,
  const Created extends string,
  const Changed extends string,
  const Deleted extends string,
  const LastId extends string = never,
>({
  added,
  document,
  predefined = [],
  canChangePredefined = true,
  ...row
}: ManagedRow<Sent, Added, Created, Changed, Deleted, LastId>) {
  type T = ManagedRecord<Sent, Added>;
  const key = row.lastId === undefined ? 'name' : 'id';
  const made = {
    ...row,
    predefined,
    canChangePredefined,
    document: document ?? v.object(documentFields(storedFields(row.sent, added), row.newFields)),
    unique: row.uniqueFolded === undefined ? [...new Set([key, 'name'])] : [key],
    idOf: (record: Readonly<Record<string, unknown>>) => record[key],
  };
  return made as unknown as ManagedKind<
    T,
    [LastId] extends [never] ? string : number,
    Sent,
    Created,
    Changed,
    Deleted,
    LastId
  >;
}

const definedFieldsOf = (fields: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The record with these fields in place of its own, but for those that are undefined. */
export const withFields = <T extends object>(
  record: T,
  fields: { readonly [Name in keyof T]?: T[Name] | undefined },
): T => ({ ...record, ...definedFieldsOf(fields) });

/** The record as responses show it, without the counts of its use. */
export function shownRecord<T extends { readonly name: string }>(
  { routes: { shown = {}, view } }: ManagedKind<T>,
  record: T,
): object {
  const values = Object.entries({ ...record, ...view?.(record) });
  return Object.fromEntries(
    values.filter(([name, value]) => value !== null || shown[name]?.type !== 'exact_optional'),
  );
}

/** The record with these values, where the kind stores such fields, and its defaults for others. */
export function recordWith<T extends { readonly name: string }>(
  { document, defaults }: ManagedKind<T>,
  values: object,
): T {
  const all: Readonly<Record<string, unknown>> = { ...defaults, ...definedFieldsOf(values) };
  const stored = Object.keys(document.entries).filter((name) => all[name] !== undefined);
  return Object.fromEntries(stored.map((name) => [name, all[name]])) as unknown as T;
}

/** The id first, then what was sent, then what else was added: the order in which responses show the fields. */
function storedFields(sent: v.ObjectEntries, { id, ...added }: v.ObjectEntries): v.ObjectEntries {
  const stored = Object.entries(sent).map(([name, field]) => [name, storedField(field)] as const);
  return { ...(id === undefined ? {} : { id }), ...Object.fromEntries(stored), ...added };
}

/** Documents that are older than a field are read as if they had it. */
function documentFields(stored: v.ObjectEntries, newFields: object = {}): v.ObjectEntries {
  const later = Object.entries(newFields as Readonly<Record<string, FieldAddition<unknown>>>);
  const fields = later.map(([name, { older }]) => [name, v.optional(stored[name] as v.GenericSchema, older)]);
  return { ...stored, ...Object.fromEntries(fields) };
}

function storedField(field: v.ObjectEntries[string]): v.ObjectEntries[string] {
  const { type, wrapped, default: value } = field as unknown as v.OptionalSchema<v.GenericSchema, unknown>;
  return (type as string) === 'optional' && value === undefined ? wrapped : field;
}
