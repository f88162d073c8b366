/**
 * A flag as a manifest has it: with the type of its value in code, and the value there when nothing can be evaluated
 * (docs/specification/openfeature-manifest.md#types). Payloads of variants have both; the default value is that of the variant
 * `default`. A flag without payloads is a boolean, and false by default, as it is where it is off.
 */
import type { Flag } from '../../domain/flags/flag.ts';
import { environmentsOf } from '../../domain/flags/flag.ts';
import { type Variant, WEIGHT_TOTAL } from '../../domain/flags/variant.ts';
import { isJsonObject } from '../../domain/json/json.ts';
import { payloadValue } from '../sdk/payload-value.ts';

export const VALUE_TYPES = ['boolean', 'string', 'integer', 'float', 'object'] as const;

export type ValueType = (typeof VALUE_TYPES)[number];

/** The variant whose payload is the default value. */
export const DEFAULT_VARIANT = 'default';

export interface TypedValue {
  readonly type: ValueType;
  readonly defaultValue: unknown;
}

/** The reason why a manifest cannot have a flag. */
export interface NoCounterpart {
  readonly type: null;
  readonly reason: string;
}

/** `environments`: of the project, in their order. */
export function typedValueOf(flag: Flag, environments: readonly string[]): TypedValue | NoCounterpart {
  const inEnvironment = environmentsOf(flag);
  const places = environments.map(inEnvironment);
  const variants = [
    ...places.flatMap((place) => place.variants),
    ...places.flatMap(({ strategies }) => strategies.flatMap((strategy) => strategy.variants)),
  ];
  const typed = variants.filter(({ payload }) => payload !== undefined);
  if (typed.length === 0) return { type: 'boolean', defaultValue: false };
  if (typed.length < variants.length)
    return none('Some of its variants have a payload and others have none.');
  const types = new Set(typed.map(typeOfPayload));
  if (types.has(null)) return none('A payload of its variants is JSON, but no object.');
  if (types.delete('integer') && !types.has('float')) types.add('integer');
  const [type] = types;
  if (types.size > 1 || type == null) return none('The payloads of its variants have different types.');
  const chosen = typed.find(({ name }) => name === DEFAULT_VARIANT) ?? typed[0]!;
  return { type, defaultValue: payloadValue(chosen) };
}

const none = (reason: string): NoCounterpart => ({ type: null, reason });

/** Digits alone: a float that is whole has a point, so that it stays a float. */
const INTEGER_PATTERN = /^-?\d+$/;

function typeOfPayload(variant: Variant): Exclude<ValueType, 'boolean'> | null {
  const value = payloadValue(variant);
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && INTEGER_PATTERN.test(variant.payload!.value) ? 'integer' : 'float';
  if (typeof value === 'string') return variant.payload?.type === 'json' ? null : 'string';
  return isJsonObject(value) ? 'object' : null;
}

type Payload = NonNullable<Variant['payload']>;

/** The payload for a default value; null where the flag is a boolean, undefined where the value is not of the type. */
export function payloadOf({ type, defaultValue: value }: TypedValue): Payload | null | undefined {
  switch (type) {
    case 'boolean':
      return value === false ? null : undefined;
    case 'string':
      return typeof value === 'string' ? { type, value } : undefined;
    case 'integer':
      return Number.isSafeInteger(value) ? { type: 'number', value: String(value) } : undefined;
    case 'float':
      if (typeof value !== 'number') return undefined;
      return { type: 'number', value: Number.isInteger(value) ? value.toFixed(1) : String(value) };
    case 'object':
      return isJsonObject(value) ? { type: 'json', value: JSON.stringify(value) } : undefined;
  }
}

/** The variants of a new flag. */
export const variantsWith = (payload: Payload): readonly Variant[] => [
  {
    ...{ name: DEFAULT_VARIANT, weight: WEIGHT_TOTAL, weightType: 'variable', stickiness: 'default' },
    payload,
    overrides: [],
  },
];
