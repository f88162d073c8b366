/** The route that moves a flag to another project. */
import * as v from 'valibot';
import type { Need, PermissionName } from '../../domain/access/permissions.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { titled } from '../../domain/json/schema.ts';
import { locateFlag } from '../../domain/state/locate.ts';
import { present, refuse } from '../../domain/state/refusal.ts';
import { mayDo } from '../serving/access.ts';
import { commandOf, type Guard, underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';

const MoveBody = titled('ChangeProject', { newProjectId: v.string() });

interface Asking {
  readonly permission: PermissionName;
  /** Null: the project as a whole. */
  readonly environment: string | null;
}

/** The rights that a move needs in each project: to move the flag, and to change it in each environment where it is set up. */
function needsOf(flag: Flag): readonly Asking[] {
  const inEnvironments = flag.environments.flatMap(({ name }) => {
    const { enabled, strategies, variants } = environmentOf(flag, name);
    const permissions: PermissionName[] = [];
    if (enabled) permissions.push('UPDATE_FEATURE_ENVIRONMENT');
    if (strategies.length > 0) permissions.push('CREATE_FEATURE_STRATEGY', 'DELETE_FEATURE_STRATEGY');
    if (variants.length > 0) permissions.push('UPDATE_FEATURE_ENVIRONMENT_VARIANTS');
    return permissions.map((permission): Asking => ({ permission, environment: name }));
  });
  return [{ permission: 'MOVE_FEATURE_TOGGLE', environment: null }, ...inEnvironments];
}

/**
 * Why the caller may not make the move. The flag, with what it is in each environment, goes from those who use the one project
 * and comes to those who use the other.
 */
const refuseMove: Guard = (world, caller, _, command) => {
  const { project, flag, newProject } = commandOf(command, 'move-flag');
  for (const projectId of [newProject, project]) {
    for (const { permission, environment } of needsOf(
      present(locateFlag(world, project, flag)).record.flag,
    )) {
      const need: Need = { permission: 'flag:write', needs: [permission] };
      if (mayDo(world, caller, need, { projectId, environment })) continue;
      const place = environment === null ? '' : ` in the environment "${environment}"`;
      return refuse(
        'NoAccessError',
        `The user "${caller.actor.name}" lacks the permission flag:write or ${permission}${place} of the project "${projectId}", so the flag "${flag}" cannot be moved from "${project}" to "${newProject}".`,
      );
    }
  }
  return null;
};

export const moveRoutes = underTag('Features', [
  writeRoute('POST /projects/:projectId/features/:featureName/changeProject', {
    operationId: 'changeProject',
    summary: 'Move a flag to another project, in which the caller may change flags too.',
    needs: ['MOVE_FEATURE_TOGGLE'],
    locate: locate.flag,
    body: MoveBody,
    guard: refuseMove,
    refusals: ['NoAccessError'],
    command: ({ params, body: { newProjectId } }) => ({
      type: 'move-flag',
      ...locate.flagIn(params),
      newProject: newProjectId,
    }),
  }),
]);
