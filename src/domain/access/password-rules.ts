/** Rules for new passwords (docs/specification/users.md#passwords). */

/** Fewer characters are guessed, whatever they are. */
export const PASSWORD_LENGTH_MIN = 10;

/** Bytes in UTF-8: longer than any sentence that somebody types, and nothing to hash. */
export const PASSWORD_BYTES_MAX = 512;

/** From here on, length makes up for a lack of other kinds of characters. */
export const PASSPHRASE_LENGTH_MIN = 20;

/** One character after another, more often than this, is no choice. */
const REPEATS_MAX = 2;

const KINDS: readonly (readonly [kind: RegExp, name: string])[] = [
  [/\p{Ll}/u, 'a lowercase letter'],
  [/\p{Lu}/u, 'an uppercase letter'],
  [/\p{Nd}/u, 'a digit'],
  [/[^\p{L}\p{Nd}]/u, 'a character of another kind'],
];

/** Faults of the password, in sentences that do not repeat it; empty when it is good. */
export function passwordIssues(password: string): readonly string[] {
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) {
    return [`A password has at most ${PASSWORD_BYTES_MAX} bytes.`];
  }
  const issues: string[] = [];
  const characters = [...password];
  if (characters.length < PASSWORD_LENGTH_MIN) {
    issues.push(`A password has at least ${PASSWORD_LENGTH_MIN} characters.`);
  }
  const missing = KINDS.filter(([kind]) => !kind.test(password)).map(([, name]) => name);
  if (characters.length < PASSPHRASE_LENGTH_MIN && missing.length > 0) {
    issues.push(
      `A password of fewer than ${PASSPHRASE_LENGTH_MIN} characters needs ${missing.join(' and ')}.`,
    );
  }
  if (hasRun(characters)) issues.push(`A password has no character more than ${REPEATS_MAX} times in a row.`);
  return issues;
}

function hasRun(characters: readonly string[]): boolean {
  return characters.some(
    (one, index) =>
      index >= REPEATS_MAX && characters.slice(index - REPEATS_MAX, index).every((before) => before === one),
  );
}
