/** The route that moves a flag to another project. */
import * as v from 'valibot';
import type { Need } from '../../../domain/access/permissions.ts';
import { refuse } from '../../../domain/state/refusal.ts';
import { mayDo } from '../../dispatch/access.ts';
import { emptyResponse } from '../../dispatch/json-response.ts';
import { type Route, writeRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';

const MoveBody = v.pipe(v.object({ newProjectId: v.string() }), v.title('ChangeProject'));

/** In both projects. */
const NEED: Need = { permission: 'flag:write', needs: ['MOVE_FEATURE_TOGGLE'] };

export const moveRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: '/projects/:projectId/features/:featureName/changeProject',
    operationId: 'changeProject',
    tag: 'Features',
    summary: 'Move a flag to another project, in which the caller may change flags too.',
    ...NEED,
    locate: locate.flag,
    body: MoveBody,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'NoAccessError'],
    command: ({ world, caller, params, body: { newProjectId } }) => {
      const isKnown = world.projects.has(newProjectId);
      if (isKnown && !mayDo(world, caller, NEED, { projectId: newProjectId, environment: null })) {
        const who = caller.actor.name;
        return refuse(
          'NoAccessError',
          `The user "${who}" lacks the permission flag:write or MOVE_FEATURE_TOGGLE in the project "${newProjectId}", so no flag can be moved to it.`,
        );
      }
      return {
        type: 'move-flag',
        project: params.projectId,
        flag: params.featureName,
        newProject: newProjectId,
      };
    },
    respond: () => emptyResponse(200),
  }),
];
