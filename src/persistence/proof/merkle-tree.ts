/**
 * The Merkle tree over a history, as RFC 9162 §2.1 defines it, with SHA-256: a leaf for each frame, in the order of the
 * journal. One root stands for all frames before it, and a path of some twenty hashes proves that a frame is among them.
 *
 *   leaf   SHA-256(0x00 · content version, 2 bytes · rules of replay, 2 bytes · payload), little-endian
 *   node   SHA-256(0x01 · left · right)
 *   empty  SHA-256 of nothing
 *
 * A leaf covers what a frame says and how it is to be read, and nothing of where it lies. So the trees of all nodes of a
 * cluster are equal, and a copy of a folder has the tree of the folder.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { FrameBody } from '../journal/frame-format.ts';

export const HASH_BYTES = 32;

/** A tree with 2^31 leaves has so many peaks; its journal would be larger than any disk. */
export const PEAKS_MAX = 31;

/** A hash as text of 32 Latin-1 characters, which takes node:crypto a third of the time of a buffer. */
export type Hash = string;

const sha256 = (bytes: Uint8Array): Hash => hash('sha256', bytes, 'binary');

export const bytesOf = (text: Hash): Buffer => Buffer.from(text, 'latin1');

/** Holds the input of one hash at a time; it grows with the largest frame, and is let go with the thread. */
let scratch = Buffer.alloc(16 * 1024);

export function leafOf({ contentVersion, rules, payload }: FrameBody): Hash {
  const length = 5 + payload.length;
  if (length > scratch.length) scratch = Buffer.alloc(2 * length);
  scratch[0] = 0;
  scratch.writeUInt16LE(contentVersion, 1);
  scratch.writeUInt16LE(rules, 3);
  scratch.set(payload, 5);
  return sha256(scratch.subarray(0, length));
}

const pair = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

function nodeOf(left: Hash, right: Hash): Hash {
  pair.write(left, 1, 'latin1');
  pair.write(right, 1 + HASH_BYTES, 'latin1');
  return sha256(pair);
}

/** The state of a tree that grows: the roots of its largest whole subtrees, from left to right, one for each bit of its size. */
export interface TreeState {
  /** How many leaves it has. */
  readonly size: number;
  readonly peaks: readonly Buffer[];
}

export const EMPTY_TREE: TreeState = { size: 0, peaks: [] };

/** Adds leaves to a tree, without keeping them. */
export class GrowingTree {
  #size: number;
  readonly #peaks: Hash[];

  constructor({ size, peaks }: TreeState) {
    assert(isTreeState({ size, peaks }), 'a tree has a peak for each bit of its size');
    this.#size = size;
    this.#peaks = peaks.map((peak) => peak.toString('latin1'));
  }

  add(leaf: Hash): void {
    let top = leaf;
    // Each bit that the addition carries over joins two subtrees of one size.
    for (let rest = this.#size; rest % 2 === 1; rest = Math.floor(rest / 2))
      top = nodeOf(this.#peaks.pop()!, top);
    this.#peaks.push(top);
    this.#size += 1;
  }

  get size(): number {
    return this.#size;
  }

  get state(): TreeState {
    return { size: this.#size, peaks: this.#peaks.map(bytesOf) };
  }
}

export function isTreeState({ size, peaks }: TreeState): boolean {
  if (!Number.isSafeInteger(size) || size < 0 || size >= 2 ** PEAKS_MAX) return false;
  let bits = 0;
  for (let rest = size; rest > 0; rest >>>= 1) bits += rest & 1;
  return bits === peaks.length && peaks.every(({ length }) => length === HASH_BYTES);
}

export function rootOf({ peaks }: TreeState): Buffer {
  const [last = sha256(Buffer.alloc(0)), ...others] = peaks.map((peak) => peak.toString('latin1')).reverse();
  return bytesOf(others.reduce((right, left) => nodeOf(left, right), last));
}

/** A whole tree in memory, for paths: over leaves, or over the roots of equally large subtrees, the last of which may be smaller. */
export class HashTree {
  readonly root: Hash;
  readonly #size: number;
  readonly #children: readonly [HashTree, HashTree] | null;

  constructor(hashes: readonly Hash[]) {
    this.#size = hashes.length;
    if (hashes.length <= 1) {
      assert(hashes.length === 1, 'a tree of hashes has one at least');
      this.root = hashes[0]!;
      this.#children = null;
      return;
    }
    const half = leftSize(hashes.length);
    this.#children = [new HashTree(hashes.slice(0, half)), new HashTree(hashes.slice(half))];
    this.root = nodeOf(this.#children[0].root, this.#children[1].root);
  }

  /** The hashes that lead from the one at `index` to the root, from the bottom up. */
  path(index: number): readonly Hash[] {
    assert(index >= 0 && index < this.#size, 'a path begins at a hash');
    if (this.#children === null) return [];
    const [left, right] = this.#children;
    return index < left.#size
      ? [...left.path(index), right.root]
      : [...right.path(index - left.#size), left.root];
  }
}

/** The largest power of two below `size`. */
const leftSize = (size: number): number => 2 ** (31 - Math.clz32(size - 1));
