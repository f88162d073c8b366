/**
 * Names of flags, projects and environments, which stand in paths as they are (docs/specification/flags.md#names).
 * They have only characters that `encodeURIComponent` leaves alone, so that a name has one spelling, and are neither "." nor "..",
 * which clients and proxies resolve.
 */

/** Long enough for any real name, short enough to stand in a URL, a log line and a path of 8,000 bytes. */
export const URL_NAME_LENGTH_MAX = 100;

const URL_NAME_PATTERN = /^[A-Za-z0-9_.~!'()*-]+$/;

/**
 * Null when `name` is valid, else a sentence that says why not. `what` is what the sentence calls it: "flag name".
 */
export function urlNameIssue(what: string, name: string): string | null {
  if (name.length === 0)
    return `The ${what} must have 1 to ${URL_NAME_LENGTH_MAX} characters; the one given is empty.`;
  if (name.length > URL_NAME_LENGTH_MAX) {
    return `The ${what} must have at most ${URL_NAME_LENGTH_MAX} characters; the one given has ${name.length}.`;
  }
  if (isDotSegment(name)) return `The ${what} must not be "${name}", because that is a path.`;
  if (!URL_NAME_PATTERN.test(name)) {
    return `The ${what} ${JSON.stringify(name)} has characters other than letters, digits and - _ . ~ ! ' ( ) *.`;
  }
  return null;
}

/** Names that no path can end with, however they are encoded. */
export function isDotSegment(text: string): boolean {
  return text === '.' || text === '..';
}

/**
 * Makes a valid name from any text, for things that people name and machines address. Characters that cannot stand in
 * a URL become hyphens. A number is appended when `isTaken` says that the name is taken.
 */
export function urlNameFrom(text: string, fallback: string, isTaken: (name: string) => boolean): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, URL_NAME_LENGTH_MAX - NUMBER_LENGTH_MAX)
    .replaceAll(/^-+|-+$/g, '');
  const base = slug === '' ? fallback : slug;
  if (!isTaken(base)) return base;
  for (let number = 1; ; number += 1) if (!isTaken(`${base}-${number}`)) return `${base}-${number}`;
}

/** Leaves room for a hyphen and nine digits, which is more than anybody needs. */
const NUMBER_LENGTH_MAX = 10;
