/** Decisions on what somebody prefers: favorites of users, and settings of the service, maintenance among them. */
import { FLAG_TYPES } from '../flags/metadata.ts';
import { jsonEqual } from '../json/json.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { ABOUT_NOTHING, aboutFlag, inProject, newEvent } from '../state/events.ts';
import { favoritesOf } from '../state/favorites.ts';
import { locateFlag, locateProject, locateUser } from '../state/locate.ts';
import { invalidOperation, isRefusal, notFound } from '../state/refusal.ts';
import {
  FRONTEND_SETTING_ID,
  isInMaintenance,
  lifetimesOf,
  MAINTENANCE_SETTING_ID,
  type Setting,
} from '../state/settings.ts';
import type { World } from '../state/world.ts';

/** Favorites of each kind that one user may have. Bounds the record that is replaced with each mark. */
export const FAVORITES_MAX = 1_000;

interface MarkFavorite {
  readonly project: string;
  /** Null: the project itself. */
  readonly flag: string | null;
  readonly userId: number;
  /** False: unmark it. */
  readonly isMarked: boolean;
}

/** Marking a favorite again, and unmarking what is none, change nothing. An archived flag can be unmarked only. */
export function markFavorite(world: World, command: MarkFavorite): Decision {
  const { project, flag, userId, isMarked } = command;
  const located = flag === null ? locateProject(world, project) : locateFlag(world, project, flag);
  if (isRefusal(located)) return located;
  const user = locateUser(world, userId);
  if (isRefusal(user)) return user;
  const favorites = favoritesOf(world, userId)[flag === null ? 'projects' : 'flags'];
  if (favorites.includes(flag ?? project) === isMarked) return UNCHANGED;
  if (isMarked && favorites.length >= FAVORITES_MAX) {
    return invalidOperation(
      `A user can have at most ${FAVORITES_MAX} favorite ${flag === null ? 'projects' : 'flags'}.`,
    );
  }
  const data = { userId };
  if (flag === null)
    return [newEvent(isMarked ? 'project-favorited' : 'project-unfavorited', inProject(project), { data })];
  const about = aboutFlag({ name: flag, project });
  return [newEvent(isMarked ? 'feature-favorited' : 'feature-unfavorited', about, { data })];
}

interface SetFrontendOrigins {
  readonly origins: readonly string[];
}

export function setFrontendOrigins(world: World, { origins }: SetFrontendOrigins): Decision {
  return changeSetting(world, { id: FRONTEND_SETTING_ID, frontendApiOrigins: [...new Set(origins)] });
}

export function setMaintenance(world: World, { enabled }: { readonly enabled: boolean }): Decision {
  if (!enabled && !isInMaintenance(world.directory.settings)) return UNCHANGED;
  return changeSetting(world, { id: MAINTENANCE_SETTING_ID, enabled });
}

interface SetLifetime {
  readonly flagType: string;
  /** Null: flags of the type never become potentially stale. */
  readonly lifetimeDays: number | null;
}

export function setLifetime({ directory }: World, { flagType, lifetimeDays }: SetLifetime): Decision {
  const id = FLAG_TYPES.find((type) => type === flagType);
  if (id === undefined) return notFound(`There is no type of flags "${flagType}".`);
  const before = lifetimesOf(directory.settings)[id];
  if (lifetimeDays === before) return UNCHANGED;
  const data = { id, lifetimeDays };
  return [newEvent('feature-type-updated', ABOUT_NOTHING, { data, preData: { id, lifetimeDays: before } })];
}

function changeSetting({ directory }: World, data: Setting): Decision {
  const preData = directory.settings.get(data.id);
  if (preData === undefined) return [newEvent('setting-created', ABOUT_NOTHING, { data })];
  return jsonEqual(data, preData)
    ? UNCHANGED
    : [newEvent('setting-updated', ABOUT_NOTHING, { data, preData })];
}
