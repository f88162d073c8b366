/** The events that add-ons record with a project that is created, in its frame, so that it is never there without. */
import type { DomainEvent } from '../state/events.ts';
import { invalid, isRefusal, type Refusal } from '../state/refusal.ts';
import type { ProjectSettings, World } from '../state/world.ts';

/** The most people who must approve the changes of an environment. */
export const APPROVALS_MAX = 10;

/** An environment that a new project is to have protected. */
export interface ProtectedEnvironment {
  readonly name: string;
  /** How many people must approve its changes; absent: as many as the environment says, else one. */
  readonly requiredApprovals?: number | undefined;
}

/** Protects environments of a project that is not there yet: those that the request names, and those whose default says so. */
export type ProtectNewProject = (
  world: World,
  project: ProjectSettings,
  named: readonly ProtectedEnvironment[],
) => readonly DomainEvent[] | Refusal;

/** The one of this server, from its start to its end; null where no add-on protects environments. */
let registered: ProtectNewProject | null = null;

export function registerNewProjects(protect: ProtectNewProject | null = null): void {
  registered = protect;
}

const FIELD = '/body/changeRequestEnvironments';

/** A project that was meant to be protected is not made without. */
export function protectedProject(
  world: World,
  project: ProjectSettings,
  named: readonly ProtectedEnvironment[],
): readonly DomainEvent[] | Refusal {
  if (registered === null)
    return named.length === 0 ? [] : invalid('This server protects no environments.', FIELD);
  const names = named.map(({ name }) => name);
  const unfit = names.findIndex(
    (name, at) => !project.environments.includes(name) || names.indexOf(name) < at,
  );
  if (unfit >= 0)
    return invalid(
      `The field changeRequestEnvironments must name environments of the project, each once: not "${names[unfit]}".`,
      `${FIELD}/${unfit}/name`,
    );
  const events = registered(world, project, named);
  return isRefusal(events) ? events.at(FIELD) : events;
}
