import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Murmur3, Suffix, utf8BytesOf } from '../../../../src/addons/sdk/evaluation/murmur3.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const SEED = Number(process.env.SEED ?? 1);

/** Values of the reference implementation, MurmurHash3_x86_32, by many who ported it: text, seed, hash. */
const VECTORS: readonly (readonly [string, number, number])[] = [
  ['', 0, 0],
  ['', 1, 0x514e28b7],
  ['', 0xffffffff, 0x81f16f39],
  ['\0\0\0\0', 0, 0x2362f9de],
  ['a', 0x9747b28c, 0x7fa09ea6],
  ['aa', 0x9747b28c, 0x5d211726],
  ['aaa', 0x9747b28c, 0x283e0130],
  ['aaaa', 0x9747b28c, 0x5a97808a],
  ['abc', 0, 0xb3dd93fa],
  ['abcd', 0x9747b28c, 0xf0478627],
  ['Hello, world!', 0x9747b28c, 0x24884cba],
  ['ππππππππ', 0x9747b28c, 0xd58063c1],
  ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
];

test('known texts have known hashes, beyond ASCII over their UTF-8 bytes', () => {
  for (const [text, seed, hash] of VECTORS) {
    assert.equal(new Murmur3(seed).add(utf8BytesOf(text)).digest(), hash, JSON.stringify(text));
  }
});

test(`a beginning and an suffix that are kept give the hash of the whole, wherever it is cut (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const characters = ['a', 'Z', '7', ':', 'ü', 'π', '€', '🏁'];
  const text = () =>
    Array.from({ length: random.below(24) }, () => characters[random.below(characters.length)]).join('');
  for (let round = 0; round < 500; round += 1) {
    const beginnings = Array.from({ length: 4 }, text);
    const end = text();
    const suffix = new Suffix(end);
    for (const start of beginnings) {
      const begun = new Murmur3(round).add(utf8BytesOf(start));
      const whole = new Murmur3(round).add(utf8BytesOf(start + end)).digest();
      assert.equal(begun.digestWith(suffix), whole, JSON.stringify([start, end]));
      assert.equal(begun.digestWith(suffix), whole, 'and both may be used again');
    }
  }
});
