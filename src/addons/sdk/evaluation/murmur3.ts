/**
 * MurmurHash3, 32 bits, x86: the hash that every Unleash SDK turns a group and a user into a number with. It is taken
 * over the bytes of UTF-8, as in the SDKs of all languages but JavaScript, where `murmurhash3js` takes the low byte of
 * each UTF-16 unit: the two differ beyond ASCII.
 */
const BLOCK_BYTES = 4;
const BLOCK_FACTOR_1 = 0xcc9e2d51;
const BLOCK_FACTOR_2 = 0x1b873593;

const utf8 = new TextEncoder();

/** Half a surrogate pair, which has no bytes, becomes U+FFFD. */
export function utf8BytesOf(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Takes bytes in pieces, so that a prefix that many inputs share is hashed once. */
export class Murmur3 {
  #hash: number;
  /** The bytes of the block begun, lowest first. */
  #block = 0;
  #blockLength = 0;
  #length = 0;

  constructor(seed: number) {
    this.#hash = seed | 0;
  }

  add(bytes: Uint8Array): this {
    let hash = this.#hash;
    let block = this.#block;
    let blockLength = this.#blockLength;
    for (let at = 0; at < bytes.length; at += 1) {
      block |= bytes[at]! << (blockLength << 3);
      blockLength += 1;
      if (blockLength === BLOCK_BYTES) {
        hash = mixed(hash, scramble(block));
        block = 0;
        blockLength = 0;
      }
    }
    this.#hash = hash;
    this.#block = block;
    this.#blockLength = blockLength;
    this.#length += bytes.length;
    return this;
  }

  digest(): number {
    return finished(this.#hash ^ scramble(this.#block), this.#length);
  }

  /** The hash of the bytes added and of `suffix` after them; this object stays as it is. */
  digestWith(suffix: Suffix): number {
    return digestAfter(this.#hash, this.#block, this.#length, suffix);
  }

  /** The state of the hash, for `digestAfter`: a caller with many keeps the numbers in columns. */
  get state(): { readonly hash: number; readonly block: number; readonly length: number } {
    return { hash: this.#hash, block: this.#block, length: this.#length };
  }
}

/** The result of `digestWith` for a hash in this state, from 0 to 2³² - 1. */
export function digestAfter(hash: number, block: number, length: number, suffix: Suffix): number {
  const { head, isHeadWhole, blocks, rest } = suffix.after(length & (BLOCK_BYTES - 1));
  const whole = length + suffix.length;
  const first = scramble(block | head);
  if (!isHeadWhole) return finished(hash ^ first, whole);
  let mixing = mixed(hash, first);
  for (let at = 0; at < blocks.length; at += 1) mixing = mixed(mixing, blocks[at]!);
  return finished(mixing ^ rest, whole);
}

/** A suffix cut into blocks after a prefix whose last block is not whole. */
interface CutSuffix {
  /** The bytes that go into the block begun, in their place in it. */
  readonly head: number;
  /** Whether these make it whole; otherwise there is nothing else. */
  readonly isHeadWhole: boolean;
  /** The whole blocks behind it, scrambled. */
  readonly blocks: Int32Array;
  /** The bytes behind the last whole block, scrambled. */
  readonly rest: number;
}

/** Bytes that many hashes end with, such as a user's id; their blocks are scrambled once. */
export class Suffix {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** By the bytes of the block begun before it, 0 to 3. */
  readonly #cuts: (CutSuffix | undefined)[] = [undefined, undefined, undefined, undefined];

  constructor(text: string) {
    this.#bytes = utf8BytesOf(text);
    this.length = this.#bytes.length;
  }

  /** The text, cut after `begunBytes` bytes of a block. */
  after(begunBytes: number): CutSuffix {
    let cut = this.#cuts[begunBytes];
    if (cut === undefined) {
      cut = cutAfter(begunBytes, this.#bytes);
      this.#cuts[begunBytes] = cut;
    }
    return cut;
  }
}

function cutAfter(begunBytes: number, bytes: Uint8Array): CutSuffix {
  const headBytes = Math.min(BLOCK_BYTES - begunBytes, bytes.length);
  const blockCount = (bytes.length - headBytes) >> 2;
  const restAt = headBytes + blockCount * BLOCK_BYTES;
  return {
    head: blockAt(bytes, 0, headBytes) << (begunBytes << 3),
    isHeadWhole: begunBytes + headBytes === BLOCK_BYTES,
    blocks: Int32Array.from({ length: blockCount }, (_, block) =>
      scramble(blockAt(bytes, headBytes + block * BLOCK_BYTES, BLOCK_BYTES)),
    ),
    rest: scramble(blockAt(bytes, restAt, bytes.length - restAt)),
  };
}

/** `count` bytes as one number, the first one lowest. */
function blockAt(bytes: Uint8Array, start: number, count: number): number {
  let block = 0;
  for (let at = 0; at < count; at += 1) block |= bytes[start + at]! << (at << 3);
  return block;
}

function mixed(hash: number, scrambled: number): number {
  const next = hash ^ scrambled;
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
}

/** From 0 to 2³² - 1. */
function finished(hashed: number, length: number): number {
  let hash = hashed ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** 0 for an empty block, so that one may be mixed in without asking. */
function scramble(block: number): number {
  const scrambled = Math.imul(block, BLOCK_FACTOR_1);
  return Math.imul((scrambled << 15) | (scrambled >>> 17), BLOCK_FACTOR_2);
}
