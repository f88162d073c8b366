/**
 * The text prefilter finds the bytes that a frame must contain if a query is in its events' data.
 *
 * The search compares lower-case JSON text, while the journal holds MessagePack in any case. The content of strings
 * and keys is the same in both. So a run of characters of the query that can only come from inside a string must be
 * in the frame's bytes, ignoring case. A frame without it need not be decoded. The prefilter may accept too many
 * frames (it also sees keys of the frame, `preData` and hidden parts), but never too few.
 *
 * A run is a stretch of printable ASCII without `"\,:[]{}`. What could produce one in lower-case JSON text other than
 * the characters themselves inside a string, and what is done about it:
 * - a number: a run of nothing but its characters is no evidence and is not used;
 * - `true`, `false`, `null`: a run that is part of one of them is not used either;
 * - an escape such as `\n` or `\u001f`: its end may be the front of the run, and stands in the journal as one control
 *   byte; so that front is left off but for its last character, in whose place a control byte is accepted too;
 * - lower case from outside ASCII: U+0130 gives an `i` (and a combining dot), the Kelvin sign a `k`. Where the run has
 *   these letters, the bytes of those two characters count as found;
 * - a lone surrogate, escaped as well: no string decoded from UTF-8 holds one.
 */

/** A single character is in too many frames to save decoding. */
const RUN_MIN = 2;

/** One bit a position in a 32-bit mask; longer runs would not be found any sooner. */
const TEXT_PREFILTER_MAX = 31;

const RUN = /[ !#-+\--9;-@^-z|~]+/g;

const NUMBER_PART = /^[0-9.+\-e]*$/;

const LITERALS = ['true', 'false', 'null'];

/** The longest front of a run that an escape can end in. Longer than need be is no harm, shorter would be. */
const ESCAPE_END = /^(?:(?:u?0{0,2}[01])?[0-9a-f]|u0|[nrt])/;

const FIRST_PRINTABLE = 0x20;
const FIRST_BEYOND_ASCII = 0x80;

/** Characters outside ASCII whose lower case begins with an ASCII letter, by that letter. */
const FOLDING_INTO_ASCII: ReadonlyMap<string, Buffer> = new Map([
  ['i', Buffer.from('\u0130')],
  ['k', Buffer.from('\u212a')],
]);

export class TextPrefilter {
  readonly run: string;
  readonly #length: number;
  /** By byte: bit p is set when position p accepts it. */
  readonly #accepts = new Uint32Array(256);
  /** By byte: how far to move on when it stands under the last position (Horspool's rule, for sets of bytes). */
  readonly #shifts: Uint8Array;
  readonly #stead: readonly Buffer[];

  constructor(run: string, acceptsEscape: boolean) {
    this.run = run;
    this.#length = run.length;
    this.#shifts = new Uint8Array(256).fill(run.length);
    for (let position = 0; position < run.length; position++) {
      for (const byte of bytesOf(run.charAt(position), acceptsEscape && position === 0)) {
        this.#accepts[byte] = (this.#accepts[byte] ?? 0) | (1 << position);
        if (position < run.length - 1) this.#shifts[byte] = run.length - 1 - position;
      }
    }
    this.#stead = [...FOLDING_INTO_ASCII]
      .filter(([letter]) => run.includes(letter))
      .map(([, bytes]) => bytes);
  }

  /** Finds the first place at or after `from` where the text may begin; -1 for none. Calls go from front to back. */
  finder(bytes: Buffer): (from: number) => number {
    const upcoming = this.#stead.map((stead) => bytes.indexOf(stead));
    return (from) => {
      let first = this.#find(bytes, from);
      for (const [which, stead] of this.#stead.entries()) {
        let at = upcoming[which] ?? -1;
        if (at >= 0 && at < from) at = bytes.indexOf(stead, from);
        upcoming[which] = at;
        if (at >= 0 && (first < 0 || at < first)) first = at;
      }
      return first;
    };
  }

  #find(bytes: Buffer, from: number): number {
    const accepts = this.#accepts;
    const shifts = this.#shifts;
    const last = this.#length - 1;
    for (let end = from + last; end < bytes.length; ) {
      const byte = bytes[end] as number;
      let position = last;
      let at = end;
      while (position >= 0 && ((accepts[bytes[at] as number] as number) >>> position) & 1) {
        position--;
        at--;
      }
      if (position < 0) return at + 1;
      end += shifts[byte] as number;
    }
    return -1;
  }
}

/** Whether a run is found as it stands where this byte is: an escape begins with a control byte, and what folds into ASCII beyond it. */
export const beginsRun = (byte: number): boolean => byte >= FIRST_PRINTABLE && byte < FIRST_BEYOND_ASCII;

function bytesOf(character: string, acceptsEscape: boolean): number[] {
  const bytes = [character.charCodeAt(0)];
  const upper = character.toUpperCase().charCodeAt(0);
  if (upper !== bytes[0]) bytes.push(upper);
  if (acceptsEscape) for (let byte = 0; byte < FIRST_PRINTABLE; byte++) bytes.push(byte);
  return bytes;
}

/** For the longest usable run of a lower-case query; null when there is none, and every event has to be looked at. */
export function textPrefilterFor(folded: string): TextPrefilter | null {
  let longest = '';
  let acceptsEscape = false;
  for (const [run] of folded.matchAll(RUN)) {
    if (!isEvidence(run)) continue;
    const escapeEnd = ESCAPE_END.exec(run)?.[0].length ?? 0;
    const sure = run.slice(Math.max(escapeEnd - 1, 0));
    if (sure.length <= longest.length) continue;
    longest = sure;
    acceptsEscape = escapeEnd > 0;
  }
  return longest.length < RUN_MIN
    ? null
    : new TextPrefilter(longest.slice(0, TEXT_PREFILTER_MAX), acceptsEscape);
}

const isEvidence = (run: string): boolean =>
  !NUMBER_PART.test(run) && !LITERALS.some((literal) => literal.includes(run));
