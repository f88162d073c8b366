/** Decisions that a flag has done what it was for, or has not (docs/specification/flags.md#lifecycle). */

import type { CompletionData } from '../flags/lifecycle.ts';
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { aboutFlag } from '../state/events.ts';
import { locateFlag } from '../state/locate.ts';
import type { World } from '../state/world.ts';
import { unlessArchived } from './guards.ts';

export interface CompleteFlag {
  readonly type: 'complete-flag';
  readonly project: string;
  readonly flag: string;
  readonly completion: CompletionData;
}

/** Completing a completed flag changes what is said of it, if that is something else, and the time. */
export function completeFlag(world: World, { project, flag: name, completion }: CompleteFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  const { status, statusValue } = completion;
  const known = world.directory.completions.get(name);
  if (known !== undefined && known.status === status && known.statusValue === statusValue) return UNCHANGED;
  return [{ type: 'feature-completed', ...aboutFlag(located.record.flag), data: completion, preData: null }];
}

export interface UncompleteFlag extends Omit<CompleteFlag, 'type' | 'completion'> {
  readonly type: 'uncomplete-flag';
}

export function uncompleteFlag(world: World, { project, flag: name }: UncompleteFlag): Decision {
  const located = unlessArchived(locateFlag(world, project, name));
  if (located.refused) return located;
  if (!world.directory.completions.has(name)) return UNCHANGED;
  return [{ type: 'feature-uncompleted', ...aboutFlag(located.record.flag), data: null, preData: null }];
}
