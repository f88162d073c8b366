/**
 * The three kinds of text that a single-value constraint compares with: numbers, date-times and semantic versions.
 * SDKs in many languages parse them again, so only forms that all of them read in the same way are accepted: no
 * surrounding spaces, no hexadecimal, no date without a time, and no time without a zone, which would be a different
 * instant for each reader. Every check takes time linear in the length of the text.
 */

/** Decimal, with an optional fraction and exponent. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function isNumberText(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

/** Date and time of ISO 8601 in the extended form, as in RFC 3339, with seconds and their fraction optional. */
const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

export function isDateTime(text: string): boolean {
  const match = DATE_TIME.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

const NUMERIC_IDENTIFIER = /^(?:0|[1-9][0-9]*)$/;
const IDENTIFIER = /^[0-9A-Za-z-]+$/;
const DIGITS = /^[0-9]+$/;

/** The complete grammar of Semantic Versioning 2.0.0: core, pre-release and build, without a leading "v". */
export function isSemanticVersion(text: string): boolean {
  const [release, build] = cut(text, '+');
  const [core, prerelease] = cut(release, '-');
  const numbers = core.split('.');
  return (
    numbers.length === 3 &&
    numbers.every((part) => NUMERIC_IDENTIFIER.test(part)) &&
    (prerelease === null || prerelease.split('.').every(isPrereleaseIdentifier)) &&
    (build === null || build.split('.').every((part) => IDENTIFIER.test(part)))
  );
}

/** Numeric identifiers are compared as numbers, so they have no leading zeros. Build metadata is not compared. */
function isPrereleaseIdentifier(part: string): boolean {
  return DIGITS.test(part) ? NUMERIC_IDENTIFIER.test(part) : IDENTIFIER.test(part);
}

/** Splits at the first `separator`. Null when there is none, which is not the same as an empty rest. */
function cut(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
