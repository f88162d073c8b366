/** Names of people, and which of them look alike, by the skeletons of Unicode Technical Standard #39, whatever the case. */
import { CONFUSABLES } from './confusables.ts';

/** The name in Unicode's form NFKC, with single spaces and none at its ends: the same text in whichever way it was typed. */
export const tidyName = (name: string): string => name.normalize('NFKC').replace(/\s+/gu, ' ').trim();

export const isVisible = (name: string): boolean => withoutInvisible(name).trim() !== '';

const withoutInvisible = (text: string): string => text.replace(/\p{Default_Ignorable_Code_Point}/gu, '');

/**
 * How a text looks: two texts look alike when they have a look in common. One is that of its lowercase letters, the other that
 * of the letters as they are written: `Ivan` looks like `ivan`, and like `lvan`, which `ivan` does not look like.
 */
export function looksOf(text: string): Looks {
  const written = text.normalize('NFKC');
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

const ASCII_PATTERN = /^[\x20-\x7e]*$/;
/** The characters of ASCII that look like others of ASCII. */
const ASCII_ALIKE = /["%01Im|`]/g;

function skeletonOf(text: string): string {
  if (ASCII_PATTERN.test(text)) return text.replace(ASCII_ALIKE, prototypeOf);
  let skeleton = '';
  for (const character of withoutInvisible(text.normalize('NFD'))) skeleton += prototypeOf(character);
  return skeleton.normalize('NFD');
}

const prototypeOf = (character: string): string => CONFUSABLES.get(character) ?? character;

/** By the code of a character: how those of ASCII look, in lowercase and as they are written. */
const ASCII_LOOKS = [0, 1].map((way) =>
  Array.from({ length: 128 }, (_, code) => looksOf(String.fromCharCode(code))[way] ?? ''),
);
