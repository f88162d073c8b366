import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareOf } from '../../../src/addons/integrations/share.ts';
import { DEFAULT_STRATEGY, TestWorld } from '../../support/test-world.ts';
import { event } from './providers/events.ts';

test('a flag has one share of users where a single rollout decides, and else none', () => {
  const world = new TestWorld();
  world.given({ type: 'create-flag', project: 'default', name: 'new-checkout', metadata: {} });
  const add = (rollout: string) =>
    world.given({
      type: 'add-strategy',
      project: 'default',
      flag: 'new-checkout',
      environment: 'production',
      strategy: { ...DEFAULT_STRATEGY, name: 'flexibleRollout', parameters: { rollout } },
    });
  const share = (project: string | null = 'default') => shareOf(world.world, event({ project }));
  assert.equal(share(), null);
  add('50');
  assert.equal(share(), 50);
  assert.equal(share('gone'), null);
  assert.equal(share(null), null);
  add('10');
  assert.equal(share(), null);
});
