import assert from 'node:assert/strict';
import { it } from 'node:test';
import { responsesIn, runWalk } from '../support/walk.ts';

it('the second walk of the README sets a service up, for a colleague who may write in one project only', async () => {
  const { output, files } = await runWalk('set-up', ['state.json']);
  const responses = responsesIn(output);
  const profile = responses.find((one) => one.rootRole?.name === 'Viewer' && one.projects !== undefined);
  assert.deepEqual(profile?.projects, ['shop'], output);
  const refused = responses.find((one) => one.name === 'NoAccessError');
  assert.match(refused?.message ?? '', /search/, output);
  const state = JSON.parse(files['state.json'] ?? 'null');
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
