/** The ways in which records come into the state and leave it, with all that is derived from them. */
import type { Flag } from '../flags/flag.ts';
import type { FlagRecord } from './flag-record.ts';
import { deleteInOrder, setEntry } from './reversible.ts';
import type { ProjectState, World } from './world.ts';

export function putRecord<K, V>({ memory }: World, records: Map<K, V>, key: K, record: V): void {
  memory.replace(records.get(key) ?? null, record);
  setEntry(records, key, record);
}

export function dropRecord<K, V>({ memory }: World, records: Map<K, V>, key: K): void {
  const record = records.get(key);
  if (record === undefined) return;
  memory.replace(record, null);
  deleteInOrder(records, key);
}

/** Puts a flag into a project, with all that is derived from it. */
export function putFlag(
  world: World,
  { flags }: ProjectState,
  { flag, revision, createdBy }: Pick<FlagRecord, 'flag' | 'revision' | 'createdBy'>,
): void {
  flags.add({ flag, revision, createdBy, bytes: noteFlag(world, null, flag) });
}

export function dropFlag(world: World, { flags }: ProjectState, record: FlagRecord): void {
  noteGone(world, record);
  flags.delete(record.flag.name);
}

/** To be called for each flag that goes. */
export function noteGone({ references, served, memory }: World, { flag, bytes }: FlagRecord): void {
  references.replace(flag, null);
  served.replace(flag, null);
  memory.add(-bytes);
}

/** To be called for each flag that comes or changes: keeps all that is derived from it. Returns by how many bytes it has grown. */
export function noteFlag({ references, served, memory }: World, before: Flag | null, after: Flag): number {
  references.replace(before, after);
  served.replace(before, after);
  return memory.replace(before, after);
}

/** The same for a change that touches nothing of a flag but its environments. */
export function noteEnvironments({ references, served, memory }: World, before: Flag, after: Flag): number {
  references.replace(before, after);
  served.replace(before, after);
  return memory.replace(before.environments, after.environments);
}

/** Bytes of the state and of what is derived from it. */
export const stateBytes = ({ memory, references }: World): number => memory.bytes + references.bytes;
