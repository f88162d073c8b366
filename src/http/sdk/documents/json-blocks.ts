/**
 * A long JSON list as bytes, of which a change makes little anew. Its items are kept in blocks, and only the blocks in
 * which an item changed are encoded again. The bytes of a block are a part of the list that was made last: they are kept once.
 */
import { createHash } from 'node:crypto';

/** So many items are one block: few enough to encode in microseconds, and few blocks to put together. */
export const BLOCK_ITEMS = 128;

/** Characters at which a block of large items ends before: to encode and hash them takes some 2 ms. */
export const BLOCK_LENGTH_MAX = 512 * 1024;

export interface JsonItem {
  readonly json: string;
  /** Equal for equal texts, and for no others. */
  readonly digest: string;
}

export class JsonBlock {
  readonly digests: readonly string[];
  /** The items, separated by commas. */
  bytes: Buffer;
  #hash: Buffer | null = null;

  constructor(items: readonly JsonItem[]) {
    this.digests = items.map(({ digest }) => digest);
    this.bytes = Buffer.from(items.map(({ json }) => json).join(','));
  }

  /** SHA-256 of the bytes. Hashed once. */
  hash(): Buffer {
    this.#hash ??= createHash('sha256').update(this.bytes).digest();
    return this.#hash;
  }
}

/** Cuts a list into blocks, while its items come. */
export class BlockList {
  readonly #known: readonly JsonBlock[];
  readonly #made: JsonBlock[] = [];
  #items: JsonItem[] = [];
  #length = 0;

  /** `known` are those of the list as it was before. Where one has the same items in the same place, it is used again. */
  constructor(known: readonly JsonBlock[]) {
    this.#known = known;
  }

  add(item: JsonItem): void {
    this.#items.push(item);
    this.#length += item.json.length;
    if (this.#items.length === BLOCK_ITEMS || this.#length >= BLOCK_LENGTH_MAX) this.#close();
  }

  /** To be called once, behind the last item. */
  end(): readonly JsonBlock[] {
    if (this.#items.length > 0) this.#close();
    return this.#made;
  }

  #close(): void {
    const known = this.#known[this.#made.length];
    const block =
      known !== undefined && isSame(this.#items, known.digests) ? known : new JsonBlock(this.#items);
    block.hash();
    this.#made.push(block);
    this.#items = [];
    this.#length = 0;
  }
}

function isSame(items: readonly JsonItem[], digests: readonly string[]): boolean {
  return items.length === digests.length && items.every(({ digest }, at) => digest === digests[at]);
}

/** The bytes of the items, with the commas between blocks. */
export function listed(blocks: readonly JsonBlock[]): Buffer[] {
  return blocks.flatMap(({ bytes }, at) => (at === 0 ? [bytes] : [COMMA, bytes]));
}

const COMMA = Buffer.from(',');

/** Joins the pieces, one in each step: 32 MiB at once would hold the event loop for 20 ms. */
export function* joining(pieces: readonly Uint8Array[]): Generator<void, Buffer> {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
    yield;
  }
  return whole;
}

/** The blocks hold on to the list in `whole`, which begins at `start`, and no longer to bytes of their own or to the list before. */
export function holdOnTo(blocks: readonly JsonBlock[], whole: Buffer, start: number): void {
  let at = start;
  for (const block of blocks) {
    block.bytes = whole.subarray(at, at + block.bytes.byteLength);
    at += block.bytes.byteLength + COMMA.byteLength;
  }
}
