/**
 * Names of people, and which of them look alike, whatever the case. Letters of several scripts in one word are refused, as in Unicode
 * Technical Standard #39, so that few characters are left which pass for others.
 */

/** The name in Unicode's form NFKC, with single spaces and none at its ends: the same text in whichever way it was typed. */
export const tidyName = (name: string): string => name.normalize('NFKC').replace(/\s+/gu, ' ').trim();

export const isVisible = (name: string): boolean => withoutInvisible(name).trim() !== '';

const withoutInvisible = (text: string): string => text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');

const SCRIPTS = [
  ...[
    'Arabic',
    'Armenian',
    'Bengali',
    'Cherokee',
    'Coptic',
    'Cyrillic',
    'Devanagari',
    'Ethiopic',
    'Georgian',
  ],
  ...['Greek', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Latin', 'Lisu', 'Malayalam', 'Myanmar', 'Sinhala'],
  ...['Tamil', 'Telugu', 'Thai', 'Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'],
];

/** Scripts that Japanese, Chinese and Korean write in one word. */
const WRITTEN_TOGETHER = [
  ['Han', 'Hiragana', 'Katakana', 'Latin'],
  ['Han', 'Bopomofo', 'Latin'],
  ['Han', 'Hangul', 'Latin'],
];

const classOf = (scripts: readonly string[]): string => scripts.map((one) => `\\p{scx=${one}}`).join('');

const WORDS: readonly RegExp[] = [
  ...[...SCRIPTS.map((script) => [script]), ...WRITTEN_TOGETHER].map(
    (scripts) => new RegExp(`^[\\P{L}\\p{sc=Common}${classOf(scripts)}]*$`, 'u'),
  ),
  // All others count as one.
  new RegExp(`^[^${classOf(SCRIPTS)}]*$`, 'u'),
];

/** Whether no word of a text mixes letters of scripts that are not written together. */
export const hasOneScriptAWord = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}]+/u).every((word) => WORDS.some((pattern) => pattern.test(word)));

/**
 * How a text looks: two texts look alike when they have a look in common. One is that of its lowercase letters, the other that
 * of the letters as they are written: `Ivan` looks like `ivan`, and like `lvan`, which `ivan` does not look like.
 */
export function looksOf(text: string): Looks {
  const written = withoutInvisible(text.normalize('NFKC'));
  return [lookOf(written.toLowerCase()), lookOf(written)];
}

type Looks = readonly [ofLowercase: string, asWritten: string];

/** Whether a text looks like one that has these looks. Most texts differ in the first characters, so it is fit for going through all users. */
export function isAlike(looks: Looks, text: string): boolean {
  if (!looks.some((look) => ASCII_LOOKS.some((table) => mayHaveLook(text, look, table)))) return false;
  return looksOf(text).some((look) => looks.includes(look));
}

/** Compares the characters before the first that is not of ASCII. */
function mayHaveLook(text: string, look: string, table: readonly string[]): boolean {
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    const part = table[text.charCodeAt(index)];
    if (part === undefined) return true;
    if (!look.startsWith(part, at)) return false;
    at += part.length;
  }
  return at === look.length;
}

/** The skeleton of the skeleton in lowercase: a capital of one script may look like a capital of another and not like its small letter. */
const lookOf = (text: string): string => skeletonOf(skeletonOf(text).toLowerCase());

const PROTOTYPES: Readonly<Record<string, string>> = { '0': 'O', '1': 'l', I: 'l', '|': 'l', m: 'rn' };

const skeletonOf = (text: string): string =>
  text.replace(/[01I|m]/g, (character) => PROTOTYPES[character] ?? character);

/** By the code of a character: how those of ASCII look, in lowercase and as they are written. */
const ASCII_LOOKS = [0, 1].map((way) =>
  Array.from({ length: 128 }, (_, code) => looksOf(String.fromCharCode(code))[way] ?? ''),
);
