/**
 * A kind of thing is a row, from which its records get their place in the state, in snapshots and in state documents, their
 * events, and, where they go by a name, the decisions on them (domain/decide/kind-commands.ts) and their routes
 * (http/admin/targeting/named-routes.ts).
 */
import type * as v from 'valibot';

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
  /** The name of the kind in sentences, such as `tag type`. */
  readonly noun: string;
  /** The key under which the state holds the record. */
  idOf(record: T): Id;
  readonly events: KindEvents<Created, Changed, Deleted>;
  /** The field of the directory with the newest id. Ids are never reused. Absent where records have no numbers. */
  readonly lastId?: LastId;
  /** A record in a state document. */
  readonly document: v.GenericSchema<unknown, WithRoleName<T>>;
  /** Fields in each of which no two records of a document have the same; none where that holds for whole records. */
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

/** A kind whose records go by their name. */
export interface NamedKind<
  T extends { readonly name: string } = { readonly name: string },
  Sent extends v.ObjectEntries = v.ObjectEntries,
  Created extends string = string,
  Changed extends string = string,
  Deleted extends string = string,
> extends Kind<T, string, Created, Changed, Deleted, never> {
  readonly nameSchema: v.GenericSchema<unknown, string>;
  /** Fields that clients send beside the name. One that is left out keeps its value, or gets that of `make`. */
  readonly sent: Sent;
  /** `now`: ISO 8601, UTC. */
  make(name: string, sent: SentOf<Sent>, now: string): T;
  /** The most records, predefined ones that nobody changed not counted. */
  readonly countMax: number;
  /** The largest record as JSON; null where the bounds of its fields leave no more than a few KiB. */
  readonly bytesMax: number | null;
  /** Records that are always there: none of them can be deleted. */
  readonly predefined: readonly T[];
  readonly canChangePredefined: boolean;
  /** The order in lists. Absent: the order of creation, after the predefined ones. */
  readonly compare?: (one: T, other: T) => number;
  /** The part of flags that names a record and so keeps it from being deleted. Absent where a deletion refuses nothing. */
  readonly inUse?: { readonly reference: 'strategy-type'; readonly advice: string };
}

export type SentOf<Sent extends v.ObjectEntries> = Immutable<v.InferOutput<v.ObjectSchema<Sent, undefined>>>;

/** `kind` with the types that its row gives it. */
export const namedKind = <
  T extends { readonly name: string },
  Sent extends v.ObjectEntries,
  const Created extends string,
  const Changed extends string,
  const Deleted extends string,
>(
  row: Omit<NamedKind<T, Sent, Created, Changed, Deleted>, 'idOf' | 'unique'>,
): NamedKind<T, Sent, Created, Changed, Deleted> => ({ ...row, idOf: ({ name }) => name, unique: ['name'] });

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
