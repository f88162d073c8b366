/** Bodies of responses: bytes, a text, or pieces that are joined only when they are sent. */

/** Pieces that are as large on average are worth waiting for their readers one by one. */
const LARGE_PIECE_BYTES_MEAN = 4 * 1024;

export type ResponseBody = Uint8Array | string | BodyPieces | null;

/**
 * Bytes that many bodies share, in the order in which they follow each other in this one. Joining them is left to the engine, which
 * can do so in memory that it uses again, and need not at all where no body is sent.
 */
export class BodyPieces {
  readonly byteLength: number;
  readonly #pieces: readonly Uint8Array[];
  /** The offset of each piece; computed at its first use. */
  #begins: Float64Array | null = null;

  /** None of the pieces is changed afterwards. `byteLength` is that of all together. */
  constructor(pieces: readonly Uint8Array[], byteLength: number) {
    this.#pieces = pieces;
    this.byteLength = byteLength;
  }

  /** The number of pieces. */
  get count(): number {
    return this.#pieces.length;
  }

  /** Whether a reader who is slow should hold on to the pieces, and not to a copy. */
  get areLarge(): boolean {
    return this.byteLength >= this.count * LARGE_PIECE_BYTES_MEAN;
  }

  [Symbol.iterator](): Iterator<Uint8Array> {
    return this.#pieces[Symbol.iterator]();
  }

  /** Copies what stands at `offset` and behind it, as far as `target` has room. Returns how much that was. */
  copyFrom(offset: number, target: Uint8Array): number {
    let copied = 0;
    for (let at = this.#pieceAt(offset); at < this.count && copied < target.byteLength; at += 1) {
      const begin = offset + copied - this.#begins![at]!;
      const part = this.#pieces[at]!.subarray(begin, begin + target.byteLength - copied);
      target.set(part, copied);
      copied += part.byteLength;
    }
    return copied;
  }

  /** The piece in which the byte at `offset` stands. */
  #pieceAt(offset: number): number {
    this.#begins ??= beginsOf(this.#pieces);
    let [low, high] = [0, this.count];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#begins[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Into the beginning of `target`, which has room for them. */
  copyInto(target: Uint8Array): void {
    let at = 0;
    for (const piece of this.#pieces) {
      target.set(piece, at);
      at += piece.byteLength;
    }
  }

  join(): Uint8Array {
    const joined = Buffer.allocUnsafe(this.byteLength);
    this.copyInto(joined);
    return joined;
  }
}

function beginsOf(pieces: readonly Uint8Array[]): Float64Array {
  const begins = new Float64Array(pieces.length);
  let begin = 0;
  for (const [at, piece] of pieces.entries()) {
    begins[at] = begin;
    begin += piece.byteLength;
  }
  return begins;
}

export function byteLengthOf(body: ResponseBody): number {
  if (body === null) return 0;
  return typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
}

/** The bytes of the body, in UTF-8. */
export function bytesOf(body: ResponseBody): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return body instanceof BodyPieces ? body.join() : Buffer.from(body ?? '');
}
