/**
 * Cuts a large body into pieces that are parsed one after the other, so that no single one holds the event loop for long: what
 * stands in the lists and objects at some places, some items at a time, and the rest with those left empty. Quotes, brackets and
 * commas are all that is looked at, in one pass over the bytes.
 *
 * Together the pieces are the body: it is JSON exactly if the rest and all pieces are, and none of several pieces is empty.
 */

/** Names of fields from the top, each of an object. */
export type PlaceOfItems = readonly string[];

export interface JsonPiece {
  readonly place: PlaceOfItems;
  /** A list or an object of some of the items or fields there. */
  readonly bytes: Uint8Array;
}

export interface CutJson {
  /** The body with nothing in the lists and objects at the places. */
  readonly rest: Uint8Array;
  readonly pieces: readonly JsonPiece[];
}

/** A piece ends at the first item behind so many bytes. Parsing that many takes some 30 µs. */
const PIECE_BYTES = 2_048;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [LIST_OPENS, LIST_CLOSES, OBJECT_OPENS, OBJECT_CLOSES] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** Null when there is nothing to cut, or one of the places twice. `bytes` may be no JSON at all. */
export function cutJson(bytes: Uint8Array, places: readonly PlaceOfItems[]): CutJson | null {
  const scan = new Scan(bytes, places);
  return scan.run() ? { rest: Buffer.concat(scan.rest), pieces: scan.pieces } : null;
}

class Scan {
  readonly rest: Uint8Array[] = [];
  readonly pieces: JsonPiece[] = [];
  readonly #bytes: Uint8Array;
  readonly #places: readonly PlaceOfItems[];
  readonly #depthMax: number;
  /** The names of the fields that the scan is in, by depth, only as deep as places are: null before a name, undefined in a list. */
  readonly #names: (string | null | undefined)[] = [];
  #depth = 0;
  /** The place that the scan is in, which is as deep as `#placeDepth`. */
  #place: PlaceOfItems | null = null;
  #placeDepth = 0;
  #placeIsList = false;
  /** Where the bytes begin that are in no piece, and no part of the rest, yet. */
  #start = 0;

  constructor(bytes: Uint8Array, places: readonly PlaceOfItems[]) {
    this.#bytes = bytes;
    this.#places = places;
    this.#depthMax = Math.max(...places.map(({ length }) => length));
  }

  run(): boolean {
    const bytes = this.#bytes;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) at = this.#text(at);
      else if (byte === OBJECT_OPENS || byte === LIST_OPENS) {
        if (!this.#opened(at)) return false;
      } else if (byte === OBJECT_CLOSES || byte === LIST_CLOSES) this.#closed(at);
      else if (byte === COMMA) this.#comma(at);
    }
    this.rest.push(bytes.subarray(this.#start));
    return this.#place === null && this.pieces.length > 0;
  }

  /** Returns where the closing quote is. */
  #text(start: number): number {
    const bytes = this.#bytes;
    let at = start + 1;
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (this.#depth <= this.#depthMax && this.#names[this.#depth] === null) {
      this.#names[this.#depth] = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + start + 1,
        at - start - 1,
      ).toString();
    }
    return at;
  }

  /** False when a place comes a second time. */
  #opened(at: number): boolean {
    const place = this.#place === null ? this.#placeHere() : undefined;
    this.#depth += 1;
    const isList = this.#bytes[at] === LIST_OPENS;
    if (this.#depth <= this.#depthMax) this.#names[this.#depth] = isList ? undefined : null;
    if (place === undefined) return true;
    if (this.pieces.some((piece) => piece.place === place)) return false;
    this.#place = place;
    this.#placeDepth = this.#depth;
    this.#placeIsList = isList;
    this.rest.push(this.#bytes.subarray(this.#start, at + 1));
    this.#start = at + 1;
    return true;
  }

  #closed(at: number): void {
    if (this.#place !== null && this.#depth === this.#placeDepth) {
      this.#addPiece(this.#place, at);
      this.#place = null;
      this.#start = at;
    }
    this.#depth -= 1;
  }

  #comma(at: number): void {
    if (this.#place === null) {
      if (typeof this.#names[this.#depth] === 'string') this.#names[this.#depth] = null;
    } else if (this.#depth === this.#placeDepth && at - this.#start >= PIECE_BYTES) {
      this.#addPiece(this.#place, at);
      this.#start = at + 1;
    }
  }

  #addPiece(place: PlaceOfItems, end: number): void {
    const piece = Buffer.allocUnsafe(end - this.#start + 2);
    piece[0] = this.#placeIsList ? LIST_OPENS : OBJECT_OPENS;
    piece.set(this.#bytes.subarray(this.#start, end), 1);
    piece[piece.length - 1] = this.#placeIsList ? LIST_CLOSES : OBJECT_CLOSES;
    this.pieces.push({ place, bytes: piece });
  }

  #placeHere(): PlaceOfItems | undefined {
    const depth = this.#depth;
    if (depth > this.#depthMax) return undefined;
    return this.#places.find(
      (place) => place.length === depth && place.every((name, at) => this.#names[at + 1] === name),
    );
  }
}
