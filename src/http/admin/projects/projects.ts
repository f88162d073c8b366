/** A project's overview and its list of flags (docs/specification/flags.md#overview). */
import { STALENESS, type Staleness } from '../../../domain/flags/lifetime.ts';
import { shown } from '../../../domain/json/issues.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { FILTER_PARAMETERS, filterOf, isFiltering } from '../../serving/flag-filter.ts';
import { type QueryParameter, type RequestContext, readRoute, underTag } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { ProjectSummaryOverviewSchema } from '../schemas/directory-schemas.ts';
import { FlagListSchema, ProjectOverviewSchema } from '../schemas/schemas.ts';
import { callerFavorites, favoriteProjects } from '../views/directory-views.ts';
import { projectOverviewView } from '../views/project-overview-view.ts';
import { filteredFlagList, flagList, type ListSources, projectOverview } from '../views/render-project.ts';
import { pinnedResponse } from '../views/responses.ts';

// The query parameter `state`, which narrows a list of flags to those that are active, potentially stale or stale.

const STATE_PARAMETER: Readonly<Record<'state', QueryParameter>> = {
  state: {
    description:
      'Lists flags in this state only: stale, potentially-stale (not stale, and older than the lifetime of their type) or active (neither).',
    schema: { type: 'string', enum: STALENESS },
  },
};

/** Null: any state. The refusal is a 400. */
function stateOf(context: Pick<RequestContext<unknown>, 'query'>): Staleness | null | Refusal {
  const text = context.query('state');
  if (text === '') return null;
  return (
    STALENESS.find((one) => one === text) ??
    invalid(
      `The query parameter state must be one of ${STALENESS.join(', ')}, not ${shown(text)}.`,
      '/query/state',
    )
  );
}

const listSources = ({ world, caller, usage, requester, now }: RequestContext<unknown>): ListSources => ({
  world,
  favorites: callerFavorites(world, caller),
  seen: usage.seen,
  requester,
  now: now(),
});

export const projectRoutes = underTag('Projects', [
  readRoute('GET /projects/:projectId', {
    operationId: 'getProjectOverview',
    summary: 'Read a project with its flags.',
    locate: locate.project,
    success: { status: 200, schema: ProjectOverviewSchema },
    read: (context, project) => projectOverview(listSources(context), project),
  }),
  readRoute('GET /projects/:projectId/overview', {
    operationId: 'getProjectOverviewWithoutFeatures',
    summary: 'Read a project without its flags, with their number by type.',
    locate: locate.project,
    success: { status: 200, schema: ProjectSummaryOverviewSchema },
    read: async (context, project) => {
      const favorites = favoriteProjects(context.world, context.caller);
      const { settings } = project;
      const view = await projectOverviewView(
        { ...listSources(context), favoriteProjects: favorites },
        project,
      );
      return pinnedResponse(context, settings, view);
    },
  }),
  readRoute('GET /projects/:projectId/features', {
    operationId: 'listFeatures',
    tag: 'Features',
    summary: "List a project's flags.",
    locate: locate.project,
    success: { status: 200, schema: FlagListSchema },
    refusals: ['ValidationError'],
    query: { ...FILTER_PARAMETERS, ...STATE_PARAMETER },
    read: (context, project) => {
      const filter = filterOf(context);
      if (isRefusal(filter)) return filter;
      const state = stateOf(context);
      if (state !== null && isRefusal(state)) return state;
      return isFiltering(filter) || state !== null
        ? filteredFlagList(listSources(context), project, { filter, state })
        : flagList(listSources(context), project);
    },
  }),
]);
