/** The route that lists who created the flags of a project, for filters of searches. */
import { authorOf } from '../../serving/access.ts';
import { type Route, readRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';
import { FlagCreatorsSchema } from '../schemas/search-schemas.ts';
import { projectFigures } from '../views/project-figures.ts';
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
    read: async (context, project) => {
      const [figures] = await projectFigures([project], context.now(), context.asker);
      const creators = [...figures!.creators].map((userId) => {
        const { id, name } = authorOf(context.world, userId);
        return { id, name };
      });
      return settledResponse(context, creators);
    },
  }),
];
