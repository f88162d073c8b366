/**
 * A long JSON list as bytes, of which a change makes little anew. Its items are kept in blocks, and only the blocks in
 * which an item changed are encoded again. The bytes of a block are a part of the list that was made last: they are kept once.
 */
import { createHash } from 'node:crypto';

/** So many items are one block: few enough to encode in microseconds, and few blocks to put together. */
export const BLOCK_ITEMS = 128;

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

/** `known`, which stood in the same place before, where it has the same items; else a new block. */
export function blockOf(items: readonly JsonItem[], known: JsonBlock | undefined): JsonBlock {
  return known !== undefined && isSame(items, known.digests) ? known : new JsonBlock(items);
}

function isSame(items: readonly JsonItem[], digests: readonly string[]): boolean {
  return items.length === digests.length && items.every(({ digest }, at) => digest === digests[at]);
}

/**
 * `head` with the list as its field `name`, followed by the fields of `tail`. Both are objects as JSON writes them. The blocks hold on
 * to this list from then on, and no longer to bytes of their own or to the list before.
 */
export function withList(
  head: object,
  name: string,
  blocks: readonly JsonBlock[],
  tail: object = {},
): Buffer {
  const start = JSON.stringify(head).slice(0, -1);
  const separator = start === '{' ? '' : ',';
  const parts: Buffer[] = [Buffer.from(`${start}${separator}${JSON.stringify(name)}:[`)];
  for (const [at, { bytes }] of blocks.entries()) {
    if (at > 0) parts.push(COMMA);
    parts.push(bytes);
  }
  const end = JSON.stringify(tail).slice(1);
  parts.push(Buffer.from(end === '}' ? ']}' : `],${end}`));
  const whole = Buffer.concat(parts);
  let at = parts[0]!.byteLength;
  for (const block of blocks) {
    block.bytes = whole.subarray(at, at + block.bytes.byteLength);
    at += block.bytes.byteLength + COMMA.byteLength;
  }
  return whole;
}

const COMMA = Buffer.from(',');
