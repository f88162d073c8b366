/** A project's overview and its list of flags (docs/specification/flags.md#overview). */

import { isRefusal } from '../../../domain/state/refusal.ts';
import type { ProjectState, World } from '../../../domain/state/world.ts';
import type { TaggedReply } from '../../dispatch/json-reply.ts';
import { type Route, readRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { FlagListSchema, ProjectOverviewSchema } from '../schemas/schemas.ts';
import { flagList, projectOverview, projectRevision } from '../views/render-project.ts';

type Render = (world: World, project: ProjectState, now: number) => TaggedReply;

function readProject(render: Render): Parameters<typeof readRoute>[0]['read'] {
  return ({ world, params, now }) => {
    const project = locate.project(world, params);
    if (isRefusal(project)) return project;
    return { revision: projectRevision(world, project), reply: render(world, project, now()) };
  };
}

export const projectRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/projects/:projectId',
    operationId: 'getProjectOverview',
    tag: 'Projects',
    summary: 'Read a project with its flags.',
    permission: 'read',
    success: { status: 200, schema: ProjectOverviewSchema },
    refusals: ['NotFoundError'],
    read: readProject(projectOverview),
  }),
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/features',
    operationId: 'listFeatures',
    tag: 'Features',
    summary: "List a project's flags.",
    permission: 'read',
    success: { status: 200, schema: FlagListSchema },
    refusals: ['NotFoundError'],
    read: readProject(flagList),
  }),
];
