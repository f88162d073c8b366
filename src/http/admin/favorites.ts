/** Flags and projects that users mark as their favorites. */

import type { Favorites, World } from '../../domain/state/world.ts';
import type { Caller } from '../serving/access.ts';
import { type Locate, type RouteDraft, underTag, writeRoute } from '../serving/route.ts';
import * as locate from './locators.ts';

/** The caller's favorites; null for a caller without any. */
export function callerFavorites(world: World, { user }: Caller): Favorites | null {
  const favorites = user === null ? undefined : world.directory.favorites.get(user.id);
  return favorites ?? null;
}

function favoriteRoute(method: 'POST' | 'DELETE', of: 'flag' | 'project'): RouteDraft {
  const isMarked = method === 'POST';
  const thing = of === 'flag' ? '/features/:featureName' : '';
  const operation = isMarked ? 'addFavorite' : 'removeFavorite';
  return writeRoute(`${method} /projects/:projectId${thing}/favorites`, {
    operationId: `${operation}${of === 'flag' ? 'Feature' : 'Project'}`,
    summary: `${isMarked ? 'Mark' : 'Unmark'} a ${of} as a favorite of the caller.`,
    permission: 'personal',
    locate: of === 'flag' ? (locate.flag as Locate<object>) : locate.project,
    command: (context) => {
      const { projectId: project, featureName } = context.params;
      const flag = of === 'flag' ? featureName : null;
      return { type: 'mark-favorite', project, flag, userId: locate.callingUser(context).id, isMarked };
    },
  });
}

export const favoriteRoutes = underTag('Favorites', [
  favoriteRoute('POST', 'flag'),
  favoriteRoute('DELETE', 'flag'),
  favoriteRoute('POST', 'project'),
  favoriteRoute('DELETE', 'project'),
]);
