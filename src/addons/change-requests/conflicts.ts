/** Changes whose target is another one than their author saw. */
import { jsonEqual } from '../../domain/json/json.ts';
import { isRefusal } from '../../domain/state/refusal.ts';
import type { World } from '../../domain/state/world.ts';
import { lookAt } from './actions.ts';
import type { StoredChange } from './kind.ts';
import type { Place } from './protection.ts';

export interface Conflict {
  readonly message: string;
  /** Id of the newest event about the flag, or the segments; null where the target is gone, or a segment beside it is another. */
  readonly eventId: number | null;
}

/** Null where the target is as the author of the change saw it: what others have changed beside it stays. */
export function conflictOf(world: World, place: Place, change: StoredChange): Conflict | null {
  const seen = lookAt(world, place, change);
  if (isRefusal(seen)) return { message: seen.message, eventId: null };
  const { eventId, segments } = seen;
  if (jsonEqual(seen.snapshot, change.snapshot)) {
    if (jsonEqual(segments, change.segments)) return null;
    const other = segments?.find((one, at) => !jsonEqual(one, change.segments?.[at]));
    const segment = other === undefined ? undefined : world.directory.segments.get(other.id);
    return {
      message: `The segment "${segment?.name ?? other?.id}", which it relies on, is another than it was when it was seen.`,
      eventId: null,
    };
  }
  return { message: `It has changed since it was seen at event ${change.eventId}.`, eventId };
}
