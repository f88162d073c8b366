/** Checks that several decisions share. */
import type { Flag } from '../flags/flag.ts';
import { jsonGrowth, jsonSize } from '../json/json.ts';
import type { LocatedFlag } from '../state/locate.ts';
import { invalidOperation, nameExists, type Refusal, refuse } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

/**
 * Size of one flag with all its strategies and variants, as `jsonSize` counts it. Protects snapshots, in which a flag
 * is one record, responses, in which it is one body, and the event loop, which one request should not hold for more than 20 ms: a
 * clone takes about 10 ms for it. Real flags take kilobytes.
 */
export const FLAG_SIZE_MAX = 512 * 1024;

/** Refuses a change that removes `removed` from the flag and adds `added` to it `copies` times. */
export function refuseOversized(flag: Flag, removed: unknown, added: unknown, copies = 1): Refusal | null {
  const growth = copies === 1 ? jsonGrowth(removed, added) : copies * jsonSize(added) - jsonSize(removed);
  return growth <= 0 ? null : refuseSize(flag.name, jsonSize(flag) + growth);
}

/** The same for a flag that is replaced as a whole. One that shrinks is let through, whatever its size. */
export function refuseLargeFlag(before: Flag, after: Flag): Refusal | null {
  const size = jsonSize(after);
  return size <= jsonSize(before) ? null : refuseSize(after.name, size);
}

function refuseSize(name: string, size: number): Refusal | null {
  if (size <= FLAG_SIZE_MAX) return null;
  return refuse(
    'PayloadTooLargeError',
    `The flag "${name}" would take about ${Math.ceil(size / 2 ** 20)} MiB; a flag may take ${FLAG_SIZE_MAX / 2 ** 20} MiB.`,
  );
}

/**
 * Every write to an archived flag is refused, except archiving, reviving and deleting
 * (docs/specification/flags.md#archiving).
 */
export function refuseArchived(flag: Flag): Refusal | null {
  if (flag.archivedAt === null) return null;
  return invalidOperation(`The flag "${flag.name}" is archived; revive it before changing it.`);
}

/**
 * What a change of a flag begins with: what it names, or why it is refused, because that does not exist or because the
 * flag is archived.
 */
export function unlessArchived<T extends LocatedFlag>(located: T | Refusal): T | Refusal {
  return located.refused ? located : (refuseArchived(located.record.flag) ?? located);
}

/** Flag names are unique in the whole service, archived flags included (docs/specification/flags.md#names). */
export function refuseTakenName(world: World, name: string): Refusal | null {
  const holder = world.directory.flagProjects.get(name);
  if (holder === undefined) return null;
  return nameExists(`A flag named "${name}" exists already, in the project "${holder}".`);
}
