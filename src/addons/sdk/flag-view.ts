/** A flag as server-side SDKs read it: in one environment, without fields for administrators. */

import type { Constraint } from '../../domain/flags/constraint.ts';
import { environmentOf, type Flag } from '../../domain/flags/flag.ts';
import { parameterText } from '../../domain/flags/parameters.ts';
import type { Strategy } from '../../domain/flags/strategy.ts';
import type { Variant } from '../../domain/flags/variant.ts';
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

/**
 * A flag as SDKs get it, as JSON. Where segments are inlined, their constraints are texts that are made once: a flag whose 150 references are
 * to segments that have grown to 64 KiB since would take 50 ms otherwise.
 */
export function clientFlagJson(flag: Flag, around: FlagSurroundings): string {
  const { strategies } = environmentOf(flag, around.environment);
  if (!around.inlineSegments || strategies.every(({ segments }) => segments.length === 0))
    return JSON.stringify(clientFlagView(flag, around));
  const view = clientFlagView(flag, { ...around, inlineSegments: false });
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
function constraintsText(segment: SegmentSource): string {
  let text = constraintTexts.get(segment);
  if (text === undefined) {
    text = segment.constraints.map((one) => JSON.stringify(one)).join(',');
    constraintTexts.set(segment, text);
  }
  return text;
}

const constraintTexts = new WeakMap<SegmentSource, string>();

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

/** A segment, for clients that resolve references to it. Made once: of 300 segments of 64 KiB it takes 40 ms. */
export function segmentJson(segment: SegmentSource): string {
  let json = segmentTexts.get(segment);
  if (json === undefined) {
    const { id, name, constraints } = segment;
    json = JSON.stringify({ id, name, constraints });
    segmentTexts.set(segment, json);
  }
  return json;
}

const segmentTexts = new WeakMap<SegmentSource, string>();
