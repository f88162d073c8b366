/**
 * The contexts that the advanced playground tries: every combination of the values of one context, whose texts stand for several
 * values where they have commas. They are made one by one: thousands of them, each with thousands of properties, would take gigabytes.
 */

import { isJsonObject } from '../../domain/json/json.ts';
import { invalid, type Refusal } from '../../domain/state/refusal.ts';
import { isLeftOut } from '../sdk/evaluation/context.ts';

/** Values of a context, before any is tried. Splitting so many takes a few milliseconds. */
export const VALUES_MAX = 15_000;

export type SentContext = Readonly<Record<string, unknown>>;

/** A field of a context with the values that are tried, which are texts unless there is one alone. Values that no operator compares are left out. */
interface Choice {
  readonly name: string;
  readonly isProperty: boolean;
  readonly values: readonly unknown[];
}

export class Combinations {
  readonly #choices: readonly Choice[];
  /** How many contexts there are; at least one. */
  readonly count: number;

  private constructor(choices: readonly Choice[]) {
    this.#choices = choices;
    this.count = choices.reduce((product, { values }) => product * values.length, 1);
  }

  static of({ properties, ...fields }: SentContext): Combinations | Refusal {
    const below = isJsonObject(properties) ? properties : {};
    const valueCount = valueCountIn(fields) + valueCountIn(below);
    if (valueCount <= VALUES_MAX)
      return new Combinations([...choicesOf(fields, false), ...choicesOf(below, true)]);
    return invalid(
      `A context to combine has at most ${VALUES_MAX} values, and this one has ${valueCount}; name fewer.`,
      '/body/context',
    );
  }

  /** The number of fields of each of the contexts. */
  get fieldCount(): number {
    return this.#choices.length;
  }

  /** The last field changes fastest. */
  at(index: number): SentContext {
    const fields: [string, unknown][] = [];
    const properties: [string, unknown][] = [];
    let rest = index;
    for (const { name, isProperty, values } of this.#choices.toReversed()) {
      (isProperty ? properties : fields).push([name, values[rest % values.length]]);
      rest = Math.floor(rest / values.length);
    }
    const below = properties.length === 0 ? {} : { properties: Object.fromEntries(properties.reverse()) };
    return { ...Object.fromEntries(fields.reverse()), ...below };
  }
}

function choicesOf(fields: SentContext, isProperty: boolean): Choice[] {
  return Object.entries(fields)
    .filter(([, value]) => !isLeftOut(value))
    .map(([name, value]) => ({ name, isProperty, values: valuesIn(value) }));
}

/** Without splitting any. */
function valueCountIn(fields: SentContext): number {
  let count = 0;
  for (const value of Object.values(fields)) {
    count += 1;
    if (typeof value !== 'string') continue;
    for (let at = value.indexOf(','); at >= 0; at = value.indexOf(',', at + 1)) count += 1;
  }
  return count;
}

function valuesIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'string') return [value];
  const values = value.split(',').map((one) => one.trim());
  return [...new Set(values.filter((one) => one !== ''))].concat(
    values.every((one) => one === '') ? [''] : [],
  );
}
