/** A flag as server-side SDKs read it: in one environment, without fields for administrators. */

import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { parameterText } from '../../domain/flags/parameters.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
import { onceEach } from './evaluation/once-each.ts';
import type { SegmentSource } from './evaluation/segment-test.ts';

/** The surroundings of a flag that its look depends on. */
export interface FlagSurroundings {
  readonly environment: string;
  readonly environmentEnabled: boolean;
  /** True for clients that know no segments: they get the constraints in place of the references. */
  readonly inlineSegments: boolean;
  segment(id: number): SegmentSource | undefined;
}

/**
 * A strategy that refers to a segment that does not exist never applies, so it is left out, like a disabled one. SDKs
 * take an empty list of strategies for "on for everyone"; hence a flag of which none is left is sent as off.
 */
export function clientFlagView(flag: Flag, around: Omit<FlagSurroundings, 'inlineSegments'>) {
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
    strategies: sent.map(strategyView),
    variants: variants.map(variantView),
    ...(flag.dependencies.length === 0 ? {} : { dependencies: flag.dependencies }),
  };
}

function applies({ disabled, segments }: Strategy, around: Pick<FlagSurroundings, 'segment'>): boolean {
  return disabled !== true && segments.every((id) => around.segment(id) !== undefined);
}

/**
 * A flag as SDKs get it, as JSON. Where segments are inlined, their constraints are texts that are made once: a flag whose 150 references are
 * to segments that have grown to 64 KiB since would take 50 ms otherwise.
 */
export function clientFlagJson(flag: Flag, around: FlagSurroundings): string {
  const view = clientFlagView(flag, around);
  if (!around.inlineSegments || view.strategies.every(({ segments }) => segments === undefined))
    return JSON.stringify(view);
  const { strategies: referring, variants, dependencies, ...head } = view;
  const sent = referring.map(({ segments = [], constraints, ...strategy }) => {
    const own = constraints.map((one) => JSON.stringify(one));
    const inlined = segments.map((id) => constraintsText(around.segment(id)!)).filter((text) => text !== '');
    const { name, title, sortOrder, ...rest } = strategy;
    return withItems({ name, title, sortOrder }, 'constraints', [...own, ...inlined], rest);
  });
  return withItems(head, 'strategies', sent, { variants, dependencies });
}

/** An object as JSON that has `head`, a list of JSON texts, and `tail`. */
function withItems(head: object, name: string, items: readonly string[], tail: object): string {
  return `${JSON.stringify(head).slice(0, -1)},"${name}":[${items.join(',')}],${JSON.stringify(tail).slice(1)}`;
}

/** The constraints of a segment as JSON, with commas between them. */
const constraintsText = onceEach(({ constraints }: SegmentSource) =>
  constraints.map((one) => JSON.stringify(one)).join(','),
);

function strategyView(strategy: Strategy) {
  const { name, title, sortOrder, segments, variants } = strategy;
  return {
    name,
    ...(title === null ? {} : { title }),
    sortOrder,
    constraints: strategy.constraints,
    parameters: parametersView(strategy),
    variants: variants.map(variantView),
    ...(segments.length === 0 ? {} : { segments }),
  };
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

/** A segment, for clients that resolve references to it. Made once: of 300 segments of 64 KiB it takes 40 ms. */
export const segmentJson = onceEach(({ id, name, constraints }: SegmentSource) =>
  JSON.stringify({ id, name, constraints }),
);
