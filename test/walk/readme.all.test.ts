/** The walks of docs/walks.md, in the order of the page, after the first lines of the README. */
// Own process: it takes long.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { followReadme, type ReadmeResult, type WalkResult } from '../support/walk.ts';

interface Named {
  readonly name: string;
}

describe('the README and its walks, followed in one checkout', () => {
  let result: ReadmeResult;
  before(async () => {
    result = await followReadme(['state.json']);
  });
  const walk = (name: string): WalkResult => {
    const found = result.walks.get(name);
    assert(found !== undefined, `there is no walk "${name}"`);
    return found;
  };

  it('first makes flags, finds all of them after a kill -9, and has an application see one switched off', () => {
    const { output, responses, statuses } = walk('newcomer');
    assert.deepEqual(statuses, [201, 200, 200, 200, 201, 202, 200, 200, 200], output);
    const last = responses.filter((one) => one.name === 'new-checkout').at(-1);
    assert.equal(last?.description, 'The checkout on one page', output);
    const production = last.environments.find((one: Named) => one.name === 'production');
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
      overview.features.map((one: Named) => one.name),
      ['new-checkout'],
      output,
    );
    assert.match(
      output,
      /^new-checkout is on at first\nnew-checkout is off \d+\.\d ms after the response 200 to switching it off$/m,
    );
  });

  it('then sets a service up, for a colleague who may write in one project only', () => {
    const { output, responses, statuses } = walk('set-up');
    assert.deepEqual(
      statuses.slice(0, -1).filter((status) => status >= 300),
      [],
      output,
    );
    assert.equal(statuses.at(-1), 403, output);
    const profile = responses.find((one) => one.rootRole?.name === 'Viewer' && one.projects !== undefined);
    assert.deepEqual(profile?.projects, ['shop'], output);
    const refused = responses.find((one) => one.name === 'NoAccessError');
    assert.match(refused?.message ?? '', /search/, output);
    const state = JSON.parse(result.files.get('state.json') ?? 'null');
    assert.deepEqual(
      state.projects.map((one: { id: string; environments: string[] }) => [one.id, one.environments.length]),
      [
        ['default', 2],
        ['shop', 3],
        ['search', 3],
      ],
      output,
    );
    const [payments, phone] = state.projects[1].flags;
    assert.deepEqual([payments.name, phone.name], ['payments', 'pay-by-phone']);
    assert.equal(phone.dependencies[0].feature, 'payments');
    assert.deepEqual(phone.tags, [{ type: 'simple', value: 'mobile' }]);
    assert.deepEqual(state.projects[2].flags, []);
  });

  it('then brings deleted flags back, switched as they were', () => {
    const { output, responses, statuses } = walk('drill');
    assert.deepEqual(
      statuses.filter((status) => status >= 300),
      [],
      output,
    );
    assert.match(output, /Copied the data folder of a running server up to event \d+ into .*, verified\./);
    const found = responses.find((one) => one.totalEvents !== undefined);
    assert.deepEqual(
      found?.events.map((one: { featureName: string }) => one.featureName),
      ['basket', 'checkout'],
      output,
    );
    for (const name of ['basket', 'checkout'])
      assert.match(output, new RegExp(`^< +"name": "${name}",$`, 'm'));
    assert.match(output, /Restored the state as of event \d+ /);
    assert.equal(output.match(/All is well\./g)?.length, 2, output);
    const flag = responses.at(-1);
    assert.equal(flag?.name, 'checkout', output);
    const production = flag.environments.find((one: Named) => one.name === 'production');
    assert.deepEqual([production.enabled, production.strategies.length], [true, 1]);
  });
});
