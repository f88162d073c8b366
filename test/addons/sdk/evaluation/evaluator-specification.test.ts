/** All cases of @unleash/client-specification, which every SDK of Unleash has to pass. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CASE_COUNT, SPECIFICATIONS } from './client-specification.ts';
import { evaluatorOf, inputOf } from './inputs.ts';

/** A number for cases that leave something to chance: any gives the result that it expects. */
const DRAWS = [0, 0.5, 0.999];

for (const { name, document, tests, variantTests } of SPECIFICATIONS) {
  describe(`client specification ${name}`, () => {
    const evaluator = evaluatorOf(document);
    for (const { description, context, toggleName, expectedResult } of tests) {
      it(description, () => {
        for (const random of DRAWS) {
          const input = inputOf(context, { random });
          assert.equal(evaluator.evaluate(toggleName, input).enabled, expectedResult);
          const explained = evaluator.explain(toggleName, input)?.outcome.enabled ?? false;
          assert.equal(explained, expectedResult, 'explained');
        }
      });
    }
    for (const { description, context, toggleName, expectedResult } of variantTests) {
      it(`${description} (variant)`, () => {
        for (const random of DRAWS) {
          const { variant } = evaluator.evaluate(toggleName, inputOf(context, { random })).toggle;
          const { name, enabled, payload, feature_enabled } = variant;
          assert.deepEqual(
            { name, enabled, feature_enabled, ...(payload ? { payload } : {}) },
            expectedResult,
          );
        }
      });
    }
  });
}

it(`the client specification has ${CASE_COUNT} cases, none of which is left out`, () => {
  const cases = SPECIFICATIONS.flatMap(({ tests, variantTests }) => [...tests, ...variantTests]);
  assert.equal(cases.length, CASE_COUNT);
});
