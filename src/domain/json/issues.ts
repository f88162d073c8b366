/**
 * Says what is wrong with a value that a client sent, in full sentences that name the field, the value it was given
 * and what would be right, as in "The field weight must be an integer from 0 to 1000, not 1001."
 *
 * The schemas follow one convention. The message of a valibot action is either a noun phrase for what would be right
 * ("an integer from 0 to 1000"), from which a sentence is made here, or, for rules over several fields, a full
 * sentence that ends with a full stop.
 */
import type * as v from 'valibot';
import { pointerToken } from './json-pointer.ts';

export interface Issue {
  /** JSON pointer below the value that was checked; '' for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Issues reported for one value. Bounds the response: 1 MiB of bad items would make 50 MiB of issues. */
export const ISSUES_MAX = 20;

/** Longest piece of a given value that a message repeats; enough to recognise it. */
const SHOWN_LENGTH_MAX = 60;

type ValibotIssue = v.BaseIssue<unknown>;

/**
 * Keeps the first issue for each path: for a number that is not an integer, it does not matter that it is also too
 * large. `whole` is what messages call the value that was checked.
 */
export function issuesOf(found: readonly ValibotIssue[], whole = 'The value'): Issue[] {
  const byPath = new Map<string, Issue>();
  for (const issue of found) {
    const keys = (issue.path ?? []).map((item) => item.key as string | number);
    const path = keys.map((key) => `/${pointerToken(key)}`).join('');
    if (!byPath.has(path)) byPath.set(path, { path, message: sentence(issue, keys, whole) });
    if (byPath.size === ISSUES_MAX) break;
  }
  return [...byPath.values()];
}

/** The value as a message repeats it: short, on one line, and never a whole object. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length <= SHOWN_LENGTH_MAX ? value : `${value.slice(0, SHOWN_LENGTH_MAX)}…`);
}

function sentence(issue: ValibotIssue, keys: readonly (string | number)[], whole: string): string {
  if (issue.message.endsWith('.')) return issue.message;
  const place = keys.length === 0 ? whole : placeOf(keys);
  if (isMissing(issue)) return `${place} is required.`;
  return `${place} must be ${expectation(issue)}, not ${shown(issue.input)}.`;
}

function placeOf(keys: readonly (string | number)[]): string {
  const last = keys.at(-1);
  if (typeof last === 'string') return `The field ${last}`;
  const list = keys.findLast((key) => typeof key === 'string');
  return list === undefined ? `Item ${last}` : `Item ${last} of the field ${list}`;
}

/** JSON has no undefined, so an undefined input is a field that was not sent. */
function isMissing(issue: ValibotIssue): boolean {
  return issue.kind === 'schema' && issue.input === undefined && issue.path !== undefined;
}

const TYPE_PHRASES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  variant: 'an object',
  nullish: 'null',
};

/** Valibot's own messages begin with "Invalid"; no phrase of the schemas does. */
function expectation(issue: ValibotIssue): string {
  if (!issue.message.startsWith('Invalid')) return issue.message;
  if (issue.expected?.includes('|')) return `one of ${choices(issue.expected)}`;
  return TYPE_PHRASES[issue.type] ?? issue.expected ?? 'something else';
}

/** `("a" | "b")` as valibot writes it → `a, b`. */
function choices(expected: string): string {
  return expected.replaceAll(/[()"]/g, '').split(' | ').join(', ');
}
