/** A flag with thousands of conditions is tested some of them at a time, and comes to what it comes to at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EvaluationWalk } from '../../../../src/addons/sdk/evaluation/evaluator.ts';
import type { Outcome } from '../../../../src/addons/sdk/evaluation/outcome.ts';
import type { Steps } from '../../../../src/addons/sdk/evaluation/run.ts';
import { evaluatorOf, explanationOf, inputOf } from './inputs.ts';
import type { SdkDocument, SdkFeature } from './sdk-document.ts';

const VALUES = 250;
const contains = (first: string, inverted: boolean) => ({
  contextName: 'userId',
  operator: 'STR_CONTAINS',
  values: [first, ...Array.from({ length: VALUES - 1 }, (_, number) => `nobody-${number}`)],
  inverted,
});

/** Its last strategy, of 30, takes those whose ids hold its name. */
function heavyFlag(name: string, parts: Partial<SdkFeature> = {}): SdkFeature {
  const strategies = Array.from({ length: 30 }, (_, at) => ({
    name: 'default',
    parameters: {},
    constraints: [contains(`none-${at}`, true), contains(at === 29 ? name : `no-${at}`, false)],
  }));
  return { name, enabled: true, strategies, ...parts };
}

const SEGMENT = { id: 7, name: 'large', constraints: Array.from({ length: 40 }, () => contains('x', true)) };

const DOCUMENT: SdkDocument = {
  features: [
    heavyFlag('a'),
    { name: 'child', enabled: true, strategies: [{ name: 'default' }], dependencies: [{ feature: 'b' }] },
    heavyFlag('b'),
    { name: 'light', enabled: true, strategies: [{ name: 'default' }] },
    { name: 'of-segment', enabled: true, strategies: [{ name: 'default', segments: [7] }] },
    heavyFlag('off', { enabled: false }),
  ],
  segments: [SEGMENT],
};

/** Whether each flag is on, and in how many steps that was found out. */
function walked(walk: EvaluationWalk): { readonly on: readonly string[]; readonly steps: number } {
  const outcomes: Outcome[] = [];
  let steps = 1;
  while (!walk.advance(outcomes)) steps += 1;
  return { on: outcomes.flatMap(({ enabled, name }) => (enabled ? [name] : [])), steps };
}

test('flags with many conditions are walked through in many steps', () => {
  const evaluator = evaluatorOf(DOCUMENT);
  const all = walked(evaluator.walk(inputOf({ userId: 'a-b' }), true));
  assert.deepEqual(all.on, ['a', 'b', 'child', 'light', 'of-segment']);
  assert.ok(all.steps > 30, `${all.steps} steps`);
  assert.deepEqual(walked(evaluator.walk(inputOf({ userId: 'x' }), false)).on, ['light']);
});

test('flags with few conditions take one step', () => {
  const evaluator = evaluatorOf({ features: DOCUMENT.features.filter(({ name }) => name === 'light') });
  assert.deepEqual(walked(evaluator.walk(inputOf({ userId: 'a' }), true)), { on: ['light'], steps: 1 });
});

test('walks that take turns do not mix up what they have found', () => {
  const evaluator = evaluatorOf(DOCUMENT);
  const walks = ['a', 'b', 'x', 'a-b'].map((userId) => ({
    walk: evaluator.walk(inputOf({ userId }), true),
    outcomes: [] as Outcome[],
    isDone: false,
  }));
  while (walks.some(({ isDone }) => !isDone))
    for (const one of walks) one.isDone ||= one.walk.advance(one.outcomes);
  assert.deepEqual(
    walks.map(({ outcomes }) => outcomes.map(({ name }) => name).join(' ')),
    ['a light of-segment', 'b child light of-segment', 'light', 'a b child light of-segment'],
  );
});

test('one flag is prepared in many steps, and comes to the same', () => {
  const evaluator = evaluatorOf(DOCUMENT);
  for (const [name, userId, enabled] of [
    ...[['a', 'a', true] as const, ['a', 'b', false] as const, ['child', 'b', true] as const],
    ...[
      ['of-segment', 'x', false] as const,
      ['of-segment', 'b', true] as const,
      ['off', 'off', false] as const,
    ],
  ]) {
    const input = inputOf({ userId });
    const evaluation = evaluator.evaluation(name, input);
    const explanation = evaluator.explanation(name, input)!;
    let steps = 0;
    const taken = <Result>(all: Steps<Result>): Result => {
      for (let step = all.next(); ; step = all.next()) {
        if (step.done === true) return step.value;
        steps += 1;
      }
    };
    const outcome = taken(evaluation);
    const explained = taken(explanation);
    assert.ok(steps > (name === 'child' ? 4 : 5), `${name} took ${steps} steps`);
    assert.equal(outcome.enabled, enabled, `${name} for ${userId}`);
    assert.equal(evaluator.evaluate(name, input).enabled, enabled);
    assert.deepEqual(explained, explanationOf(evaluator, name, input));
  }
});
