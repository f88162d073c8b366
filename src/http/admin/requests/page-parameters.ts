/** The query parameters `limit` and `offset` of routes that list by pages. */
import { invalid, type Refusal } from '../../../domain/state/refusal.ts';
import type { QueryParameter, RequestContext } from '../../serving/route.ts';

interface Page {
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
  /** The rule for an offset, as the refusal of a bad one words it. */
  readonly offsetPhrase: string;
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
  offsetPhrase,
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

/** Null unless the text is an integer that a double holds exactly. */
function integerOf(text: string, absent: number): number | null {
  if (text === '') return absent;
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}
