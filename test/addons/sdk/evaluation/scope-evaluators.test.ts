/** The evaluators that are kept: as many as fit, those that were asked for last. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cache } from '../../../../src/actors/cache.ts';
import { ScopeEvaluators } from '../../../../src/addons/sdk/evaluation/scope-evaluators.ts';
import { TestWorld } from '../../../support/test-world.ts';

const DEVELOPMENT = { projects: ['default'], environment: 'development' };
const PRODUCTION = { projects: ['default'], environment: 'production' };
const EVERYTHING = { projects: '*', environment: 'production' } as const;

describe('evaluators of scopes', () => {
  const state = new TestWorld().given({
    type: 'create-flag',
    project: 'default',
    name: 'checkout',
    metadata: {},
  });
  const lastId = (): number => 1;
  // Each takes some 8 KiB, so that two of them fit.
  const open = () => new ScopeEvaluators({ state, cache: new Cache(20 * 1024) });

  it('are kept for the next request of their scope', async () => {
    const evaluators = open();
    const first = await evaluators.get(DEVELOPMENT, lastId);
    await evaluators.get(PRODUCTION, lastId);
    assert.equal(await evaluators.get({ ...DEVELOPMENT }, lastId), first);
    assert.equal(evaluators.size, 2);
  });

  it('are forgotten when they exceed the bound, beginning with the one that was asked for longest ago', async () => {
    const evaluators = open();
    const development = await evaluators.get(DEVELOPMENT, lastId);
    const production = await evaluators.get(PRODUCTION, lastId);
    await evaluators.get(DEVELOPMENT, lastId);
    await evaluators.get(EVERYTHING, lastId);
    assert.equal(evaluators.size, 2);
    assert.equal(await evaluators.get(DEVELOPMENT, lastId), development);
    assert.notEqual(await evaluators.get(PRODUCTION, lastId), production);
  });

  it('evaluate again after they were forgotten', async () => {
    const evaluators = open();
    for (const scope of [DEVELOPMENT, PRODUCTION, EVERYTHING, DEVELOPMENT]) {
      const { shown } = await evaluators.get(scope, lastId);
      assert.ok(shown.evaluator.has('checkout'));
    }
  });
});
