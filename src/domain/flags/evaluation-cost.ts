/**
 * The processor time that tests take at worst, in about microseconds. Long evaluations are cut into steps by it, and rules that would
 * take too long are refused when they are written. It is told from the rule alone, for two contexts: one as
 * applications have it, and the longest one there may be.
 */
import type { JsonObject } from '../json/json.ts';
import { parameterReader } from './parameters.ts';
import { patternMicroseconds } from './pattern.ts';
import type { Strategy } from './strategy.ts';
import type { Variant } from './variant.ts';

/** Characters of all names and values of a context together. An application's has some hundred. */
const ORDINARY_LENGTH_MAX = 1_024;

/** Characters of the longest context value. Every flag may hash or search any of them. */
export const CONTEXT_LENGTH_MAX = 16_384;

export interface Cost {
  readonly ordinary: number;
  readonly worst: number;
}

export const NO_COST: Cost = { ordinary: 0, worst: 0 };

/** `at` gives what it is for a context of so many characters. */
export function costBy(at: (length: number) => number): Cost {
  return { ordinary: at(ORDINARY_LENGTH_MAX), worst: at(CONTEXT_LENGTH_MAX) };
}

export function sumOf(costs: Iterable<Cost>): Cost {
  let [ordinary, worst] = [0, 0];
  for (const cost of costs) {
    ordinary += cost.ordinary;
    worst += cost.worst;
  }
  return { ordinary, worst };
}

/** The cost that applies to contexts of so many characters. */
export function costKind(contextLength: number): keyof Cost {
  return contextLength <= ORDINARY_LENGTH_MAX ? 'ordinary' : 'worst';
}

/** Microseconds of hashing a character of what a user is sticky on, at worst: one of three bytes. */
const HASHED_COST = 0.0025;

/** Microseconds of parsing one address, and of comparing it. */
const ADDRESS_COST = 8;

/** Microseconds that a search without an index takes at worst. */
const PLAIN_SEARCH_COST = 36;

/** Microseconds for each character of a list, which is taken apart when it is first needed. */
const LISTED_COST = 0.05;

const ROLLOUT_COST = costBy((length) => 0.2 + length * HASHED_COST);

interface Comparison {
  readonly operator: string;
  readonly values?: readonly string[];
  readonly value?: string;
}

/** The cost of a constraint, with what the first test of all makes ready. */
export function constraintCost({ operator, values = [], value = '' }: Comparison): Cost {
  const characters = values.reduce((sum, { length }) => sum + length, 0);
  const listed = 1 + values.length * 0.1 + characters * 0.005;
  switch (operator) {
    case 'REGEX':
      return costBy((length) => 1 + patternMicroseconds(value, length));
    case 'STR_CONTAINS':
      return costBy(
        (length) => listed + characters * 0.02 + Math.min(characters * length * 0.001, PLAIN_SEARCH_COST),
      );
    case 'IN_CIDR':
      return costBy(() => listed + values.length * ADDRESS_COST);
    default:
      // The identifiers of versions are compared one by one.
      return costBy((length) => listed + Math.min(value.length, length) * 0.2);
  }
}

interface Segment {
  readonly constraints: readonly Comparison[];
}

const segmentCosts = new WeakMap<Segment, Cost>();

/** The cost of all constraints of a segment. */
export function segmentCost(segment: Segment): Cost {
  let cost = segmentCosts.get(segment);
  if (cost === undefined) {
    cost = sumOf(segment.constraints.map(constraintCost));
    segmentCosts.set(segment, cost);
  }
  return cost;
}

/** The cost of a built-in kind of strategies, constraints and segments aside; others are never tested. */
export function kindCost(name: string, parameters: JsonObject | null): Cost {
  switch (name) {
    case 'userWithId':
      return listCost(parameterReader(parameters)('userIds'), 0);
    case 'remoteAddress':
      return listCost(parameterReader(parameters)('IPs'), ADDRESS_COST);
    case 'applicationHostname':
      return listCost(parameterReader(parameters)('hostNames'), 0);
    case 'flexibleRollout':
    case 'gradualRolloutUserId':
    case 'gradualRolloutSessionId':
    case 'gradualRolloutRandom':
      return ROLLOUT_COST;
    default:
      return NO_COST;
  }
}

function listCost(list: string, costPerItem: number): Cost {
  return costBy(
    () => 1 + list.length * LISTED_COST + (costPerItem === 0 ? 0 : itemCount(list) * costPerItem),
  );
}

function itemCount(list: string): number {
  let count = 1;
  for (let at = list.indexOf(','); at !== -1; at = list.indexOf(',', at + 1)) count += 1;
  return count;
}

/** The cost of choosing one of the variants. */
export function choiceCost(variants: readonly Variant[]): Cost {
  if (variants.length === 0) return NO_COST;
  const overrideCount = variants.reduce((count, one) => count + (one.overrides?.length ?? 0), 0);
  const fixed = 0.5 + variants.length * 0.02 + overrideCount * 0.1;
  return costBy((length) => fixed + length * HASHED_COST);
}

const constraintsCosts = new WeakMap<Strategy['constraints'], Cost>();

/** The cost of the tests of a strategy and of choosing its variant, segments aside. */
export function strategyCost({ name, constraints, parameters, variants }: Strategy): Cost {
  const own = kindCost(name, parameters);
  if (constraints.length === 0 && variants.length === 0) return own;
  let cost = constraintsCosts.get(constraints);
  if (cost === undefined) {
    cost = sumOf(constraints.map(constraintCost));
    constraintsCosts.set(constraints, cost);
  }
  const choice = choiceCost(variants);
  return {
    ordinary: own.ordinary + cost.ordinary + choice.ordinary,
    worst: own.worst + cost.worst + choice.worst,
  };
}
