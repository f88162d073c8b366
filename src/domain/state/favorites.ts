/** What users have marked as their favorites: projects and flags. One immutable record for each user who has some. */
import { dropRecord, putRecord } from './records.ts';
import type { Favorites, World } from './world.ts';

export type FavoriteKind = 'projects' | 'flags';

export function favoritesOf({ directory }: World, userId: number): Favorites {
  return directory.favorites.get(userId) ?? { userId, projects: [], flags: [] };
}

export interface FavoriteChange {
  readonly userId: number;
  readonly kind: FavoriteKind;
  readonly name: string;
  readonly isMarked: boolean;
}

export function changeFavorite(world: World, { userId, kind, name, isMarked }: FavoriteChange): void {
  const before = favoritesOf(world, userId);
  const others = before[kind].filter((one) => one !== name);
  const after: Favorites = { ...before, [kind]: isMarked ? [...others, name] : others };
  const { favorites } = world.directory;
  if (after.projects.length + after.flags.length === 0) dropRecord(world, favorites, userId);
  else putRecord(world, favorites, userId, after);
}

/** What is deleted is nobody's favorite any more: its name may be given to something else. */
export function forgetFavorite(world: World, kind: FavoriteKind, name: string): void {
  for (const favorites of [...world.directory.favorites.values()]) {
    if (favorites[kind].includes(name))
      changeFavorite(world, { userId: favorites.userId, kind, name, isMarked: false });
  }
}
