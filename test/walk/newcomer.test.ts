import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runWalk } from '../support/walk.ts';

it('the first walk of the README does what it says, across a kill -9', async () => {
  const { lines, output } = await runWalk('newcomer');
  const answers = lines.flatMap(jsonIn);
  const flags = answers.filter((one) => one.name === 'new-checkout');
  const last = flags.at(-1);
  assert.equal(last?.description, 'The checkout on one page', output);
  const production = last.environments.find((one: { name: string }) => one.name === 'production');
  assert.equal(production.enabled, true, output);
  assert.equal(production.strategies[0].parameters.rollout, '25', output);
  const { events } = answers.find((one) => one.totalEvents !== undefined);
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
  const overview = answers.at(-1);
  assert.deepEqual(
    overview.features.map((one: { name: string }) => one.name),
    ['new-checkout'],
    output,
  );
});

/** The answers in a line of output: the health check's has no line of its own. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
function jsonIn(line: string): any[] {
  const text = line.replace('{"health":"GOOD"}', '');
  return text.startsWith('{') ? [JSON.parse(text)] : [];
}
