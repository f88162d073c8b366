/** The Merkle tree of RFC 9162: its published roots, and proofs of every leaf in trees of many sizes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  EMPTY_TREE,
  GrowingTree,
  HashTree,
  isTreeState,
  leafOf,
  rootOf,
} from '../../../src/persistence/proof/merkle-tree.ts';

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

const textOf = (hash: Buffer): string => hash.toString('latin1');

/** The entries that implementations of Certificate Transparency test with, and the roots over the first one, two, and so on. */
const ENTRIES = [
  ...['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'],
].map((hex) => Buffer.from(hex, 'hex'));
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const leaf = (entry: Uint8Array): string => textOf(sha256(Buffer.of(0), entry));

const nodeOf = (left: string, right: string): string =>
  textOf(sha256(Buffer.of(1), Buffer.from(left, 'latin1'), Buffer.from(right, 'latin1')));

/** The root that a leaf and its path give (RFC 9162 §2.1.3.2); null where the path is too short or too long. */
function rootFrom(
  leaf: string,
  { index, size, path }: { readonly index: number; readonly size: number; readonly path: readonly string[] },
): string | null {
  let [node, rest, last] = [leaf, index, size - 1];
  for (const sibling of path) {
    if (last === 0) return null;
    if (rest % 2 === 1 || rest === last) {
      node = nodeOf(sibling, node);
      for (; rest % 2 === 0 && rest > 0; last >>>= 1) rest >>>= 1;
    } else node = nodeOf(node, sibling);
    rest >>>= 1;
    last >>>= 1;
  }
  return last === 0 ? node : null;
}

test('a tree has the roots that the standard publishes', () => {
  assert.equal(rootOf(EMPTY_TREE).toString('hex'), sha256().toString('hex'));
  const tree = new GrowingTree(EMPTY_TREE);
  for (const [index, entry] of ENTRIES.entries()) {
    tree.add(leaf(entry));
    assert.equal(rootOf(tree.state).toString('hex'), ROOTS[index]);
  }
});

test('a tree goes on from its state, and a state with a peak too few or too many is none', () => {
  const leaves = Array.from({ length: 70 }, (_, index) => leaf(Buffer.of(index)));
  const whole = new GrowingTree(EMPTY_TREE);
  for (const [index, one] of leaves.entries()) {
    whole.add(one);
    const { size, peaks } = whole.state;
    const resumed = new GrowingTree(whole.state);
    for (const later of leaves.slice(index + 1)) resumed.add(later);
    assert.equal(textOf(rootOf(resumed.state)), new HashTree(leaves).root);
    assert(!isTreeState({ size, peaks: peaks.slice(1) }));
    assert(!isTreeState({ size, peaks: [...peaks, Buffer.alloc(32)] }));
  }
});

test('a path proves its leaf, and no other one, in no other place', () => {
  for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 31, 33]) {
    const leaves = Array.from({ length: size }, (_, index) => leaf(Buffer.of(index)));
    const tree = new HashTree(leaves);
    const { root } = tree;
    for (const [index, one] of leaves.entries()) {
      const path = tree.path(index);
      assert.equal(rootFrom(one, { index, size, path }), root);
      assert.notEqual(rootFrom(leaf(Buffer.of(99)), { index, size, path }), root);
      if (size > 1) assert.notEqual(rootFrom(one, { index: (index + 1) % size, size, path }), root);
      assert.equal(rootFrom(one, { index, size, path: [...path, one] }), null, 'a path has no hash too many');
    }
  }
});

test('a leaf stands for a payload, and for how it is read', () => {
  const body = { payload: Buffer.from('frame'), contentVersion: 258, rules: 3 };
  assert.equal(leafOf(body), textOf(sha256(Buffer.of(0, 2, 1, 3, 0), body.payload)));
  const large = { ...body, payload: Buffer.alloc(100_000, 7) };
  assert.equal(leafOf(large), textOf(sha256(Buffer.of(0, 2, 1, 3, 0), large.payload)));
});
