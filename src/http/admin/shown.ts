/** Records as responses show them, after the schemas of these. */
import type * as v from 'valibot';
import type { Immutable } from '../../domain/kinds/kind.ts';

type Shape = v.GenericSchema & { readonly entries: v.ObjectEntries };

/** Null in the place of a field that may be left out. */
type Value<Field> = Field extends { readonly type: 'exact_optional'; readonly wrapped: infer Wrapped }
  ? v.InferOutput<Wrapped & v.GenericSchema> | null
  : v.InferOutput<Field & v.GenericSchema>;

type Values<S extends Shape> = {
  readonly [Name in keyof S['entries']]: Immutable<Value<S['entries'][Name]>>;
};

/** The fields of the schema, in its order, without those that may be left out and are null. */
export function shown<S extends Shape>({ entries }: S, values: Values<S>): v.InferOutput<S> {
  const all: Readonly<Record<string, unknown>> = values;
  const names = Object.keys(entries).filter(
    (name) => all[name] !== null || (entries[name] as { type: string }).type !== 'exact_optional',
  );
  return Object.fromEntries(names.map((name) => [name, all[name]]));
}
