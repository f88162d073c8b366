/** Warnings of a request that is carried out all the same, in a header of its response. */

import type { HttpResponse } from '../transport/transport.ts';
import { EMPTY_HEADERS } from './json-response.ts';

export const WARNINGS_HEADER = 'flagstaff-warnings';

export interface Warning {
  /** JSON pointer below the body, the strategy or the segment; '' for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A header has to hold them. */
export const WARNINGS_MAX = 5;

/** JSON in ASCII, because names may have any characters. */
export function warningsText(warnings: readonly Warning[]): string {
  const json = JSON.stringify(warnings);
  return /[^\x20-\x7e]/.test(json) ? inAscii(json) : json;
}

export function withWarnings(response: HttpResponse, warnings: readonly Warning[]): HttpResponse {
  const { status, headers, body } = response;
  const text = warningsText(warnings);
  // The warnings of many rules are often the same.
  if (text !== lastWarned.text || headers !== lastWarned.before)
    lastWarned = { text, before: headers, after: headers.with(WARNINGS_HEADER, text) };
  return { status, headers: lastWarned.after, body };
}

let lastWarned = { text: '', before: EMPTY_HEADERS, after: EMPTY_HEADERS };

const inAscii = (json: string): string =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
