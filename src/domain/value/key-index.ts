/**
 * The index of a persistent map: a hash tree from keys to numbers. Each node has up to 32 places by five bits of the hash, and keeps
 * its entries before its children. Nodes are immutable but within the edit that made them.
 */
import assert from 'node:assert/strict';

type Key = string | number;

export interface IndexNode {
  /** Bits of the places that hold an entry, and of those that hold a child. */
  readonly entries: number;
  readonly children: number;
  /** Keys with their numbers, then the children, each in the order of their places. */
  readonly slots: readonly unknown[];
  readonly edit: object | null;
}

export const NO_KEYS: IndexNode = { entries: 0, children: 0, slots: [], edit: null };

const BITS = 5;
/** From here on no bits of the hash are left: the node is a list of entries. */
const HASH_BITS = 32;

/** A secret of the process: nobody can choose names that have one hash. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** The last key and its hash: a key that is found is often put right after. */
const last: { key: Key; hash: number } = { key: '', hash: SEED ^ (SEED >>> 16) };

function hashOf(key: Key): number {
  if (key !== last.key) {
    last.hash = mixed(key);
    last.key = key;
  }
  return last.hash;
}

function mixed(key: Key): number {
  let hash = SEED;
  if (typeof key === 'number') hash = Math.imul(hash ^ key, 0x9e3779b1);
  else {
    for (let at = 0; at < key.length; at += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(at), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
  }
  return hash ^ (hash >>> 16);
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const bitOf = (hash: number, shift: number): number => 1 << ((hash >>> shift) & 31);
const entryAt = ({ entries }: IndexNode, bit: number): number => 2 * bitsIn(entries & (bit - 1));
const childAt = ({ entries, children }: IndexNode, bit: number): number =>
  2 * bitsIn(entries) + bitsIn(children & (bit - 1));

/** The number of the key; undefined where it has none. */
export function find(root: IndexNode, key: Key): number | undefined {
  const hash = hashOf(key);
  let node = root;
  for (let shift = 0; shift < HASH_BITS; shift += BITS) {
    const bit = bitOf(hash, shift);
    if ((node.entries & bit) !== 0) {
      const at = entryAt(node, bit);
      return node.slots[at] === key ? (node.slots[at + 1] as number) : undefined;
    }
    if ((node.children & bit) === 0) return undefined;
    node = node.slots[childAt(node, bit)] as IndexNode;
  }
  const at = node.slots.indexOf(key);
  return at === -1 ? undefined : (node.slots[at + 1] as number);
}

/** The index with a key that it does not have. */
export function withKey(root: IndexNode, key: Key, number: number, edit: object): IndexNode {
  return added(root, { key, number, hash: hashOf(key) }, 0, edit);
}

/** The index without a key that it has. */
export function withoutKey(root: IndexNode, key: Key, edit: object): IndexNode {
  return removed(root, key, hashOf(key), 0, edit);
}

interface Entry {
  readonly key: Key;
  readonly number: number;
  readonly hash: number;
}

function added(node: IndexNode, entry: Entry, shift: number, edit: object): IndexNode {
  const { key, number, hash } = entry;
  const { entries, children } = node;
  if (shift >= HASH_BITS) return changed(node, edit, entries, children, 0, 0, [key, number]);
  const bit = bitOf(hash, shift);
  if ((entries & bit) !== 0) {
    const at = entryAt(node, bit);
    const other = node.slots[at] as Key;
    const known = { key: other, number: node.slots[at + 1] as number, hash: hashOf(other) };
    const child = added(added(NO_KEYS, known, shift + BITS, edit), entry, shift + BITS, edit);
    const without = changed(node, edit, entries & ~bit, children, at, 2, []);
    return changed(without, edit, entries & ~bit, children | bit, childAt(without, bit), 0, [child]);
  }
  if ((children & bit) !== 0) {
    const at = childAt(node, bit);
    const child = added(node.slots[at] as IndexNode, entry, shift + BITS, edit);
    return changed(node, edit, entries, children, at, 1, [child]);
  }
  return changed(node, edit, entries | bit, children, entryAt(node, bit), 0, [key, number]);
}

function removed(node: IndexNode, key: Key, hash: number, shift: number, edit: object): IndexNode {
  const { entries, children } = node;
  if (shift >= HASH_BITS) return changed(node, edit, entries, children, node.slots.indexOf(key), 2, []);
  const bit = bitOf(hash, shift);
  if ((entries & bit) !== 0) return changed(node, edit, entries & ~bit, children, entryAt(node, bit), 2, []);
  assert((children & bit) !== 0, 'a key that is removed is there');
  const at = childAt(node, bit);
  const child = removed(node.slots[at] as IndexNode, key, hash, shift + BITS, edit);
  // An entry that is left alone stands where its node stood.
  if (child.children !== 0 || child.slots.length !== 2)
    return changed(node, edit, entries, children, at, 1, [child]);
  const without = changed(node, edit, entries, children & ~bit, at, 1, []);
  return changed(without, edit, entries | bit, children & ~bit, entryAt(without, bit), 0, child.slots);
}

/** The node with other bits, and with `more` in place of `count` slots from `at` on; the node itself where the edit made it. */
function changed(
  node: IndexNode,
  edit: object,
  entries: number,
  children: number,
  at: number,
  count: number,
  more: readonly unknown[],
): IndexNode {
  if (node.edit !== edit) return { entries, children, slots: node.slots.toSpliced(at, count, ...more), edit };
  const own = node as { -readonly [Name in keyof IndexNode]: IndexNode[Name] };
  const slots = own.slots as unknown[];
  own.entries = entries;
  own.children = children;
  if (count === 1 && more.length === 1) slots[at] = more[0];
  else slots.splice(at, count, ...more);
  return node;
}
