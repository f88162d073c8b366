/** Checks that several decisions share, and the names of what they are about. */
import type { Flag } from '../flags/flag.ts';
import type { PatchOperation } from '../json/json-patch.ts';
import type { LocatedFlag } from '../state/locate.ts';
import { invalidOperation, nameExists, type Refusal, refuse } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';

export interface NamesFlag {
  readonly project: string;
  readonly flag: string;
}

export interface NamesFlags {
  readonly project: string;
  /** A name that occurs twice counts once. */
  readonly flags: readonly string[];
}

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
  const holder = world.flagProjects.get(name);
  if (holder === undefined) return null;
  const project = world.projects.get(holder);
  // People who do not see the project are not told what its flags are like.
  const isArchived = !isPrivate(project) && project?.flags.get(name)?.flag.archivedAt != null;
  const place = `${isArchived ? 'archived ' : ''}in ${nameOfProject(world, holder)}`;
  return nameExists(`A flag named "${name}" exists already, ${place}.`);
}

/** The name of an existing project, for a message that may reach people who do not see it. */
export function nameOfProject({ projects }: World, id: string): string {
  return isPrivate(projects.get(id)) ? 'a private project' : `the project "${id}"`;
}

const isPrivate = (project: ProjectState | undefined): boolean =>
  project === undefined || project.settings.mode === 'private';

// The refusal of a JSON Patch that cannot be applied names the operation at fault
// (docs/specification/common.md#json-patch).

interface PatchFailure {
  readonly kind: 'invalid' | 'test-failed';
  readonly index: number;
  readonly message: string;
}

/**
 * A `test` operation that does not hold is a conflict with the state (409). Everything else is a bad request (400).
 */
export function patchRefusal({ kind, index, message }: PatchFailure): Refusal {
  const name = kind === 'test-failed' ? 'InvalidOperationError' : 'ValidationError';
  return refuse(name, message, [{ message, path: `/body/${index}` }]);
}

/**
 * For a patch that can be applied, but whose result breaks a rule at `field` of the document. The refusal names the
 * last operation that wrote to that field, or the last operation of all when none did.
 */
export function patchedValueRefusal(
  operations: readonly PatchOperation[],
  field: string,
  message: string,
): Refusal {
  const pointer = `/${field}`;
  const writes = ({ path }: PatchOperation) => path === pointer || path.startsWith(`${pointer}/`);
  const blamed = operations.findLastIndex(writes);
  const index = blamed >= 0 ? blamed : operations.length - 1;
  return refuse('ValidationError', message, [{ message, path: `/body/${index}` }]);
}
