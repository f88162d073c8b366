/** Favorites of users: projects and flags. One immutable record for each user who has some. */
import { dropRecord, putRecord } from './records.ts';
import { deleteEntry, setEntry } from './reversible.ts';
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
  const { favorites } = world.directory;
  const before = favoritesOf(world, userId);
  const at = before[kind].indexOf(name);
  const isNamed = at >= 0;
  const others = isNamed ? before[kind].toSpliced(at, 1) : before[kind];
  const after: Favorites = { ...before, [kind]: isMarked ? [...others, name] : others };
  count(world, favoriteKey(kind, name), Number(isMarked) - Number(isNamed));
  if (after.projects.length + after.flags.length === 0) return dropRecord(world, favorites, userId);
  if (!favorites.has(userId) || isNamed === isMarked) return putRecord(world, favorites, userId, after);
  // One name comes or goes: the others need not be counted again.
  world.memory.replace(isNamed ? [name] : [], isMarked ? [name] : []);
  setEntry(favorites, userId, after);
}

/** Loads the favorites of a user who has none, as a snapshot has them. */
export function loadFavorites(world: World, favorites: Favorites): void {
  const { userId } = favorites;
  for (const key of keysOf(favorites)) count(world, key, 1);
  putRecord(world, world.directory.favorites, userId, favorites);
}

/** The user is gone. */
export function dropFavorites(world: World, userId: number): void {
  const { favorites } = world.directory;
  for (const key of keysOf(favorites.get(userId))) count(world, key, -1);
  dropRecord(world, favorites, userId);
}

function count({ favoredBy }: World, key: string, change: number): void {
  const users = (favoredBy.get(key) ?? 0) + change;
  if (users > 0) setEntry(favoredBy, key, users);
  else deleteEntry(favoredBy, key);
}

const favoriteKey = (kind: FavoriteKind, name: string): string => `${kind} ${name}`;

function keysOf(favorites: Favorites | undefined): string[] {
  if (favorites === undefined) return [];
  const { projects, flags } = favorites;
  return [
    ...projects.map((name) => favoriteKey('projects', name)),
    ...flags.map((name) => favoriteKey('flags', name)),
  ];
}

/** Forgets a deleted thing as a favorite of all users: its name may be given to something else. */
export function forgetFavorite(world: World, kind: FavoriteKind, name: string): void {
  const key = favoriteKey(kind, name);
  // Most are nobody's, and users are many.
  let left = world.favoredBy.get(key) ?? 0;
  if (left === 0) return;
  for (const { userId, [kind]: names } of [...world.directory.favorites.values()]) {
    if (!names.includes(name)) continue;
    changeFavorite(world, { userId, kind, name, isMarked: false });
    left -= 1;
    if (left === 0) return;
  }
}
