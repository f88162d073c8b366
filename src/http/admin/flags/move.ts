/** The route that moves a flag to another project. */
import * as v from 'valibot';
import { refuse } from '../../../domain/state/refusal.ts';
import { mayDo } from '../../dispatch/access.ts';
import { emptyResponse } from '../../dispatch/json-response.ts';
import { type Route, writeRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';

const MoveBody = v.pipe(v.object({ newProjectId: v.string() }), v.title('ChangeProject'));

export const moveRoutes: readonly Route[] = [
  writeRoute({
    method: 'POST',
    path: '/projects/:projectId/features/:featureName/changeProject',
    operationId: 'changeProject',
    tag: 'Features',
    summary: 'Move a flag to another project, in which the caller may change flags too.',
    permission: 'flag:write',
    locate: locate.flag,
    body: MoveBody,
    success: { status: 200, schema: null },
    refusals: ['InvalidOperationError', 'NoAccessError'],
    command: ({ world, caller, params, body: { newProjectId } }) => {
      const isKnown = world.projects.has(newProjectId);
      if (isKnown && !mayDo(world, caller, 'flag:write', newProjectId)) {
        const who = caller.actor.name;
        return refuse(
          'NoAccessError',
          `The user "${who}" lacks the permission flag:write in the project "${newProjectId}", so no flag can be moved to it.`,
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
