/**
 * The rights of a caller in the terms that clients of this interface know, so that they can hide what would be
 * refused. Only access.ts decides what is refused, and this list is made from it.
 */
import type { World } from '../../domain/state/world.ts';
import { type Caller, mayDo, type Permission } from './access.ts';

interface GrantedPermission {
  readonly permission: string;
  /** `*` for every project; absent for rights that belong to no project. */
  readonly project?: string;
}

const PROJECT_WORDS = [
  [
    'flag:write',
    [
      'CREATE_FEATURE',
      'UPDATE_FEATURE',
      'DELETE_FEATURE',
      'UPDATE_FEATURE_ENVIRONMENT',
      'CREATE_FEATURE_STRATEGY',
      'UPDATE_FEATURE_STRATEGY',
      'DELETE_FEATURE_STRATEGY',
      'UPDATE_FEATURE_VARIANTS',
      'UPDATE_FEATURE_ENVIRONMENT_VARIANTS',
      'UPDATE_FEATURE_DEPENDENCY',
    ],
  ],
  ['project:write', ['UPDATE_PROJECT', 'DELETE_PROJECT']],
] as const satisfies readonly (readonly [Permission, readonly string[]])[];

export function grantedPermissions(world: World, caller: Caller): GrantedPermission[] {
  if (mayDo(world, caller, 'admin', null)) return [{ permission: 'ADMIN' }];
  const granted: GrantedPermission[] = [];
  if (mayDo(world, caller, 'project:create', null)) granted.push({ permission: 'CREATE_PROJECT' });
  for (const [permission, words] of PROJECT_WORDS) {
    for (const project of projectsWith(world, caller, permission)) {
      granted.push(...words.map((word) => ({ permission: word, project })));
    }
  }
  return granted;
}

function projectsWith(world: World, caller: Caller, permission: Permission): string[] {
  if (mayDo(world, caller, permission, null)) return ['*'];
  return [...world.projects.keys()].filter((id) => mayDo(world, caller, permission, id));
}
