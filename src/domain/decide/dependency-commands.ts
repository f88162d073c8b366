/**
 * Decisions on dependencies (docs/specification/users.md#dependencies): a child flag depends on parent flags. They
 * are one level deep, so nobody has to follow a chain, and no cycle can exist.
 */

import type { Dependency, Flag } from '../flags/flag.ts';
import { jsonEqual } from '../json/json.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag, type DomainEvent } from '../state/events.ts';
import { type LocatedFlag, locateFlag, locateFlagAnywhere } from '../state/locate.ts';
import { invalid, invalidOperation, notFound, type Refusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { dependenciesRemoved } from './archive-commands.ts';
import { refuseArchived, unlessArchived } from './guards.ts';

/** Parents of one flag. SDKs evaluate all of them each time they evaluate the flag. */
export const PARENTS_PER_FLAG_MAX = 20;

interface NamesChild {
  readonly project: string;
  readonly child: string;
}

interface AddDependency extends NamesChild {
  readonly dependency: Dependency;
}

/** A second dependency on the same parent replaces the first. */
export function addDependency(world: World, { project, child, dependency }: AddDependency): Decision {
  const located = locateFlag(world, project, child);
  if (located.refused) return located;
  const { flag } = located.record;
  const refusal =
    refuseParent(world, located, dependency.feature) ?? refuseArchived(flag) ?? refuseDepth(flag, dependency);
  if (refusal !== null) return refusal;
  const before = flag.dependencies.find((one) => one.feature === dependency.feature);
  return jsonEqual(before, dependency) ? UNCHANGED : [dependencySet(flag, dependency)];
}

function refuseParent(world: World, { project, record }: LocatedFlag, name: string): Refusal | null {
  if (name === record.flag.name) {
    return invalid(`The flag "${name}" cannot depend on itself.`, '/body/feature');
  }
  const parent = locateFlagAnywhere(world, name);
  if (parent.refused) return parent.at('/body/feature');
  if (parent.project !== project) {
    return invalidOperation(
      `The flag "${name}" is in the project "${parent.project.settings.id}"; a parent must be in the project of its child.`,
    );
  }
  const { flag } = parent.record;
  if (flag.archivedAt !== null) {
    return invalidOperation(`The flag "${name}" is archived and cannot become a parent; revive it first.`);
  }
  if (flag.dependencies.length === 0) return null;
  return invalidOperation(`The flag "${name}" has a parent of its own, so it cannot be a parent.`);
}

function refuseDepth(child: Flag, { feature }: Dependency): Refusal | null {
  if (child.children.length > 0) {
    return invalidOperation(`Other flags depend on "${child.name}", so it cannot have a parent.`);
  }
  const isNew = child.dependencies.every((one) => one.feature !== feature);
  if (!isNew || child.dependencies.length < PARENTS_PER_FLAG_MAX) return null;
  return invalidOperation(`A flag can have at most ${PARENTS_PER_FLAG_MAX} parents.`);
}

interface RemoveDependency extends NamesChild {
  readonly parent: string;
}

export function removeDependency(world: World, { project, child, parent }: RemoveDependency): Decision {
  const located = unlessArchived(locateDependency(world, project, child, parent));
  if (located.refused) return located;
  const { flag } = located.record;
  return [dependencyRemoved(flag, located.dependency)];
}

export function removeDependencies(world: World, { project, child }: NamesChild): Decision {
  const located = unlessArchived(locateFlag(world, project, child));
  if (located.refused) return located;
  const { flag } = located.record;
  return flag.dependencies.length === 0 ? UNCHANGED : [dependenciesRemoved(flag)];
}

export interface LocatedDependency extends LocatedFlag {
  readonly dependency: Dependency;
}

export function locateDependency(
  world: World,
  project: string,
  child: string,
  parent: string,
): LocatedDependency | Refusal {
  const located = locateFlag(world, project, child);
  if (located.refused) return located;
  const dependency = located.record.flag.dependencies.find((one) => one.feature === parent);
  if (dependency === undefined) return notFound(`The flag "${child}" does not depend on "${parent}".`);
  return { ...located, dependency };
}

/** A new dependency, or another one on the same parent. */
export function dependencySet(flag: Pick<Flag, 'name' | 'project'>, data: Dependency): DomainEvent {
  return { type: 'feature-dependency-added', ...aboutFlag(flag), data, preData: null };
}

export function dependencyRemoved(flag: Pick<Flag, 'name' | 'project'>, preData: Dependency): DomainEvent {
  return { type: 'feature-dependency-removed', ...aboutFlag(flag), data: null, preData };
}
