/** Checks that several decisions share. */
import type { Flag } from '../flag.ts';
import { invalidOperation, nameExists, type Refusal } from '../refusal.ts';
import type { World } from '../world.ts';

/** Every write to an archived flag but archiving, reviving and deleting is refused (decisions.md §2). */
export function refuseArchived(flag: Flag): Refusal | null {
  if (flag.archivedAt === null) return null;
  return invalidOperation(`The flag "${flag.name}" is archived; revive it before changing it.`);
}

/** Flag names are unique over the whole service, archived flags included. */
export function refuseTakenName(world: World, name: string): Refusal | null {
  const holder = world.directory.flagProjects.get(name);
  if (holder === undefined) return null;
  return nameExists(`A flag named "${name}" exists already, in the project "${holder}".`);
}
