/** A project's overview and its list of flags (docs/specification/flags.md#overview). */

import { isRefusal } from '../../../domain/state/refusal.ts';
import { FILTER_PARAMETERS, filterOf, isFiltering } from '../../dispatch/flag-filter.ts';
import { type Route, readRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { STATE_PARAMETER, stateOf } from '../requests/state-parameter.ts';
import { ProjectSummaryOverviewSchema } from '../schemas/directory-schemas.ts';
import { FlagListSchema, ProjectOverviewSchema } from '../schemas/schemas.ts';
import { favoriteProjects } from '../views/directory-views.ts';
import { projectOverviewView } from '../views/project-overview-view.ts';
import { filteredFlagList, flagList, projectOverview, projectRevision } from '../views/render-project.ts';
import { settledResponse } from '../views/responses.ts';

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
    read: ({ world, usage, now }, project) => ({
      revision: projectRevision(world, project),
      response: projectOverview({ world, seen: usage.seen }, project, now()),
    }),
  }),
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/overview',
    operationId: 'getProjectOverviewWithoutFeatures',
    tag: 'Projects',
    summary: 'Read a project without its flags, with their number by type.',
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: ProjectSummaryOverviewSchema },
    read: (context, project) => {
      const { world, usage, caller, now } = context;
      return settledResponse(
        context,
        projectOverviewView(
          { world, seen: usage.seen, favorites: favoriteProjects(world, caller), now: now() },
          project,
        ),
      );
    },
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
    refusals: ['ValidationError'],
    query: { ...FILTER_PARAMETERS, ...STATE_PARAMETER },
    read: (context, project) => {
      const { world, usage, now } = context;
      const sources = { world, seen: usage.seen };
      const filter = filterOf(context);
      if (isRefusal(filter)) return filter;
      const state = stateOf(context);
      if (state !== null && isRefusal(state)) return state;
      return {
        revision: projectRevision(world, project),
        response:
          isFiltering(filter) || state !== null
            ? filteredFlagList(sources, project, { filter, state, now: now() })
            : flagList(sources, project, now()),
      };
    },
  }),
];
