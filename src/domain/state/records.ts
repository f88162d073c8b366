/** The ways in which records come into the state and leave it, with all that is derived from them. */
import type { Flag } from '../flags/flag.ts';
import type { World } from './world.ts';

/** Puts a record into its map, or replaces the one that is there. */
export function putRecord<K, V>({ memory }: World, records: Map<K, V>, key: K, record: V): void {
  memory.replace(records.get(key) ?? null, record);
  records.set(key, record);
}

export function dropRecord<K, V>({ memory }: World, records: Map<K, V>, key: K): void {
  const record = records.get(key);
  if (record === undefined) return;
  memory.replace(record, null);
  records.delete(key);
}

/** To be called for each flag that comes, changes or goes: keeps all that is derived from flags. */
export function noteFlag({ references, memory }: World, before: Flag | null, after: Flag | null): void {
  references.replace(before, after);
  memory.replace(before, after);
}

/** The same for a change that touches nothing of a flag but its environments. */
export function noteEnvironments({ references, memory }: World, before: Flag, after: Flag): void {
  references.replace(before, after);
  memory.replace(before.environments, after.environments);
}

/** Bytes of the state and of what is derived from it. */
export const stateBytes = ({ memory, references }: World): number => memory.bytes + references.bytes;
