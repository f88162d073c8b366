/** The bound by which flags that are far from their limits are let through without being measured. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Flag } from '../../../src/domain/flags/flag.ts';
import { growthLimits } from '../../../src/domain/flags/growth-limits.ts';
import { findExcess } from '../../../src/domain/growth/refuse-growth.ts';
import { jsonSize } from '../../../src/domain/json/json.ts';
import { FlagRecord } from '../../../src/domain/state/flag-record.ts';
import { emptyWorld } from '../../../src/domain/state/world.ts';

/** Each kind of character by how many bytes JSON has for it: as it is, escaped, and escaped in a text within a text. */
const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\0', '\u007f', 'ÿ', '€', '\ud800', '🚩'),
    maxLength: 40,
  }),
  fc.constantFrom('\0', '"', '\\').map((one) => one.repeat(300)),
);
const nested = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 0, -1.7976931348623157e308, -9007199254740991),
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(text, tie('value'), { maxKeys: 6 }),
  ),
})).value;
const some = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { maxLength: 4 });
const variant = fc.record(
  { name: text, weight: fc.nat(), payload: fc.record({ type: text, value: text }), overrides: some(nested) },
  { requiredKeys: ['name', 'weight', 'overrides'] },
);
const constraint = fc.record({
  contextName: text,
  operator: text,
  inverted: fc.boolean(),
  values: some(text),
});
const strategy = fc.record({
  ...{ id: text, name: text, title: text, disabled: fc.boolean(), sortOrder: fc.nat() },
  ...{ constraints: some(constraint), segments: some(fc.nat()), variants: some(variant) },
  parameters: fc.dictionary(fc.oneof(text, fc.constantFrom('rollout', 'groupId')), nested, { maxKeys: 6 }),
});
const environment = fc.record({
  ...{ name: text, enabled: fc.boolean(), strategies: some(strategy), variants: some(variant) },
});
const flag = fc.record({
  ...{ name: text, project: text, description: text, type: text, createdAt: text, stale: fc.boolean() },
  ...{ links: some(nested), tags: some(fc.record({ type: text, value: text })) },
  ...{ environments: some(environment), children: some(text), dependencies: some(nested) },
});

const world = emptyWorld();

function assertBounded(made: unknown): void {
  const record = FlagRecord.of({ flag: made as Flag, revision: 1, createdBy: null });
  const { jsonBytesMax } = record;
  assert(jsonSize(made) <= jsonBytesMax, JSON.stringify(made));
  const limits = { ...growthLimits(() => jsonBytesMax), evaluationCost: Number.POSITIVE_INFINITY };
  const measured = { flag: record.flag, jsonBytesMax: Number.POSITIVE_INFINITY } as FlagRecord;
  assert.equal(findExcess(world, null, measured, limits), null);
}

it('no part of a flag has more bytes or parts than are known of it unmeasured, whatever its texts and parameters', () => {
  fc.assert(fc.property(flag, assertBounded), { seed: 8, numRuns: 300 });
});

it('a flag that is little more than one text or list has no more bytes than are known of it unmeasured', () => {
  for (const character of ['a', '"', '\0', '€', '\ud800', '🚩'])
    for (const length of [1, 2, 12, 13, 10_000]) {
      const value = character.repeat(length);
      for (const groupId of [value, [value], { rollout: [value] }, Array(length).fill(character)]) {
        const strategies = [
          { parameters: { groupId }, constraints: [], segments: [], variants: [], title: value },
        ];
        assertBounded({ description: value, tags: [], environments: [{ strategies, variants: [] }] });
      }
    }
});
