/** Decisions that create, change, order and delete the environments of the service. */

import { jsonEqual } from '../json/json.ts';
import { withFields } from '../kinds/kind.ts';
import { environmentForgotten } from '../people/role-commands.ts';
import { tokensOfEnvironmentDeleted } from '../people/token-commands.ts';
import type { Decision } from '../state/decision.ts';
import { type DomainEvent, inProjectEnvironment, newEvent, ofEnvironment } from '../state/events.ts';
import { locateEnvironment } from '../state/locate.ts';
import { invalidOperation, isRefusal, nameExists, type Refusal } from '../state/refusal.ts';
import type { Environment, World } from '../state/world.ts';

/**
 * Environments of the service. The response for a flag lists those of its project, so each environment makes all of
 * them larger. Fifty is several times what the largest users run.
 */
export const ENVIRONMENTS_MAX = 50;

interface EnvironmentFields {
  readonly type?: string | undefined;
  readonly sortOrder?: number | undefined;
  readonly enabled?: boolean | undefined;
  readonly requiredApprovals?: number | null | undefined;
}

interface CreateEnvironment {
  readonly name: string;
  readonly fields: EnvironmentFields & { readonly type: string };
}

/** Without a position the environment comes last. A project has it only once the project adds it. */
export function createEnvironment(world: World, { name, fields }: CreateEnvironment): Decision {
  const { environments } = world.directory;
  if (environments.some((one) => one.name === name)) {
    return nameExists(`An environment named "${name}" exists already.`);
  }
  if (environments.length >= ENVIRONMENTS_MAX) {
    return invalidOperation(`The limit is ${ENVIRONMENTS_MAX} environments. Delete one first.`);
  }
  const last = environments.at(-1)?.sortOrder ?? 0;
  const data: Environment = {
    name,
    type: fields.type,
    enabled: fields.enabled ?? true,
    protected: false,
    sortOrder: fields.sortOrder ?? last + 1,
    ...(fields.requiredApprovals == null ? {} : { requiredApprovals: fields.requiredApprovals }),
  };
  return [newEvent('environment-created', ofEnvironment(name), { data })];
}

interface UpdateEnvironment {
  readonly name: string;
  readonly fields: EnvironmentFields;
}

export function updateEnvironment(world: World, { name, fields }: UpdateEnvironment): Decision {
  const environment = locateEnvironment(world, name);
  return isRefusal(environment) ? environment : updateEvents(environment, fields);
}

interface OrderEnvironments {
  /** Environments that the command does not name keep their position. */
  readonly order: readonly (readonly [name: string, sortOrder: number])[];
}

export function orderEnvironments(world: World, { order }: OrderEnvironments): Decision {
  const events: DomainEvent[] = [];
  for (const [name, sortOrder] of order) {
    const environment = locateEnvironment(world, name);
    if (isRefusal(environment)) return environment;
    events.push(...updateEvents(environment, { sortOrder }));
  }
  return events;
}

function updateEvents(
  preData: Environment,
  { requiredApprovals, ...fields }: EnvironmentFields,
): readonly DomainEvent[] {
  const { requiredApprovals: before = null, ...others } = withFields(preData, fields);
  const approvals = requiredApprovals === undefined ? before : requiredApprovals;
  const data = approvals === null ? others : { ...others, requiredApprovals: approvals };
  if (jsonEqual(data, preData)) return [];
  return [newEvent('environment-updated', ofEnvironment(data.name), { data, preData })];
}

/**
 * Every project loses the environment first. Tokens for it are deleted too, so that they are not valid in a later
 * environment of the same name.
 */
export function deleteEnvironment(world: World, { name }: { readonly name: string }): Decision {
  const environment = locateEnvironment(world, name);
  if (isRefusal(environment)) return environment;
  if (environment.protected)
    return invalidOperation(`The environment "${name}" is protected and cannot be deleted.`);
  const refusal = refuseInUse(world, name);
  if (refusal !== null) return refusal;
  const forgotten = environmentForgotten(world, name);
  if (isRefusal(forgotten)) return forgotten;
  const owners = [...world.projects.values()].filter(({ settings }) => settings.environments.includes(name));
  return [
    ...owners.map(({ settings }) =>
      newEvent('project-environment-removed', inProjectEnvironment(settings.id, name)),
    ),
    ...tokensOfEnvironmentDeleted(world, name),
    ...forgotten,
    newEvent('environment-deleted', ofEnvironment(name), { preData: environment }),
  ];
}

function refuseInUse(world: World, name: string): Refusal | null {
  const users: string[] = [];
  for (const project of world.projects.values()) {
    if (!project.settings.environments.includes(name)) continue;
    const count = project.flags.enabledCount(name);
    if (count > 0) users.push(`${count} in the project "${project.settings.id}"`);
  }
  if (users.length === 0) return null;
  return invalidOperation(
    `The environment "${name}" has enabled flags: ${users.join(', ')}. Disable them before deleting it.`,
  );
}
