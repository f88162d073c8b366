/** Changes whose target is another one than their author saw. */
import { jsonEqual } from '../../domain/json/json.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { lookAt } from './actions.ts';
import type { StoredChange } from './kind.ts';
import type { Place } from './protection.ts';

export interface Conflict {
  readonly message: string;
  /** Id of the newest event about the flag, or the segments; null where the target is gone. */
  readonly eventId: number | null;
}

/** Null where the target is as the author of the change saw it: what others have changed beside it stays. */
export function conflictOf(world: World, place: Place, change: StoredChange): Conflict | null {
  const seen = lookAt(world, place, change);
  if (isRefusal(seen)) return { message: seen.message, eventId: null };
  if (jsonEqual(seen.snapshot, change.snapshot)) return null;
  const { eventId } = seen;
  return { message: `It has changed since it was seen at event ${change.eventId}.`, eventId };
}
