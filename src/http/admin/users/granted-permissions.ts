/**
 * The rights of a caller in the terms that clients of this interface know, so that they can hide what would be
 * refused. Only access.ts decides what is refused, and this list is made from it.
 */
import { type Need, PERMISSIONS, type PermissionInfo } from '../../../domain/access/permissions.ts';
import type { World } from '../../../domain/state/world.ts';
import { type Caller, mayDo } from '../../serving/access.ts';

interface GrantedPermission {
  readonly permission: string;
  /** `*` for every project; absent for rights that belong to no project. */
  readonly project?: string;
  /** `*` for every environment; absent for rights that belong to none. */
  readonly environment?: string;
}

/** The permissions that are listed: all but reading, which needs none. */
const LISTED = PERMISSIONS.filter(({ within }) => within !== 'read');

const NOWHERE = { projectId: null, environment: null };

export function grantedPermissions(world: World, caller: Caller): GrantedPermission[] {
  if (mayDo(world, caller, { permission: 'admin' }, NOWHERE)) return [{ permission: 'ADMIN' }];
  return LISTED.flatMap((permission) =>
    permission.kind === 'root'
      ? grantedAtRoot(world, caller, permission)
      : grantedInProjects(world, caller, permission),
  );
}

function needOf({ within, name }: PermissionInfo): Need {
  return { permission: within, needs: [name] };
}

function grantedAtRoot(world: World, caller: Caller, permission: PermissionInfo): GrantedPermission[] {
  return mayDo(world, caller, needOf(permission), NOWHERE) ? [{ permission: permission.name }] : [];
}

function grantedInProjects(world: World, caller: Caller, info: PermissionInfo): GrantedPermission[] {
  const need = needOf(info);
  const { name: permission, kind } = info;
  const everywhere = kind === 'environment' ? { environment: '*' } : {};
  if (mayDo(world, caller, need, NOWHERE)) return [{ permission, project: '*', ...everywhere }];
  return [...world.projects.values()].flatMap(({ settings }): GrantedPermission[] => {
    const { id: project, environments } = settings;
    if (mayDo(world, caller, { permission: info.within }, { projectId: project, environment: null }))
      return [{ permission, project, ...everywhere }];
    const places = kind === 'environment' ? environments : [null];
    return places
      .filter((environment) => mayDo(world, caller, need, { projectId: project, environment }))
      .map((environment) => ({ permission, project, ...(environment === null ? {} : { environment }) }));
  });
}
