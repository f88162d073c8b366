/** Nothing that a context or a flag holds makes an evaluation throw, and what JavaScript objects inherit is no value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allOutcomes, evaluatorOf, explanationOf, inputOf } from './inputs.ts';
import type { SdkFeature } from './sdk-document.ts';

const SEED = Number(process.env.SEED ?? 1);
const RUNS = 400;

const HOSTILE_TEXTS = [
  '',
  '__proto__',
  'constructor',
  'toString',
  '\ud800',
  '\udfff\ud800',
  '\u0000',
  'NaN',
  '-Infinity',
  '1e999',
  '::ffff:1.2.3.4/999',
  '1.2.3.4/-1',
  '(?:',
  '(((((a{1000}){1000}',
  '2024-13-45T99:99:99Z',
  '9'.repeat(400),
  '🚩'.repeat(5_000),
];

const text = fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: 'binary' }));
const operator = fc.oneof(
  fc.constantFrom('IN', 'STR_CONTAINS', 'NUM_GT', 'DATE_AFTER', 'SEMVER_GTE', 'REGEX', 'IN_CIDR', 'toString'),
  text,
);
const constraint = fc.record(
  {
    contextName: fc.oneof(fc.constantFrom('userId', 'currentTime', 'remoteAddress'), text),
    operator,
    value: text,
    values: fc.array(text, { maxLength: 3 }),
    inverted: fc.boolean(),
    caseInsensitive: fc.boolean(),
  },
  { requiredKeys: ['contextName', 'operator'] },
);
const variant = fc.record({
  name: text,
  weight: fc.oneof(
    fc.integer({ min: 0, max: 1000 }),
    fc.constantFrom(Number.NaN, -1, Number.POSITIVE_INFINITY),
  ),
  weightType: fc.constant('variable' as const),
  stickiness: text,
  overrides: fc.array(fc.record({ contextName: text, values: fc.array(text, { maxLength: 2 }) }), {
    maxLength: 1,
  }),
});
const strategy = fc.record({
  name: fc.oneof(
    fc.constantFrom('flexibleRollout', 'userWithId', 'remoteAddress', 'gradualRolloutRandom'),
    text,
  ),
  parameters: fc.dictionary(
    fc.constantFrom('rollout', 'percentage', 'stickiness', 'groupId', 'userIds', 'IPs', 'hostNames'),
    text,
  ),
  constraints: fc.array(constraint, { maxLength: 2 }),
  segments: fc.array(fc.constantFrom(1, 2, Number.NaN, -1), { maxLength: 1 }),
  variants: fc.array(variant, { maxLength: 2 }),
});
const flag: fc.Arbitrary<SdkFeature> = fc.record({
  name: fc.constantFrom('flag', '__proto__', 'constructor'),
  enabled: fc.constant(true),
  strategies: fc.array(strategy, { maxLength: 2 }),
  variants: fc.array(variant, { maxLength: 2 }),
  // Also on themselves, which the administrative interface refuses.
  dependencies: fc.array(fc.record({ feature: fc.constantFrom('flag', '__proto__', 'not there') }), {
    maxLength: 1,
  }),
});
const context = fc.dictionary(
  fc.oneof(fc.constantFrom('userId', 'sessionId', 'remoteAddress', 'currentTime', 'properties'), text),
  fc.oneof(text, fc.jsonValue(), fc.double(), fc.dictionary(text, text)),
);

test(`no evaluation throws, and each explanation ends as the evaluation does (seed ${SEED})`, () => {
  fc.assert(
    fc.property(
      fc.array(flag, { minLength: 1, maxLength: 3 }),
      fc.array(constraint),
      context,
      (features, constraints, sent) => {
        const evaluator = evaluatorOf({ features, segments: [{ id: 1, constraints }] });
        const input = inputOf(sent, { random: 0.5, hostName: 'host' });
        for (const { name } of features) {
          assert.equal(explanationOf(evaluator, name, input)?.outcome, evaluator.evaluate(name, input));
        }
        allOutcomes(evaluator.walk(input, true));
      },
    ),
    { seed: SEED, numRuns: RUNS },
  );
});
