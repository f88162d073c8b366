/** Query parameters of lists and searches. */

import { shown } from '../../domain/json/issues.ts';
import { invalid, isRefusal, type Refusal } from '../../domain/state/refusal.ts';
import type { QueryParameter, RequestContext } from '../serving/route.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface PageOptions {
  readonly limitMax: number;
  /** The limit of a request that names none; `limitMax` unless given. */
  readonly limitInitial?: number;
  /** Descriptions of the parameters. */
  readonly limit: string;
  readonly offset: string;
  /** The rule for an offset, as the refusal of a bad one words it; an integer from 0 unless given. */
  readonly offsetPhrase?: string;
}

export interface PageParameters {
  /** For the description. */
  readonly parameters: Readonly<Record<keyof Page, QueryParameter>>;
  /** The refusal is a 400 that names the parameter. */
  of(context: Pick<RequestContext<unknown>, 'query'>): Page | Refusal;
}

export function pageParameters({
  limitMax,
  limitInitial = limitMax,
  offsetPhrase = 'an integer from 0',
  ...descriptions
}: PageOptions): PageParameters {
  return {
    parameters: {
      limit: { description: descriptions.limit, schema: { type: 'integer', minimum: 1, maximum: limitMax } },
      offset: { description: descriptions.offset, schema: { type: 'integer', minimum: 0 } },
    },
    of(context) {
      const limit = integerOf(context.query('limit'), limitInitial);
      if (limit === null || limit < 1 || limit > limitMax) {
        return invalid(`The query parameter limit must be an integer from 1 to ${limitMax}.`, '/query/limit');
      }
      const offset = integerOf(context.query('offset'), 0);
      if (offset !== null) return { limit, offset };
      return invalid(`The query parameter offset must be ${offsetPhrase}.`, '/query/offset');
    },
  };
}

export const TRUE_OR_FALSE = ['true', 'false'] as const;

/** Directions of a sorted list. */
export const DIRECTIONS = ['asc', 'desc'] as const;

/** The one of the choices that the parameter names, or `absent` where it is not sent. The refusal is a 400. */
export function choiceIn<const Choice extends string, const Absent extends Choice | null>(
  context: Query,
  name: string,
  choices: readonly Choice[],
  absent: Absent,
): Choice | Absent | Refusal {
  const text = context.query(name);
  if (text === '') return absent;
  const choice = choices.find((one) => one === text);
  return (
    choice ??
    invalid(
      `The query parameter ${name} must be one of ${choices.join(', ')}, not ${shown(text)}.`,
      `/query/${name}`,
    )
  );
}

/** Null unless the text is an integer that a double holds exactly. */
function integerOf(text: string, absent: number): number | null {
  if (text === '') return absent;
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

// Query parameters of searches that name an operator and values: `?project=IS_ANY_OF:shop,billing`.

export interface Condition<Operator extends string> {
  readonly operator: Operator;
  /** At least one. */
  readonly values: readonly string[];
}

type Operators = Readonly<Record<string, readonly string[]>>;

/** By parameter; null where it was not sent. */
export type Conditions<O extends Operators> = {
  readonly [Name in keyof O]: Condition<O[Name][number]> | null;
};

type Query = Pick<RequestContext<unknown>, 'query'>;

/** Values of one condition. */
const VALUES_MAX = 100;

/** A refusal is a 400 that names the first parameter that is wrong. */
export function conditionsOf<const O extends Operators>(
  context: Query,
  operators: O,
): Conditions<O> | Refusal {
  const found: Record<string, Condition<string> | null> = {};
  for (const [name, accepted] of Object.entries(operators)) {
    const text = context.query(name);
    const condition = text === '' ? null : parsed(name, text, accepted);
    if (isRefusal(condition)) return condition;
    found[name] = condition;
  }
  return found as Conditions<O>;
}

function parsed(name: string, text: string, accepted: readonly string[]): Condition<string> | Refusal {
  const colon = text.indexOf(':');
  const operator = accepted.find((one) => one === text.slice(0, colon));
  const values = text
    .slice(colon + 1)
    .split(',')
    .map((value) => value.trim());
  if (operator !== undefined && values.every((value) => value !== '') && values.length <= VALUES_MAX) {
    return { operator, values };
  }
  return invalid(
    `The query parameter ${name} must be ${accepted.map((one) => `${one}:`).join(' or ')} and at most ${VALUES_MAX} values with commas between them, not ${shown(text)}.`,
    `/query/${name}`,
  );
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The beginning of the UTC day that the condition names, in milliseconds since 1970. */
export function dayOf(name: string, { values: [day = ''] }: Condition<string>): number | Refusal {
  const startMs = DAY.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(startMs)) return startMs;
  return invalid(
    `The query parameter ${name} must name a day such as 2024-01-31, not ${shown(day)}.`,
    `/query/${name}`,
  );
}

export const conditionParameter = (what: string, operators: readonly string[]): QueryParameter => ({
  description: `${what}, with an operator before it: ${operators.map((one) => `${one}:`).join(', ')}; several values with commas between them.`,
});
