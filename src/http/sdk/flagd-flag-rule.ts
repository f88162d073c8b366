/**
 * For whom a flag is on, as a condition of flagd; left out where that would not be the same people. flagd chooses shares of users by a
 * hash of its own, so a rollout to some percent, or one of several variants, would give its users something else than SDKs give them.
 */

import { parameterReader } from '../../domain/evaluation/parameters.ts';
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import { compileKind } from '../../domain/evaluation/strategy-kind.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import { all, any, leaveOut, not, type Translated } from './flagd-condition.ts';
import { constraintRule, fieldRule, ifGiven, isOneOf, USER } from './flagd-constraint-rule.ts';

/** What a flag is translated from, beside itself. */
export interface RuleScope {
  readonly environment: string;
  readonly environmentEnabled: boolean;
  /** A flag that the token covers and that is not archived. */
  flag(name: string): Flag | undefined;
  segment(id: number): SegmentSource | undefined;
}

export function flagRule(flag: Flag, scope: RuleScope): Translated {
  return all([...flag.dependencies.map((dependency) => parentRule(dependency, scope)), ownRule(flag, scope)]);
}

/** Parents aside. The order of checks is that of the evaluation, so a flag that is off is off whatever its strategies say. */
function ownRule(flag: Flag, { environment, environmentEnabled, segment }: RuleScope): Translated {
  const { enabled, strategies, variants } = environmentOf(flag, environment);
  const active = strategies.filter(({ disabled }) => disabled !== true);
  if (!enabled || !environmentEnabled || (active.length === 0 && strategies.length > 0)) return false;
  const rule = active.length === 0 ? true : any(active.map((strategy) => strategyRule(strategy, segment)));
  if (rule === false) return false;
  const hasVariants = variants.length > 0 || active.some((strategy) => strategy.variants.length > 0);
  return hasVariants ? leaveOut('it has variants, which flagd chooses by another hash') : rule;
}

/** A parent with parents of its own allows nobody, as in SDKs. A rule would be repeated in every child, so there is none. */
function parentRule(dependency: Flag['dependencies'][number], scope: RuleScope): Translated {
  const parent = scope.flag(dependency.feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const rule = ownRule(parent, scope);
  if (typeof rule !== 'boolean') return leaveOut('its parent is not on, or off, for everybody');
  if (dependency.enabled === false) return not(rule);
  // Without variants, a parent has the one that is called disabled.
  return rule && (dependency.variants.length === 0 || dependency.variants.includes('disabled'));
}

function strategyRule(
  { name, parameters, constraints, segments }: Strategy,
  segment: RuleScope['segment'],
): Translated {
  const shared = segments.map((id) => segment(id));
  if (shared.includes(undefined)) return false;
  const inherited = shared.flatMap((one) => one?.constraints ?? []);
  const kind = kindRule(name, parameters);
  return all([kind, ...[...constraints, ...inherited].map(constraintRule)]);
}

function kindRule(name: string, parameters: Strategy['parameters']): Translated {
  const kind = compileKind(name, parameters);
  if (kind === null) return false;
  if (kind.rollout !== null) return rolloutRule(kind.rollout, kind.constant !== null);
  if (name === 'default') return true;
  if (name !== 'userWithId') return leaveOut(`it has a strategy of the type ${name}`);
  const userIds = parameterReader(parameters)('userIds');
  return isOneOf(USER, userIds === '' ? [] : userIds.split(',').map((one) => one.trim()));
}

function rolloutRule(
  { percentage, stickiness }: { readonly percentage: number; readonly stickiness: string },
  isConstant: boolean,
): Translated {
  if (!(percentage >= 1)) return false;
  if (percentage < 100)
    return leaveOut('it is rolled out to a share of users, whom flagd chooses by another hash');
  if (isConstant) return true;
  // Everybody who has the field: nothing to be sticky on means nobody.
  const field = fieldRule(stickiness);
  return field === null
    ? leaveOut('it is sticky on a field whose name flagd cannot read')
    : ifGiven(field, { '!==': [field, ''] });
}
