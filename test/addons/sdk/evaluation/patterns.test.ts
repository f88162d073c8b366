/** Compiled patterns take more memory than their texts do: they are bounded, however many flags have one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATTERN_CACHE_BYTES_MAX, PatternCache, PatternKey } from '../../../../src/domain/flags/pattern.ts';
import { liveHeapBytes } from '../../../support/live-bytes.ts';
import { allOutcomes, evaluatorOf, inputOf } from './inputs.ts';
import type { SdkFeature } from './sdk-document.ts';

/** Each takes some 600 KiB once it has seen a text. */
const largePattern = (number: number): string => `(?i)\\p{L}{60}${number}`;

test('the memory of the patterns of many flags is bounded', () => {
  const flags = Array.from({ length: 200 }, (_, number): SdkFeature => {
    const constraint = { contextName: 'userId', operator: 'REGEX', value: largePattern(number) };
    return {
      name: `flag-${number}`,
      enabled: true,
      strategies: [{ name: 'default', parameters: {}, constraints: [constraint] }],
    };
  });
  const evaluator = evaluatorOf({ features: flags });
  const before = liveHeapBytes();
  const outcomes = allOutcomes(evaluator.walk(inputOf({ userId: `${'y'.repeat(60)}7` }), true));
  assert.deepEqual(
    outcomes.map(({ name }) => name),
    ['flag-7'],
  );
  const grown = liveHeapBytes() - before;
  assert.ok(grown < 2 * PATTERN_CACHE_BYTES_MAX, `the heap has grown by ${grown} bytes`);
});

test('a pattern that was forgotten says the same when it is asked again', () => {
  const patterns = new PatternCache(1024 * 1024);
  const keys = Array.from({ length: 20 }, (_, number) => new PatternKey(largePattern(number), false));
  for (let round = 0; round < 2; round += 1) {
    for (const [number, key] of keys.entries()) {
      assert.equal(patterns.occursIn(key, `${'é'.repeat(60)}${number}`), true);
      assert.equal(patterns.occursIn(key, `${'é'.repeat(60)}x`), false);
      assert.ok(patterns.bytes <= 1024 * 1024, 'what is kept is bounded');
    }
  }
  assert.ok(patterns.bytes > 0, 'the newest are kept');
});

test('what is no pattern occurs nowhere, and case counts where it should', () => {
  const patterns = new PatternCache();
  assert.equal(patterns.occursIn(new PatternKey('(?:', false), '(?:'), false);
  assert.equal(patterns.occursIn(new PatternKey('eu', false), 'EU-1'), false);
  assert.equal(patterns.occursIn(new PatternKey('eu', true), 'EU-1'), true);
});
