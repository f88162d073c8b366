/** Favorites of users: projects and flags. One immutable record for each user who has some. */
import { dropRecord, putRecord } from './records.ts';
import { growthOf } from './state-memory.ts';
import { type Draft, directoryIn, type Favorites, type World } from './world.ts';

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

export function changeFavorite(draft: Draft, { userId, kind, name, isMarked }: FavoriteChange): void {
  const directory = directoryIn(draft);
  const before = favoritesOf(draft, userId);
  const at = before[kind].indexOf(name);
  const isNamed = at >= 0;
  const others = isNamed ? before[kind].toSpliced(at, 1) : before[kind];
  const after: Favorites = { ...before, [kind]: isMarked ? [...others, name] : others };
  count(draft, favoriteKey(kind, name), Number(isMarked) - Number(isNamed));
  if (after.projects.length + after.flags.length === 0)
    return dropRecord(draft, directory, 'favorites', userId);
  if (!directory.favorites.has(userId) || isNamed === isMarked)
    return putRecord(draft, directory, 'favorites', [userId, after]);
  // One name is added or removed: the others need not be counted again.
  draft.memoryBytes += growthOf(isNamed ? [name] : [], isMarked ? [name] : []);
  directory.favorites = directory.favorites.with(userId, after, draft.edit);
}

/** Loads the favorites of a user who has none, as a snapshot has them. */
export function loadFavorites(draft: Draft, favorites: Favorites): void {
  for (const key of keysOf(favorites)) count(draft, key, 1);
  putRecord(draft, directoryIn(draft), 'favorites', [favorites.userId, favorites]);
}

/** Removes those of a deleted user. */
export function dropFavorites(draft: Draft, userId: number): void {
  const directory = directoryIn(draft);
  for (const key of keysOf(directory.favorites.get(userId))) count(draft, key, -1);
  dropRecord(draft, directory, 'favorites', userId);
}

function count(draft: Draft, key: string, change: number): void {
  const { favoredBy, edit } = draft;
  const users = (favoredBy.get(key) ?? 0) + change;
  draft.favoredBy = users > 0 ? favoredBy.with(key, users, edit) : favoredBy.without(key, edit);
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
export function forgetFavorite(draft: Draft, kind: FavoriteKind, name: string): void {
  const key = favoriteKey(kind, name);
  // Most flags are favorites of no user, and users are many.
  let left = draft.favoredBy.get(key) ?? 0;
  if (left === 0) return;
  for (const { userId, [kind]: names } of [...draft.directory.favorites.values()]) {
    if (!names.includes(name)) continue;
    changeFavorite(draft, { userId, kind, name, isMarked: false });
    left -= 1;
    if (left === 0) return;
  }
}
