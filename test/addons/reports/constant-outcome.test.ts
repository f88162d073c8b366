import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { constantOutcome } from '../../../src/addons/reports/constant-outcome.ts';
import { compileFlag } from '../../../src/addons/sdk/evaluation/compiled-flag.ts';
import { variantNameOf } from '../../../src/addons/sdk/evaluation/outcome.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { evaluatorOf, feature, inputOf } from '../sdk/evaluation/inputs.ts';
import { anyContext, anyDocument, HOST_NAME } from '../sdk/evaluation/random-flags.ts';
import {
  ENVIRONMENT,
  flagOf,
  type SdkDocument,
  type SdkFeature,
  segmentsOf,
} from '../sdk/evaluation/sdk-document.ts';

const SEED = Number(process.env.SEED ?? 1);

function constantIn(document: SdkDocument, name = 'flag') {
  const flags = new Map(document.features.map((one) => [one.name, compileFlag(flagOf(one), ENVIRONMENT)]));
  const segments = segmentsOf(document);
  return constantOutcome(flags.get(name)!, {
    ...{ environmentEnabled: true, flag: (other) => flags.get(other) },
    segment: (id) => segments.get(id),
  });
}

const constantOf = (parts: Partial<SdkFeature>, ...others: SdkFeature[]) =>
  constantIn({ features: [feature(parts), ...others] });

const share = (rollout: string) => ({ name: 'flexibleRollout', parameters: { rollout } });
const inCountry = { name: 'default', constraints: [{ contextName: 'country', operator: 'IN', values: [] }] };
const variant = (name: string, weight: number) =>
  ({ name, weight, stickiness: 'default', weightType: 'variable', overrides: [] }) as const;

describe('an outcome that is the same for every context', () => {
  it('is that of every context that random flags are evaluated for', () => {
    const random = seededRandom(SEED);
    let constants = 0;
    for (let round = 0; round < 60; round += 1) {
      const document = anyDocument(random);
      const evaluator = evaluatorOf(document);
      for (const { name } of document.features) {
        const constant = constantIn(document, name);
        if (constant === null) continue;
        constants += 1;
        for (let at = 0; at < 20; at += 1) {
          const input = inputOf(anyContext(random), { random: random.next(), hostName: HOST_NAME });
          const outcome = evaluator.evaluate(name, input);
          const found = [outcome.enabled, variantNameOf(outcome)];
          assert.deepEqual(
            found,
            [constant.enabled, constant.variant ?? 'disabled'],
            `${SEED}.${round} ${name}`,
          );
        }
      }
    }
    assert(constants > 60, `${constants}`);
  });

  it('is found of switches, whole shares, missed shares and single variants, and not of conditions, parts and choices', () => {
    const own = { variant: null, isOwn: true };
    assert.deepEqual(constantOf({ enabled: false, strategies: [inCountry] }), { enabled: false, ...own });
    assert.deepEqual(constantOf({ strategies: [] }), { enabled: true, ...own });
    assert.deepEqual(constantOf({ strategies: [inCountry, share('100')] }), { enabled: true, ...own });
    assert.deepEqual(constantOf({ strategies: [share('0')] }), { enabled: false, ...own });
    const single = constantOf({ variants: [variant('a', 1000), variant('b', 0)] });
    assert.deepEqual(single, { enabled: true, variant: 'a', isOwn: true });
    for (const strategies of [[inCountry], [share('50')], [{ name: 'of-the-application' }]])
      assert.equal(constantOf({ strategies }), null);
    assert.equal(constantOf({ variants: [variant('a', 500), variant('b', 500)] }), null);
    const giving = (value: string) => ({
      variants: [{ ...variant('a', 1000), payload: { type: 'string' as const, value } }],
    });
    const twice = (value: string) => [
      { ...inCountry, ...giving('old') },
      { name: 'default', ...giving(value) },
    ];
    assert.equal(constantOf({ strategies: twice('new') }), null, 'payloads differ under one name');
    assert.equal(constantOf({ strategies: twice('old') })?.variant, 'a');
  });

  it('follows from parents and segments where they have one, and is then not of the flag alone', () => {
    const dependencies = [{ feature: 'parent' }];
    const parent = (parts: Partial<SdkFeature>) => feature({ ...parts, name: 'parent' });
    assert.deepEqual(constantOf({ dependencies }, parent({})), {
      enabled: true,
      variant: null,
      isOwn: false,
    });
    assert.equal(constantOf({ dependencies }, parent({ enabled: false }))?.enabled, false);
    assert.equal(constantOf({ dependencies }, parent({ strategies: [share('50')] })), null);
    assert.equal(constantOf({ strategies: [{ name: 'default', segments: [7] }] })?.enabled, false);
  });
});
