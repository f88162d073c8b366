/** Adding records to a state that is being made and removing them, with all that is derived from them. */
import { type Flag, flagOf } from '../flags/flag.ts';
import { memoryGrowth } from '../json/memory-size.ts';
import type { Key, PersistentMap } from '../value/persistent-map.ts';
import { FlagRecord } from './flag-record.ts';
import { growthOf } from './state-memory.ts';
import { type Draft, type ProjectState, projectIn, type World } from './world.ts';

/** The entries of a map of a directory or a project. */
type EntryOf<M> = M extends PersistentMap<infer K, infer V> ? readonly [K, V] : never;

/** `holder`: the directory of the draft or one of its projects, to be written. */
export function putRecord<Holder extends object, Name extends keyof Holder>(
  draft: Draft,
  holder: Holder,
  name: Name,
  [key, record]: EntryOf<Holder[Name]>,
): void {
  const maps = holder as Record<Name, PersistentMap<Key, unknown>>;
  draft.memoryBytes += growthOf(maps[name].get(key) ?? null, record);
  maps[name] = maps[name].with(key, record, draft.edit);
}

export function dropRecord<Holder extends object, Name extends keyof Holder>(
  draft: Draft,
  holder: Holder,
  name: Name,
  key: EntryOf<Holder[Name]>[0],
): void {
  const maps = holder as Record<Name, PersistentMap<Key, unknown>>;
  const record = maps[name].get(key);
  if (record === undefined) return;
  draft.memoryBytes += growthOf(record, null);
  maps[name] = maps[name].without(key, draft.edit);
}

/** Puts a flag into a project, with all that is derived from it. */
export function putFlag(
  draft: Draft,
  project: ProjectState,
  parts: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy'>,
): void {
  const record = FlagRecord.of(parts);
  keepDerived(draft, null, record.flag);
  const own = projectIn(draft, project);
  own.flags = own.flags.with(record, null, draft.edit);
  draft.flagProjects = draft.flagProjects.with(record.flag.name, project.settings.id, draft.edit);
  draft.memoryBytes += record.bytes;
}

/** Replaces a flag. `growth`: by how many bytes of memory, without the environments. */
export function replaceFlag(
  draft: Draft,
  project: ProjectState,
  before: FlagRecord,
  change: Pick<FlagRecord, 'flag' | 'revision'> & { readonly growth: number },
): void {
  const after = before.changed(change);
  const own = projectIn(draft, project);
  own.flags = own.flags.with(after, before, draft.edit);
  draft.memoryBytes += after.bytes - before.bytes;
}

export function dropFlag(draft: Draft, project: ProjectState, record: FlagRecord): void {
  noteGone(draft, record);
  const own = projectIn(draft, project);
  own.flags = own.flags.without(record, draft.edit);
}

/** To be called for each flag that goes. */
export function noteGone(draft: Draft, { flag, bytes }: FlagRecord): void {
  keepDerived(draft, flag, null);
  draft.memoryBytes -= bytes;
}

/** To be called for each flag that changes: keeps what is derived from it. Returns by how many bytes it has grown, without the environments. */
export function noteFlag(draft: Draft, before: Flag, after: Flag): number {
  keepDerived(draft, before, after);
  return memoryGrowth(flagOf(before, before, after.environments), after);
}

/** Keeps what is derived from a flag: `before` is null for a new one, `after` for a removed one. */
export function keepDerived(draft: Draft, before: Flag | null, after: Flag | null): void {
  draft.references = draft.references.replaced(before, after, draft.edit);
  draft.served = draft.served.replaced(before, after, draft.edit);
}

/** Bytes of the state and of what is derived from it. */
export const stateBytes = ({ memoryBytes, references }: World): number => memoryBytes + references.bytes;
