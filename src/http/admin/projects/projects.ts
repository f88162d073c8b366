/** A project's overview and its list of flags (docs/specification/flags.md#overview). */

import type { Tag } from '../../../domain/flags/flag.ts';
import { shown } from '../../../domain/json/issues.ts';
import { invalid, isRefusal, type Refusal } from '../../../domain/state/refusal.ts';
import { type RequestContext, type Route, readRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { FlagListSchema, ProjectOverviewSchema } from '../schemas/schemas.ts';
import {
  type FlagFilter,
  filteredFlagList,
  flagList,
  projectOverview,
  projectRevision,
} from '../views/render-project.ts';

/** Tags that one list can be filtered by. */
const TAG_FILTERS_MAX = 50;

const FILTER_PARAMETERS = {
  tag: {
    description: 'Lists flags with this tag only, as type:value. Repeated: with any of the tags.',
    schema: { type: 'array', items: { type: 'string' }, maxItems: TAG_FILTERS_MAX },
  },
  namePrefix: { description: 'Lists flags whose names start with this only, by case.' },
} as const;

function filterOf(context: RequestContext<unknown>): FlagFilter | Refusal {
  const texts = context.queryAll('tag');
  if (texts.length > TAG_FILTERS_MAX) {
    return invalid(`The query parameter tag may be sent ${TAG_FILTERS_MAX} times at most.`, '/query/tag');
  }
  const tags: Tag[] = [];
  for (const text of texts) {
    const colon = text.indexOf(':');
    if (colon < 1) {
      return invalid(`The query parameter tag must be type:value, not ${shown(text)}.`, '/query/tag');
    }
    tags.push({ type: text.slice(0, colon), value: text.slice(colon + 1) });
  }
  return { tags, namePrefix: context.query('namePrefix') };
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
    read: ({ world, now }, project) => ({
      revision: projectRevision(world, project),
      reply: projectOverview(world, project, now()),
    }),
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
    query: FILTER_PARAMETERS,
    read: (context, project) => {
      const { world, now } = context;
      const filter = filterOf(context);
      if (isRefusal(filter)) return filter;
      const isFiltered = filter.tags.length > 0 || filter.namePrefix !== '';
      return {
        revision: projectRevision(world, project),
        reply: isFiltered ? filteredFlagList(world, project, filter) : flagList(world, project, now()),
      };
    },
  }),
];
