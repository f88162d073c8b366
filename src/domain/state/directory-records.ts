/** Records of the kinds that the directory holds: found, and listed. */
import { type IdOf, KINDS, type NamedKindName, namedKindOf, type RecordOf } from '../kinds/kinds.ts';
import { didYouMean } from './nearest-name.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

export function locateSegment({ directory }: World, id: IdOf<'segments'>): RecordOf<'segments'> | Refusal {
  return directory.segments.get(id) ?? notFound(`There is no ${KINDS.segments.noun} ${id}.`);
}

/** For names: by the code units of UTF-16, as applications sort them. */
export const textOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The predefined ones first, as they are now, then the others by name; or in the order that the kind has for lists. */
export function namedRecords<Name extends NamedKindName>(
  { directory }: World,
  kind: Name,
): readonly RecordOf<Name>[] {
  const { predefined, compare } = namedKindOf(kind);
  const records: ReadonlyMap<string, { readonly name: string }> = directory[kind];
  const names = new Set(predefined.map(({ name }) => name));
  const made = [...records.values()].filter(({ name }) => !names.has(name));
  made.sort((one, other) => textOrder(one.name, other.name));
  const all = [...predefined.map((one) => records.get(one.name) ?? one), ...made];
  return (compare === undefined ? all : all.sort(compare)) as unknown as readonly RecordOf<Name>[];
}

export function findNamed<Name extends NamedKindName>(
  { directory }: World,
  kind: Name,
  name: string,
): RecordOf<Name> | undefined {
  const records: ReadonlyMap<string, { readonly name: string }> = directory[kind];
  const found = records.get(name) ?? namedKindOf(kind).predefined.find((one) => one.name === name);
  return found as RecordOf<Name> | undefined;
}

export function locateNamed<Name extends NamedKindName>(
  world: World,
  kind: Name,
  name: string,
): RecordOf<Name> | Refusal {
  const { noun } = namedKindOf(kind);
  const found = findNamed(world, kind, name);
  return found ?? notFound(`There is no ${noun} "${name}".${suggestNamed(world, kind, name)}`);
}

export function suggestNamed(world: World, kind: NamedKindName, name: string): string {
  return didYouMean(
    name,
    namedRecords(world, kind).map((one) => one.name),
  );
}
