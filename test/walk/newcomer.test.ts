import assert from 'node:assert/strict';
import { it } from 'node:test';
import { responsesIn, runWalk } from '../support/walk.ts';

it('the first walk of the README does what it says, across a kill -9', async () => {
  const { output } = await runWalk('newcomer');
  const responses = responsesIn(output);
  const flags = responses.filter((one) => one.name === 'new-checkout');
  const last = flags.at(-1);
  assert.equal(last?.description, 'The checkout on one page', output);
  const production = last.environments.find((one: { name: string }) => one.name === 'production');
  assert.equal(production.enabled, true, output);
  assert.equal(production.strategies[0].parameters.rollout, 25, output);
  const { events } = responses.find((one) => one.totalEvents !== undefined);
  assert.deepEqual(
    events.map((one: { type: string; featureName: string }) => `${one.type} ${one.featureName}`),
    [
      'feature-archived newer-checkout',
      'feature-strategy-add newer-checkout',
      'feature-created newer-checkout',
      'feature-metadata-updated new-checkout',
      'feature-environment-enabled new-checkout',
    ],
    output,
  );
  const overview = responses.at(-1);
  assert.deepEqual(
    overview.features.map((one: { name: string }) => one.name),
    ['new-checkout'],
    output,
  );
});
