/** Checks that several decisions share. */
import type { Flag } from '../flags/flag.ts';
import type { LocatedFlag } from '../state/locate.ts';
import { invalidOperation, nameExists, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

/**
 * Every write to an archived flag is refused, except archiving, reviving and deleting
 * (docs/specification/flags.md#archiving).
 */
export function refuseArchived(flag: Flag): Refusal | null {
  if (flag.archivedAt === null) return null;
  return invalidOperation(`The flag "${flag.name}" is archived; revive it before changing it.`);
}

/** Returns the flag that a command names, or the reason for a refusal: it does not exist, or is archived. */
export function unlessArchived<T extends LocatedFlag>(located: T | Refusal): T | Refusal {
  return located.refused ? located : (refuseArchived(located.record.flag) ?? located);
}

/** Flag names are unique in the whole service, archived flags included (docs/specification/flags.md#names). */
export function refuseTakenName(world: World, name: string): Refusal | null {
  const holder = world.directory.flagProjects.get(name);
  if (holder === undefined) return null;
  return nameExists(`A flag named "${name}" exists already, in ${nameOfProject(world, holder)}.`);
}

/** The name of an existing project, for a message that may reach people who do not see it. */
export function nameOfProject({ projects }: World, id: string): string {
  const project = projects.get(id);
  const isPrivate = project === undefined || project.settings.mode === 'private';
  return isPrivate ? 'a private project' : `the project "${id}"`;
}
