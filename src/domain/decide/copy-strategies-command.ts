/**
 * The decision that gives a flag in one environment the strategies that it has in another, as one change made of ordinary
 * events. Its switch and its variants there stay as they are; only where its last enabled strategy goes, it is switched off
 * (docs/specification/switches.md#last-strategy).
 */
import type { Strategy } from '../flags/strategy.ts';
import type { DecideContext, Decision } from '../state/decision.ts';
import { locateFlagEnvironment } from '../state/locate.ts';
import { invalid, invalidOperation } from '../state/refusal.ts';
import type { World } from '../state/world.ts';
import { desiredEvents, isEnabledAfter } from './desired-events.ts';
import { unlessArchived } from './guards.ts';
import type { NamesFlagEnvironment } from './switch-commands.ts';

/** The environment is that which gets the strategies. */
export interface CopyStrategies extends NamesFlagEnvironment {
  /** The environment that has them. */
  readonly from: string;
  /** Whether nothing is recorded; see `plannedCopy`. */
  readonly dryRun: boolean;
}

export const copyStrategies = (world: World, command: CopyStrategies, context: DecideContext): Decision =>
  plannedCopy(world, command, () => context.newId());

/** The events that the copy would record, or the reason why it is impossible. `newId` names each strategy that is added. */
export function plannedCopy(world: World, command: CopyStrategies, newId: () => string): Decision {
  const { project, flag: name, environment, from } = command;
  const target = unlessArchived(locateFlagEnvironment(world, project, name, environment));
  if (target.refused) return target;
  const source = locateFlagEnvironment(world, project, name, from);
  if (source.refused) return invalid(source.message, '/body/from');
  if (from === environment) {
    return invalid('Strategies are copied from another environment than they are copied to.', '/body/from');
  }
  const { strategies } = source.flagEnvironment;
  if (strategies.length === 0) {
    return invalidOperation(
      `The flag "${name}" has no strategies in the environment "${from}" that could be copied.`,
    );
  }
  const before = target.flagEnvironment;
  const after = { ...before, strategies: copiesOf(strategies, before.strategies, newId) };
  const environments = [{ ...after, enabled: isEnabledAfter(before, after) }];
  return desiredEvents(world, target.project, { flags: [{ name, project, environments }] });
}

/**
 * A copy of strategies. One that is the same already keeps its id, so that nothing is recorded of it, and applications that pin a
 * user by the id go on. Of the others, one at the same place and of the same type keeps its id too: it is changed and not replaced.
 */
export function copiesOf(
  strategies: readonly Strategy[],
  before: readonly Strategy[],
  newId: () => string,
): readonly Strategy[] {
  const free = new Set(before);
  const byContent = new Map(before.map((one) => [contentOf(one), one]));
  const take = (found: Strategy | undefined): string | undefined =>
    found !== undefined && free.delete(found) ? found.id : undefined;
  const kept = strategies.map((strategy) => take(byContent.get(contentOf(strategy))));
  return strategies.map((strategy, at) => {
    const near = before[at]?.name === strategy.name ? before[at] : undefined;
    return { ...strategy, id: kept[at] ?? take(near) ?? newId() };
  });
}

/** The content of a strategy without its id, for comparing. */
const contentOf = (strategy: Strategy): string => JSON.stringify({ ...strategy, id: '' });
