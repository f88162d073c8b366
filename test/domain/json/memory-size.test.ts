/** The claims about the memory of values: held against the heap of this process, and growth against sizes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { memoryGrowth, memorySize } from '../../../src/domain/json/memory-size.ts';
import { pack, unpack } from '../../../src/persistence/codec/message-pack.ts';
import { liveHeapBytes } from '../../support/live-bytes.ts';

const SEED = Number(process.env.SEED ?? 20_240_501);

/** Enough that what else the process allocates does not count. */
const PACKED_BYTES = 2e6;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const strategy = (i: number) => ({
  id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  ...{ name: 'flexibleRollout', title: null, disabled: false, sortOrder: i, variants: [], segments: [] },
  constraints: [
    {
      contextName: 'userId',
      operator: 'IN',
      caseInsensitive: false,
      inverted: false,
      values: [`a${i}`, 'b'],
    },
  ],
  parameters: { rollout: '50', groupId: `flag${i}`, stickiness: 'default' },
});

/** Values of which little memory is not seen in their bytes. */
const KINDS: Readonly<Record<string, (index: number) => unknown>> = {
  strategies: strategy,
  'parameters of few names': (i) => ({ parameters: { [`a${i}`]: 1, [`b${i}`]: 2, [`c${i}`]: 3 } }),
  'parameters of many names': (i) => ({
    parameters: Object.fromEntries(times(1000, (k) => [`k${i}-${k}`, 1])),
  }),
  'short strings': (i) => times(1000, (k) => `v${i}-${k}`),
  'longer strings': (i) => times(500, (k) => `${i}-${k}`.padEnd(40, 'x')),
  'wide strings': (i) => times(500, (k) => `${i}-${k}`.padEnd(40, '\u6f22')),
  'a text': (i) => String(i).padEnd(10_000, 'x'),
  'a wide text': (i) => String(i).padEnd(10_000, '\u6f22'),
  'empty strings': () => times(1000, () => ''),
  'empty lists': () => times(1000, () => []),
  'empty objects': () => times(1000, () => ({})),
  fractions: (i) => times(1000, (k) => i + k / 7),
  'lists in lists': () => times(50, () => 0).reduce<unknown>((inner) => [inner], 1),
};

describe('the memory of a value', () => {
  for (const [kind, make] of Object.entries(KINDS)) {
    it(`is about what ${kind} take of the heap when they have been read from disk`, () => {
      const frames: Buffer[] = [];
      for (let bytes = 0; bytes < PACKED_BYTES; bytes += frames.at(-1)?.length ?? 0) {
        frames.push(Buffer.from(pack(make(frames.length))));
      }
      const before = liveHeapBytes();
      const values = frames.map(unpack);
      const heapBytes = liveHeapBytes() - before;
      const share = values.reduce<number>((sum, value) => sum + memorySize(value), 0) / heapBytes;
      assert(share > 0.7, `only ${share.toFixed(2)} of what the heap grew by`);
      assert(share < 3, `${share.toFixed(2)} times what the heap grew by`);
    });
  }

  it(`grows by the difference of the sizes, whatever both versions share (seed ${SEED})`, () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.string(), fc.double(), fc.boolean(), tie('list'), tie('fields')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      fields: fc.dictionary(fc.constantFrom('a', 'b', 'parameters', 'rollout', 'x', 'y'), tie('value')),
    })).value;
    fc.assert(
      fc.property(value, value, value, (a, b, shared) => {
        const versions = [
          [a, b],
          [
            [a, shared],
            [b, shared],
          ],
          [[shared, a, shared], [shared]],
          [
            { a, parameters: { shared, a } },
            { b: a, parameters: { shared, b } },
          ],
          [null, a],
        ];
        for (const [before, after] of versions) {
          assert.equal(memoryGrowth(before, after), memorySize(after) - memorySize(before));
        }
      }),
      { seed: SEED },
    );
  });
});
