/** Records of the kinds that the directory holds: found, and listed. */

import { didYouMean } from '../json/nearest-name.ts';
import { type IdOf, type ManagedKindName, managedKindOf, type RecordOf } from '../kinds/kinds.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { World } from './world.ts';

/** For names: by the code units of UTF-16, as applications sort them. */
export const textOrder = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The predefined ones first, as they are now, then the others by name; or in the order that the kind has for lists. */
export function recordsOf<Name extends ManagedKindName>(
  { directory }: World,
  kind: Name,
): readonly RecordOf<Name>[] {
  const { predefined, compare } = managedKindOf(kind);
  const records: ReadonlyMap<string | number, { readonly name: string }> = directory[kind];
  const names = new Set(predefined.map(({ name }) => name));
  const made = [...records.values()].filter(({ name }) => !names.has(name));
  made.sort((one, other) => textOrder(one.name, other.name));
  const all = [...predefined.map((one) => records.get(one.name) ?? one), ...made];
  return (compare === undefined ? all : all.sort(compare)) as unknown as readonly RecordOf<Name>[];
}

export function findRecord<Name extends ManagedKindName>(
  { directory }: World,
  kind: Name,
  id: IdOf<Name>,
): RecordOf<Name> | undefined {
  const records: ReadonlyMap<string | number, { readonly name: string }> = directory[kind];
  const { predefined, idOf } = managedKindOf(kind);
  const found = records.get(id) ?? predefined.find((one) => idOf(one) === id);
  return found as RecordOf<Name> | undefined;
}

export function locateRecord<Name extends ManagedKindName>(
  world: World,
  kind: Name,
  id: IdOf<Name>,
): RecordOf<Name> | Refusal {
  const found = findRecord(world, kind, id);
  return (
    found ?? notFound(`There is no ${managedKindOf(kind).noun} "${id}".${suggestRecord(world, kind, id)}`)
  );
}

/** Looks in the predefined ones too. */
export function findNamed<Name extends ManagedKindName>(
  { directory }: World,
  kind: Name,
  name: string,
): RecordOf<Name> | undefined {
  const { lastId, predefined } = managedKindOf(kind);
  const records: ReadonlyMap<string | number, { readonly name: string }> = directory[kind];
  const made =
    lastId === undefined ? records.get(name) : [...records.values()].find((one) => one.name === name);
  const found = made ?? predefined.find((one) => one.name === name);
  return found as RecordOf<Name> | undefined;
}

/** Nothing for an id that is a number, which no name is near. */
export function suggestRecord(world: World, kind: ManagedKindName, id: string | number): string {
  if (typeof id === 'number') return '';
  return didYouMean(
    id,
    recordsOf(world, kind).map((one) => one.name),
  );
}
