/** A project's overview and its list of flags (docs/specification/flags.md#overview). */

import type { ProjectState, World } from '../../../domain/state/world.ts';
import type { TaggedReply } from '../../dispatch/json-reply.ts';
import { type ReadAnswer, type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { FlagListSchema, ProjectOverviewSchema } from '../schemas/schemas.ts';
import { flagList, projectOverview, projectRevision } from '../views/render-project.ts';

type Render = (world: World, project: ProjectState, now: number) => TaggedReply;

function readProject(render: Render) {
  return ({ world, now }: RequestContext<undefined>, project: ProjectState): ReadAnswer => ({
    revision: projectRevision(world, project),
    reply: render(world, project, now()),
  });
}

export const projectRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/projects/:projectId',
    operationId: 'getProjectOverview',
    tag: 'Projects',
    summary: 'Read a project with its flags.',
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: ProjectOverviewSchema },
    read: readProject(projectOverview),
  }),
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/features',
    operationId: 'listFeatures',
    tag: 'Features',
    summary: "List a project's flags.",
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: FlagListSchema },
    read: readProject(flagList),
  }),
];
