/** The route that lists who created the flags of a project, for filters of searches. */
import { authorOf } from '../../dispatch/access.ts';
import { type Route, readRoute } from '../../dispatch/route.ts';
import * as locate from '../requests/locators.ts';
import { FlagCreatorsSchema } from '../schemas/search-schemas.ts';
import { settledResponse } from '../views/responses.ts';

export const flagCreatorRoutes: readonly Route[] = [
  readRoute({
    method: 'GET',
    path: '/projects/:projectId/flag-creators',
    operationId: 'getProjectFlagCreators',
    tag: 'Projects',
    summary: 'List who created the flags of a project that are not archived.',
    permission: 'read',
    locate: locate.project,
    success: { status: 200, schema: FlagCreatorsSchema },
    read: (context, project) => {
      const ids = new Set<number>();
      for (const { flag, createdBy } of project.flags.values())
        if (flag.archivedAt === null && createdBy !== null) ids.add(createdBy);
      const creators = [...ids].map((userId) => {
        const { id, name } = authorOf(context.world, userId);
        return { id, name };
      });
      return settledResponse(context, creators);
    },
  }),
];
