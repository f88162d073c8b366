/** Commands that only strategy types have: they are deprecated, and reactivated. */
import { type Decision, UNCHANGED } from '../state/decision.ts';
import { locateNamed } from '../state/directory-records.ts';
import { ABOUT_NOTHING } from '../state/events.ts';
import { isRefusal } from '../state/refusal.ts';
import type { World } from '../state/world.ts';

export interface DeprecateStrategyType {
  readonly type: 'deprecate-strategy-type';
  readonly name: string;
  /** False: reactivate it. */
  readonly deprecated: boolean;
}

/** A deprecated type goes on working; forms stop offering it. */
export function deprecateStrategyType(world: World, { name, deprecated }: DeprecateStrategyType): Decision {
  const preData = locateNamed(world, 'strategyTypes', name);
  if (isRefusal(preData)) return preData;
  if (preData.deprecated === deprecated) return UNCHANGED;
  const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
  return [{ type, ...ABOUT_NOTHING, data: { ...preData, deprecated }, preData }];
}
