// The prefilter of text search: which bytes a frame must contain if a query is in its events' data.
//
// The query is looked for in lower-case JSON text, the journal holds MessagePack in whatever case. Most of a JSON text
// stands in the journal as it is: what is inside strings and keys. So a run of characters of the query that can only
// come from inside a string must be in the frame's bytes, up to case. A frame without it need not be decoded.
// The prefilter may let too much through (keys of the frame, `preData`, hidden parts), never too little.
//
// What else could produce a run of such characters in lower-case JSON text, and what is done about it:
// - syntax, numbers: their characters never belong to a run, but for the exponent's `e`, which stands alone;
// - `true`, `false`, `null`: a run that is part of one of them is no evidence and is not used;
// - escapes: `\n`, `\u001f` and their like end in at most one letter, which then begins the run; so the first character
//   of a run, where it is such a letter, also accepts a control byte;
// - lower case from outside ASCII: U+0130 gives an `i` (and a combining dot), the Kelvin sign a `k`. Where the run has
//   these letters, the bytes of those two characters count as found;
// - lone surrogates, escaped with more letters: no string decoded from UTF-8 holds any.

/** Shorter runs are in too many frames to save decoding. */
const RUN_MIN = 3;

/** One bit a position in a 32-bit mask; longer runs would not be found any sooner. */
const NEEDLE_MAX = 31;

/** What a string may hold and syntax, numbers and escapes cannot (but see above). */
const RUN = /[a-z !#$%&'()*/;<=>?@^_`|~]+/g;

const LITERALS = ['true', 'false', 'null'];

const ESCAPE_ENDINGS = 'abcdefnrt';

const FIRST_PRINTABLE = 0x20;

/** Characters outside ASCII whose lower case begins with an ASCII letter, by that letter. */
const FOLDING_INTO_ASCII: ReadonlyMap<string, Buffer> = new Map([
  ['i', Buffer.from('\u0130')],
  ['k', Buffer.from('\u212a')],
]);

export class Needle {
  readonly #length: number;
  /** By byte: bit p is set when position p accepts it. */
  readonly #accepts = new Uint32Array(256);
  /** By byte: how far to move on when it stands under the last position (Horspool's rule, for sets of bytes). */
  readonly #shifts: Uint8Array;
  readonly #stead: readonly Buffer[];

  constructor(run: string, acceptsEscape: boolean) {
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

  /** Where, at or after `from`, the bytes first hold what they must; -1 when nowhere. Calls go from front to back. */
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

function bytesOf(character: string, acceptsEscape: boolean): number[] {
  const bytes = [character.charCodeAt(0)];
  const upper = character.toUpperCase().charCodeAt(0);
  if (upper !== bytes[0]) bytes.push(upper);
  if (acceptsEscape) for (let byte = 0; byte < FIRST_PRINTABLE; byte++) bytes.push(byte);
  return bytes;
}

/** The longest usable run of a lower-case query; null when there is none, and every event has to be decoded. */
export function needleFor(folded: string): Needle | null {
  let longest = '';
  for (const [run] of folded.matchAll(RUN)) {
    if (run.length > longest.length && !LITERALS.some((literal) => literal.includes(run))) longest = run;
  }
  if (longest.length < RUN_MIN) return null;
  const run = longest.slice(0, NEEDLE_MAX);
  return new Needle(run, ESCAPE_ENDINGS.includes(run.charAt(0)));
}
