/** Values to write: few names, so that commands meet, and texts that storage might not give back as they were. */

import type { StrategyInput } from '../../src/domain/flags/strategy.ts';
import { distributeWeights, type Variant } from '../../src/domain/flags/variant.ts';
import type { JsonObject, JsonValue } from '../../src/domain/json/json.ts';
import type { PatchOperation } from '../../src/domain/json/json-patch.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface ValueRandom extends SeededRandom {
  /** Whether texts come that are long enough for something else to happen. */
  readonly longTexts?: false;
}

/** Names of projects. Those of JavaScript's own objects are among them: there a plain object in place of a Map would show. */
export const PROJECTS = ['default', 'alpha', 'beta', '__proto__'] as const;
export const ENVIRONMENTS = ['development', 'production', 'staging', 'constructor'] as const;
export const FLAGS = ['__proto__', 'toString', 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7'] as const;

const SHORT_TEXTS = ['', 'plain', 'Größe "größer" ✓', '🚩\u0000\n', '0'] as const;

/** The last one is longer than a disk's page, so that its frame can be torn in the middle. */
const TEXTS = [...SHORT_TEXTS, 'x'.repeat(700)] as const;

/**
 * Texts of the sizes at which something else happens, which come seldom, because they cost the simulation time: longer than a small
 * segment, than a response that is remembered for a retry, and than a change may be.
 */
const LONG_TEXTS = ['ü'.repeat(5_000), '\u0001'.repeat(600_000)] as const;
const LONG_TEXT_CHANCE = 1 / 75;

/** Within the limit of a payload, and as JSON longer than a flag may be. */
const LARGE_PAYLOAD = '\u0001'.repeat(30_000);

const NUMBERS = [0, 1, -1.5, 1e300, 2 ** 53, 4_294_967_296] as const;

const KEYS = ['rollout', 'groupId', 'constructor', '', 'a/b~c', 'é'] as const;

export function pick<T>(random: ValueRandom, from: readonly T[]): T {
  const chosen = from[random.below(from.length)];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
}

export function anyText(random: ValueRandom): string {
  if (random.longTexts === false) return pick(random, SHORT_TEXTS);
  return pick(random, random.chance(LONG_TEXT_CHANCE) ? LONG_TEXTS : TEXTS);
}

/** Any of them, each at most once, and at least one if there is any. */
export function someOf<T>(random: ValueRandom, from: readonly T[]): T[] {
  const chosen = from.filter(() => random.chance(0.4));
  return chosen.length > 0 ? chosen : from.slice(0, 1);
}

export function anyJson(random: ValueRandom, depth = 0): JsonValue {
  const kind = random.below(depth < 3 ? 6 : 4);
  if (kind === 0) return random.chance(0.5) ? null : random.chance(0.5);
  if (kind === 1) return pick(random, NUMBERS);
  if (kind <= 3) return anyText(random);
  if (kind === 4) return Array.from({ length: random.below(3) }, () => anyJson(random, depth + 1));
  return anyObject(random, depth + 1);
}

export function anyObject(random: ValueRandom, depth = 0): JsonObject {
  return Object.fromEntries(someOf(random, KEYS).map((key) => [key, anyJson(random, depth)]));
}

export function anyVariants(random: ValueRandom): Variant[] {
  const names = ['red', 'green', 'blue'].filter(() => random.chance(0.6));
  const variants = names.map(
    (name): Variant => ({
      name,
      weight: 0,
      weightType: 'variable',
      stickiness: 'default',
      overrides: random.chance(0.2) ? [{ contextName: 'userId', values: ['1', '2'] }] : [],
      ...(random.chance(0.5) ? { payload: { type: 'string', value: anyPayload(random) } } : {}),
    }),
  );
  return variants.length === 0 ? [] : distributeWeights(variants);
}

function anyPayload(random: ValueRandom): string {
  return random.longTexts !== false && random.chance(0.5) ? LARGE_PAYLOAD : anyText(random);
}

export function anyStrategy(random: ValueRandom): StrategyInput {
  return {
    name: pick(random, ['default', 'flexibleRollout']),
    title: random.chance(0.5) ? null : anyText(random),
    disabled: random.chance(0.2),
    constraints: random.chance(0.3)
      ? [{ contextName: 'country', operator: 'IN', caseInsensitive: false, inverted: false, values: ['fi'] }]
      : [],
    parameters: random.chance(0.2) ? null : anyObject(random),
    variants: random.chance(0.3) ? (anyVariants(random) as StrategyInput['variants']) : [],
    segments: random.chance(0.2) ? [1, 2] : [],
    ...(random.chance(0.3) ? { sortOrder: random.below(5) } : {}),
  };
}

const PATCH_VALUES = [
  ...[null, true, false, '', 'release', 7, [], { rollout: 5 }],
  ...[[1], [{ name: 'v1', weight: 0, stickiness: 'default' }]],
  ...['red', 'blue'].map((name) => ({ name, weight: 10, weightType: 'variable', stickiness: 'default' })),
] as const;

/** Aimed at what flags, strategies and variants have, and beside it. */
export function anyPatch(random: ValueRandom, pointers: readonly string[]): PatchOperation[] {
  const path = () => pick(random, random.chance(0.9) ? pointers : ['/missing', '/__proto__/x', '']);
  const value = () => (random.chance(0.5) ? anyText(random) : pick(random, PATCH_VALUES));
  const operation = (): PatchOperation => {
    const op = pick(random, [
      'add',
      'add',
      'replace',
      'replace',
      'replace',
      'remove',
      'test',
      'move',
      'copy',
    ]);
    if (op === 'remove') return { op, path: path() };
    if (op === 'move' || op === 'copy') return { op, from: path(), path: path() };
    return { op, path: path(), value: value() } as PatchOperation;
  };
  return Array.from({ length: 1 + random.below(2) }, operation);
}
