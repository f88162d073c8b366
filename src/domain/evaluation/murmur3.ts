/**
 * MurmurHash3, 32 bits, x86: the hash that every Unleash SDK turns a group and a user into a number with. It is taken
 * over the bytes of UTF-8, as in the SDKs of all languages but JavaScript, where `murmurhash3js` takes the low byte of
 * each UTF-16 unit: the two differ beyond ASCII.
 */
const BLOCK_FACTOR_1 = 0xcc9e2d51;
const BLOCK_FACTOR_2 = 0x1b873593;

const utf8 = new TextEncoder();

/** Half a surrogate pair, which has no bytes, becomes U+FFFD. */
export function utf8BytesOf(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Takes bytes in pieces, so that a beginning that many inputs share is hashed once. */
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
      if (blockLength === 4) {
        hash ^= scramble(block);
        hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
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

  /** Of all bytes added, from 0 to 2³² - 1. */
  digest(): number {
    let hash = this.#hash ^ scramble(this.#block) ^ this.#length;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  /** Of what was added to this one, followed by `bytes`; this one stays as it is. */
  digestWith(bytes: Uint8Array): number {
    scratch.#hash = this.#hash;
    scratch.#block = this.#block;
    scratch.#blockLength = this.#blockLength;
    scratch.#length = this.#length;
    return scratch.add(bytes).digest();
  }
}

/** One for all, so that a hash makes no object. */
const scratch = new Murmur3(0);

/** 0 for an empty block, so that one may be mixed in without asking. */
function scramble(block: number): number {
  const scrambled = Math.imul(block, BLOCK_FACTOR_1);
  return Math.imul((scrambled << 15) | (scrambled >>> 17), BLOCK_FACTOR_2);
}
