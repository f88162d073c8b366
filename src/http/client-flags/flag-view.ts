/** A flag as server-side SDKs read it: what holds in one environment, and nothing that is for administrators. */

import { parameterText } from '../../domain/evaluation/parameters.ts';
import type { SegmentSource } from '../../domain/evaluation/segment-test.ts';
import type { Constraint } from '../../domain/flags/constraint.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';

/** What a flag looks like depends on beside the flag itself. */
export interface FlagSurroundings {
  readonly environment: string;
  /** Whether the environment as a whole is on. */
  readonly environmentEnabled: boolean;
  /** True for clients that know no segments: they get the constraints in place of the references. */
  readonly inlineSegments: boolean;
  segment(id: number): SegmentSource | undefined;
}

/**
 * A strategy that refers to a segment that does not exist never applies, so it is left out, like a disabled one. SDKs
 * take an empty list of strategies for "on for everybody"; hence a flag of which none is left is sent as off.
 */
export function clientFlagView(flag: Flag, around: FlagSurroundings) {
  const { enabled, strategies, variants } = environmentOf(flag, around.environment);
  const sent = strategies.filter((one) => applies(one, around));
  const isOn = enabled && around.environmentEnabled && (sent.length > 0 || strategies.length === 0);
  return {
    name: flag.name,
    type: flag.type,
    enabled: isOn,
    project: flag.project,
    stale: flag.stale,
    impressionData: flag.impressionData,
    description: flag.description,
    strategies: sent.map((one) => strategyView(one, around)),
    variants: variants.map(variantView),
    ...(flag.dependencies.length === 0 ? {} : { dependencies: flag.dependencies }),
  };
}

function applies({ disabled, segments }: Strategy, around: FlagSurroundings): boolean {
  return disabled !== true && segments.every((id) => around.segment(id) !== undefined);
}

function strategyView(strategy: Strategy, around: FlagSurroundings) {
  const { name, title, sortOrder, segments, variants } = strategy;
  return {
    name,
    ...(title === null ? {} : { title }),
    sortOrder,
    constraints: [...strategy.constraints, ...inlined(segments, around)],
    parameters: parametersView(strategy),
    variants: variants.map(variantView),
    ...(segments.length === 0 || around.inlineSegments ? {} : { segments }),
  };
}

function inlined(
  segments: readonly number[],
  around: FlagSurroundings,
): readonly (Constraint | SegmentSource['constraints'][number])[] {
  return around.inlineSegments ? segments.flatMap((id) => around.segment(id)?.constraints ?? []) : [];
}

/** Typed SDKs read a map from texts to texts, and nothing at all where one value is something else. */
function parametersView({ parameters }: Strategy): Readonly<Record<string, string>> {
  const texts = Object.entries(parameters ?? {}).flatMap(([name, value]) => {
    const text = parameterText(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(texts);
}

function variantView({ name, weight, weightType, stickiness, payload, overrides }: Variant) {
  return {
    ...{ name, weight, weightType, stickiness },
    ...(payload === undefined ? {} : { payload }),
    ...(overrides.length === 0 ? {} : { overrides }),
  };
}

/** A segment, for clients that resolve references to it. */
export function segmentView({ id, name, constraints }: SegmentSource) {
  return { id, name, constraints };
}
