/** Bodies of responses: bytes, a text, or pieces that are joined only when they are sent. */

export type ResponseBody = Uint8Array | string | BodyPieces | null;

/**
 * Bytes that many bodies share, in the order in which they follow each other in this one. Joining them is left to the engine, which
 * can do so in memory that it uses again, and need not at all where no body is sent.
 */
export class BodyPieces {
  readonly byteLength: number;
  readonly #pieces: readonly Uint8Array[];

  /** None of the pieces is changed afterwards. `byteLength` is that of all together. */
  constructor(pieces: readonly Uint8Array[], byteLength: number) {
    this.#pieces = pieces;
    this.byteLength = byteLength;
  }

  /** Of pieces. */
  get count(): number {
    return this.#pieces.length;
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

/** In UTF-8. */
export function bytesOf(body: ResponseBody): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return body instanceof BodyPieces ? body.join() : Buffer.from(body ?? '');
}
