import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Evaluator } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { Explanation } from '../../../../src/addons/sdk/evaluation/explanation.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { evaluatorOf, explanationOf, feature, inputOf } from './inputs.ts';
import { anyContext, anyDocument, HOST_NAME } from './random-flags.ts';
import { ENVIRONMENT, flagOf, type SdkFeature, type SdkSegment } from './sdk-document.ts';

const SEED = Number(process.env.SEED ?? 1);

const inCountry = { contextName: 'country', operator: 'IN', values: ['fi'] };

function explain(
  features: readonly SdkFeature[],
  context: Readonly<Record<string, unknown>> = {},
  segments: readonly SdkSegment[] = [],
): Explanation {
  const explanation = explanationOf(
    evaluatorOf({ features, segments }),
    'flag',
    inputOf(context, { random: 0.5 }),
  );
  assert(explanation !== null);
  return explanation;
}

describe('what decided', () => {
  const decidedBy = (...features: SdkFeature[]) => explain(features).decidedBy;

  it('is nothing for a flag that is not there', () => {
    assert.equal(explanationOf(evaluatorOf({ features: [] }), 'flag', inputOf({})), null);
  });

  it('is the environment, the switch of the flag, or that all of its strategies are disabled', () => {
    const scope = { environment: ENVIRONMENT, flags: [flagOf(feature())], segments: new Map() };
    const evaluator = new Evaluator({ ...scope, environmentEnabled: false });
    assert.deepEqual(explanationOf(evaluator, 'flag', inputOf({}))?.decidedBy, {
      kind: 'environment-disabled',
    });
    assert.deepEqual(decidedBy(feature({ enabled: false })), { kind: 'flag-disabled' });
    const disabled = [{ name: 'default', disabled: true }];
    assert.deepEqual(decidedBy(feature({ strategies: disabled })), { kind: 'all-strategies-disabled' });
  });

  it('is the first parent that does not allow it', () => {
    const dependencies = [{ feature: 'on' }, { feature: 'off' }, { feature: 'missing' }];
    const parents = [feature({ name: 'on' }), feature({ name: 'off', enabled: false })];
    const explanation = explain([feature({ dependencies }), ...parents]);
    assert.deepEqual(explanation.decidedBy, { kind: 'parent', feature: 'off' });
    assert.deepEqual(
      explanation.parents.map(({ result }) => result),
      [true, false, false],
    );
  });

  it('is the first strategy that takes the context, or that there is none', () => {
    const strategies = [{ name: 'default', constraints: [inCountry] }, { name: 'default' }];
    assert.deepEqual(decidedBy(feature({ strategies })), { kind: 'strategy', id: 'strategy-1' });
    assert.deepEqual(decidedBy(feature({ strategies: strategies.slice(0, 1) })), {
      kind: 'no-strategy-matched',
    });
    assert.deepEqual(decidedBy(feature({ strategies: [] })), { kind: 'no-strategies' });
  });
});

describe('an explanation', () => {
  it('shows each constraint with its result, also after one that failed, and the value of each field once', () => {
    const inPlan = { contextName: 'plan', operator: 'IN', values: ['beta'] };
    const strategies = [{ name: 'default', constraints: [inCountry, inPlan] }];
    const explanation = explain([feature({ strategies })], { plan: 'beta', other: 'x' });
    const [strategy] = explanation.strategies;
    assert.deepEqual(
      [...explanation.contextValues],
      [
        ['country', null],
        ['plan', 'beta'],
      ],
    );
    assert.deepEqual(strategy?.constraints, [
      { constraint: inCountry, result: false },
      { constraint: inPlan, result: true },
    ]);
  });

  it('shows segments by name, and one that is not there as failed', () => {
    const strategies = [{ name: 'default', segments: [1, 2] }];
    const segments = [{ id: 1, name: 'Nordic', constraints: [inCountry] }];
    const [strategy] = explain([feature({ strategies })], { country: 'fi' }, segments).strategies;
    assert.deepEqual(strategy?.segments, [
      {
        id: 1,
        name: 'Nordic',
        constraints: [{ constraint: inCountry, result: true }],
        result: true,
      },
      { id: 2, name: null, constraints: [], result: false },
    ]);
    assert.equal(strategy?.result, false);
  });

  it('shows the bucket that decided, which is in the rollout up to its percentage', () => {
    const at = (rollout: string) => {
      const parameters = { groupId: 'group', rollout };
      const explanation = explain([feature({ strategies: [{ name: 'flexibleRollout', parameters }] })], {
        userId: '7',
      });
      return explanation.strategies[0]?.rollout;
    };
    const bucket = at('50')?.bucket ?? 0;
    assert(bucket >= 1 && bucket <= 100);
    const shown = { stickiness: 'default', groupId: 'group', bucket };
    assert.deepEqual(at(String(bucket)), { ...shown, percentage: bucket, result: true });
    assert.deepEqual(at(String(bucket - 1)), { ...shown, percentage: bucket - 1, result: false });
  });

  it('shows how the variant was chosen, and by whose list', () => {
    const variant = (name: string, contextName: string) =>
      ({
        name,
        weight: 500,
        weightType: 'variable',
        stickiness: 'userId',
        overrides: [{ contextName, values: ['x'] }],
      }) as const;
    const variants = [variant('red', 'plan'), variant('blue', 'region')];
    const ofFlag = explain([feature({ variants })], { region: 'x' });
    const shown = { stickiness: 'userId', groupId: 'flag', totalWeight: 1000 };
    assert.deepEqual(ofFlag.variant, { ...shown, of: 'flag', by: 'override', bucket: null });
    assert.equal(ofFlag.outcome.variant?.name, 'blue');
    const strategies = [{ name: 'default', variants }];
    const ofStrategy = explain([feature({ strategies, variants })], { userId: '7' });
    const bucket = ofStrategy.variant?.bucket ?? 0;
    assert.deepEqual(ofStrategy.variant, { ...shown, of: 'strategy', by: 'weight', bucket });
    assert.equal(ofStrategy.outcome.variant?.name, bucket <= 500 ? 'red' : 'blue');
  });

  it('shows disabled strategies last, and says of unknown kinds that they are', () => {
    const strategies = [{ name: 'default', disabled: true }, { name: 'of-our-own' }, { name: 'default' }];
    assert.deepEqual(
      explain([feature({ strategies })]).strategies.map(({ status, result }) => [status, result]),
      [
        ['unknown-kind', false],
        ['evaluated', true],
        ['disabled', false],
      ],
    );
  });

  it(`ends as the evaluation does, for random flags and contexts (seed ${SEED})`, () => {
    const random = seededRandom(SEED);
    for (let round = 0; round < 300; round += 1) {
      const document = anyDocument(random);
      const evaluator = evaluatorOf(document);
      const input = inputOf(anyContext(random), { random: random.next(), hostName: HOST_NAME });
      for (const { name } of document.features) {
        assert.equal(explanationOf(evaluator, name, input)?.outcome, evaluator.evaluate(name, input), name);
      }
    }
  });
});
