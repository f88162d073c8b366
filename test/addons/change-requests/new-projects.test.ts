/** Projects whose environments take change requests from the moment in which they are created. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { exportState, planImport } from '../../support/documents/state-document.ts';
import { invalidAt, recording } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';
import { TestWorld } from '../../support/test-world.ts';
import { as, authorAndReviewer, ROLLOUT, succeeded } from './scene.ts';

describeInterface('new projects with change requests', (server) => {
  const create = (id: string, fields: object = {}) =>
    server().call('POST', '/projects', { id, name: id, ...fields });
  const configOf = async (id: string) =>
    (await succeeded(server().call('GET', `/projects/${id}/change-requests/config`))).map(
      (one: { readonly environment: string; readonly requiredApprovals: number | null }) => [
        one.environment,
        one.requiredApprovals,
      ],
    );
  const setDefault = (requiredApprovals: unknown) =>
    server().call('PUT', '/environments/update/production', { requiredApprovals });

  it('are protected in the frame that creates them, from their first flag on', async () => {
    const { response, events } = await recording(server(), () =>
      create('guarded', { changeRequestEnvironments: [{ name: 'production', requiredApprovals: 2 }] }),
    );
    assert.equal(response.status, 201);
    assert.deepEqual(
      events.map(({ type, environment }) => [type, environment]),
      [
        ['project-created', null],
        ['change-request-configuration-updated', 'production'],
      ],
    );
    assert.deepEqual(await configOf('guarded'), [
      ['development', null],
      ['production', 2],
    ]);
    await succeeded(server().call('POST', '/projects/guarded/features', { name: 'guarded' }));
    const path = '/projects/guarded/features/guarded/environments';
    assert.equal((await server().call('POST', `${path}/production/strategies`, ROLLOUT)).status, 403);
    assert.equal((await server().call('POST', `${path}/development/strategies`, ROLLOUT)).status, 200);
  });

  it('are refused with what cannot be protected, and then not created', async () => {
    const named = (...changeRequestEnvironments: readonly unknown[]) => ({
      ...{ method: 'POST', path: '/projects' },
      body: { id: 'refused', name: 'Refused', environments: ['production'], changeRequestEnvironments },
    });
    const at = (rest: string) => `/body/changeRequestEnvironments/${rest}`;
    const production = { name: 'production' };
    await invalidAt(server(), at('0/name'), named({ name: 'development' }));
    await invalidAt(server(), at('1/name'), named(production, production));
    for (const requiredApprovals of [0, 11, 1.5, '1'])
      await invalidAt(server(), at('0/requiredApprovals'), named({ ...production, requiredApprovals }));
    assert.equal((await server().call('GET', '/projects/refused')).status, 404);
    assert.deepEqual((await succeeded(create('free', { changeRequestEnvironments: [] }))).id, 'free');
    assert.deepEqual(await configOf('free'), [
      ['development', null],
      ['production', null],
    ]);
  });

  it('have what their environments say, where the request does not name another number', async () => {
    const { requiredApprovals } = await succeeded(setDefault(3));
    assert.equal(requiredApprovals, 3);
    for (const path of ['/environments', '/environments/project/default']) {
      const { environments } = await succeeded(server().call('GET', path));
      assert.deepEqual(
        environments.map((one: { readonly requiredApprovals: unknown }) => one.requiredApprovals),
        [null, 3],
      );
    }
    assert.deepEqual(
      await configOf('default'),
      [
        ['development', null],
        ['production', null],
      ],
      'a project that is there stays as it is',
    );
    const plan = planImport(exportState(server().server.store.engine.world));
    assert(plan.ok);
    const { directory } = new TestWorld(plan.events).world;
    assert.equal(directory.environments.find(({ name }) => name === 'production')?.requiredApprovals, 3);
    await server().restart();
    await succeeded(create('by-default'));
    const both = [{ name: 'production', requiredApprovals: 1 }, { name: 'development' }];
    await succeeded(create('by-name', { changeRequestEnvironments: both }));
    await succeeded(create('without', { environments: ['development'] }));
    assert.deepEqual(await configOf('by-default'), [
      ['development', null],
      ['production', 3],
    ]);
    assert.deepEqual(await configOf('by-name'), [
      ['development', 1],
      ['production', 1],
    ]);
    assert.deepEqual(await configOf('without'), [['development', null]]);
    assert.equal((await succeeded(server().call('POST', '/environments/production/on'))) ?? null, null);
    assert.equal((await succeeded(server().call('GET', '/environments/production'))).requiredApprovals, 3);
    assert.equal((await succeeded(setDefault(null))).requiredApprovals, null);
    const again = await recording(server(), () => setDefault(null));
    assert.deepEqual(again.events, []);
    await succeeded(create('later'));
    assert.deepEqual(await configOf('later'), [
      ['development', null],
      ['production', null],
    ]);
  });

  it('take no number of approvals that an environment cannot have, nor one from who is no Admin', async () => {
    for (const requiredApprovals of [0, 11, 'two'])
      await invalidAt(server(), '/body/requiredApprovals', {
        ...{ method: 'PUT', path: '/environments/update/production' },
        body: { requiredApprovals },
      });
    const { people } = await authorAndReviewer(server());
    const { status } = await as(server(), people.author)('PUT', '/environments/update/production', {
      requiredApprovals: 1,
    });
    assert.equal(status, 403);
    const made = await succeeded(
      server().call('POST', '/environments', { name: 'qa', type: 'test', requiredApprovals: 2 }),
    );
    assert.equal(made.requiredApprovals, 2);
  });
});
