/**
 * A long JSON list as bytes, of which a change makes little anew. Its items are kept in blocks, and only the blocks in
 * which an item changed are encoded again. Items are strings that their owners keep, so unchanged ones are identical.
 */
import { createHash } from 'node:crypto';

/** So many items are one block: few enough to encode in microseconds, and few blocks to put together. */
export const BLOCK_ITEMS = 128;

export class JsonBlock {
  readonly items: readonly string[];
  /** The items, separated by commas. */
  readonly bytes: Buffer;
  #digest: Buffer | null = null;

  constructor(items: readonly string[]) {
    this.items = items;
    this.bytes = Buffer.from(items.join(','));
  }

  /** SHA-256 of the bytes. Hashed once. */
  hash(): Buffer {
    this.#digest ??= createHash('sha256').update(this.bytes).digest();
    return this.#digest;
  }
}

/** `known`, which stood in the same place before, where it has the same items; else a new block. */
export function blockOf(items: readonly string[], known: JsonBlock | undefined): JsonBlock {
  return known !== undefined && isSame(items, known.items) ? known : new JsonBlock(items);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

/** `head` with the list as its field `name`, followed by the fields of `tail`. Both are objects as JSON writes them. */
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
  return Buffer.concat(parts);
}

const COMMA = Buffer.from(',');
