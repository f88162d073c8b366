/** Decides on moving a flag to another project (docs/specification/flags.md#moving). */

import { environmentOf, type Flag } from '../flags/flag.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag } from '../state/events.ts';
import { locateFlag, noProject } from '../state/locate.ts';
import { invalid, invalidOperation, type Refusal } from '../state/refusal.ts';
import type { ProjectState, World } from '../state/world.ts';
import { type NamesFlag, unlessArchived } from './guards.ts';

export interface MoveFlag extends NamesFlag {
  readonly newProject: string;
}

/**
 * The flag leaves the one project and comes to the other, each with an event of its own, so that the history of a project is
 * whole by itself.
 */
export function moveFlag(world: World, { project, flag: name, newProject }: MoveFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const target = world.projects.get(newProject);
  if (target === undefined) return invalid(noProject(world, newProject), '/body/newProjectId');
  if (target === located.project) return UNCHANGED;
  const { flag, createdBy } = located.record;
  const refusal =
    refuseDependencies(flag) ?? refuseEnvironments(flag, target) ?? refuseSegments(world, flag, target);
  if (refusal !== null) return refusal;
  // In an environment that the new project does not have, nothing is set.
  const environments = flag.environments.filter(({ name: one }) =>
    target.settings.environments.includes(one),
  );
  const moved: Flag = { ...flag, project: newProject, environments };
  const type = 'feature-project-change';
  const data = { oldProject: project, newProject };
  // Each project has an event, and whoever reads that of one may not know of the other.
  const leaves = isPrivate(target) ? { oldProject: project } : data;
  const arrives = isPrivate(located.project) ? { newProject } : data;
  return [
    { type, ...aboutFlag(flag), data: leaves, preData: null },
    { type, ...aboutFlag(moved), data: arrives, preData: null, hidden: { flag: moved, createdBy } },
  ];
}

const isPrivate = ({ settings }: ProjectState): boolean => settings.mode === 'private';

/** Parents and children are in one project. */
function refuseDependencies({ name, children, dependencies }: Flag): Refusal | null {
  if (children.length > 0) {
    return invalidOperation(`Other flags depend on "${name}", so it cannot go to another project.`);
  }
  if (dependencies.length === 0) return null;
  return invalidOperation(
    `The flag "${name}" depends on others of its project; remove its dependencies before moving it.`,
  );
}

/** Refuses a move to a project that lacks an environment in which the flag has settings: they would be lost. */
function refuseEnvironments(flag: Flag, { settings }: ProjectState): Refusal | null {
  const missing = flag.environments.find(({ name }) => {
    const { enabled, strategies, variants } = environmentOf(flag, name);
    return (enabled || strategies.length + variants.length > 0) && !settings.environments.includes(name);
  });
  if (missing === undefined) return null;
  return invalidOperation(
    `The flag "${flag.name}" is set up in the environment "${missing.name}", which the project "${settings.id}" does not have.`,
  );
}

function refuseSegments({ directory }: World, flag: Flag, { settings }: ProjectState): Refusal | null {
  for (const { strategies } of flag.environments) {
    for (const id of strategies.flatMap(({ segments }) => segments)) {
      const segment = directory.segments.get(id);
      if (segment === undefined || segment.project === null || segment.project === settings.id) continue;
      return invalidOperation(
        `A strategy of the flag "${flag.name}" uses the segment "${segment.name}", which is for the project "${segment.project}" only.`,
      );
    }
  }
  return null;
}
