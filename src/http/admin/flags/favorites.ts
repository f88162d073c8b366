/** Flags and projects that users mark as their favorites. */
import { emptyResponse } from '../../serving/json-response.ts';
import { type Locate, type Method, type Route, writeRoute } from '../../serving/route.ts';
import * as locate from '../requests/locators.ts';

interface FavoriteRoute {
  readonly method: Extract<Method, 'POST' | 'DELETE'>;
  readonly of: 'flag' | 'project';
}

function favoriteRoute({ method, of }: FavoriteRoute): Route {
  const isMarked = method === 'POST';
  const operation = isMarked ? 'addFavorite' : 'removeFavorite';
  return writeRoute({
    method,
    path:
      of === 'flag'
        ? '/projects/:projectId/features/:featureName/favorites'
        : '/projects/:projectId/favorites',
    operationId: `${operation}${of === 'flag' ? 'Feature' : 'Project'}`,
    tag: 'Favorites',
    summary: `${isMarked ? 'Mark' : 'Unmark'} a ${of} as a favorite of the caller.`,
    permission: 'personal',
    locate: of === 'flag' ? (locate.flag as Locate<object>) : locate.project,
    success: { status: 200, schema: null },
    ...(isMarked ? { refusals: ['InvalidOperationError'] as const } : {}),
    command: ({ params, caller: { user } }) => {
      if (user === null) throw new Error('a caller who is no user got past the rights of this route');
      const flag = of === 'flag' ? params.featureName : null;
      return { type: 'mark-favorite', project: params.projectId, flag, userId: user.id, isMarked };
    },
    respond: () => emptyResponse(200),
  });
}

export const favoriteRoutes: readonly Route[] = (['flag', 'project'] as const).flatMap((of) => [
  favoriteRoute({ method: 'POST', of }),
  favoriteRoute({ method: 'DELETE', of }),
]);
