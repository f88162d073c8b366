/**
 * What the author of rules should hear of them, though they are taken: fields that no application may know, values that are none of
 * the legal ones, and much time that an evaluation may take (docs/specification/strategies.md#warnings).
 */
import { segmentCost } from '../../domain/evaluation/segment-test.ts';
import type { Constraint } from '../../domain/flags/constraint.ts';
import { environmentOf } from '../../domain/flags/flag.ts';
import { worstCost } from '../../domain/growth/refuse-growth.ts';
import { shown } from '../../domain/json/issues.ts';
import { findNamed } from '../../domain/state/directory-records.ts';
import type { DomainEvent } from '../../domain/state/events.ts';
import type { World } from '../../domain/state/world.ts';

export interface RuleWarning {
  /** JSON pointer below the strategy or the segment; '' for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A header has to hold them. */
export const RULE_WARNINGS_MAX = 5;

/** The least cost that is told, in microseconds at worst: some slices of the event loop. */
export const TOLD_COST_MIN = 20_000;

/** Warns of the rules that `events`, applied already, have put into the state. */
export function ruleWarnings(world: World, events: readonly DomainEvent[]): readonly RuleWarning[] {
  const warnings: RuleWarning[] = [];
  for (const event of events) {
    if (warnings.length >= RULE_WARNINGS_MAX) break;
    switch (event.type) {
      case 'feature-strategy-add':
      case 'feature-strategy-update':
        warnings.push(...constraintWarnings(world, event.data.constraints));
        warnings.push(...flagCostWarnings(world, event));
        break;
      case 'segment-created':
      case 'segment-updated':
        warnings.push(...constraintWarnings(world, event.data.constraints));
        warnings.push(
          ...costWarnings(`The segment ${shown(event.data.name)}`, segmentCost(event.data).worst),
        );
        break;
      default:
    }
  }
  return warnings.slice(0, RULE_WARNINGS_MAX);
}

function* constraintWarnings(world: World, constraints: readonly Constraint[]): Generator<RuleWarning, void> {
  for (const [at, { contextName, operator, values }] of constraints.entries()) {
    const field = findNamed(world, 'contextFields', contextName);
    if (field === undefined) {
      const message = `There is no context field ${shown(contextName)}: the constraint meets those contexts alone in which applications send it.`;
      yield { path: `/constraints/${at}/contextName`, message };
      continue;
    }
    if (field.legalValues.length === 0 || (operator !== 'IN' && operator !== 'NOT_IN')) continue;
    const legal = new Set(field.legalValues.map(({ value }) => value));
    const other = values.findIndex((value) => !legal.has(value));
    if (other === -1) continue;
    const message = `${shown(values[other])} is none of the legal values of the context field ${shown(contextName)}.`;
    yield { path: `/constraints/${at}/values/${other}`, message };
  }
}

function flagCostWarnings(
  world: World,
  {
    project,
    featureName,
    environment,
  }: { readonly project: string; readonly featureName: string; readonly environment: string },
): readonly RuleWarning[] {
  const flag = world.projects.get(project)?.flags.get(featureName)?.flag;
  if (flag === undefined) return [];
  const { strategies } = environmentOf(flag, environment);
  const cost = strategies.reduce((sum, strategy) => sum + worstCost(world, strategy), 0);
  return costWarnings(`The flag "${featureName}" in the environment "${environment}"`, cost);
}

function costWarnings(subject: string, cost: number): readonly RuleWarning[] {
  if (cost < TOLD_COST_MIN) return [];
  const milliseconds = Math.round(cost / 1_000);
  return [
    { path: '', message: `${subject} may take ${milliseconds} ms to evaluate for the longest context.` },
  ];
}
