/** Moving a flag to another project (docs/specification/flags.md#moving). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  addUser,
  archive,
  FEATURES,
  makeFlag,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const move = (flag: string, newProjectId: string) =>
  ({ method: 'POST', path: `${FEATURES}/${flag}/changeProject`, body: { newProjectId } }) as const;

describeInterface('moving a flag to another project', (server) => {
  it('takes everything along: it is gone here, there, and told to those who see either project', async () => {
    const { call } = server();
    await addProject(server(), 'goal');
    await makeFlag(call, 'moves', { description: 'kept' });
    const strategy = await addStrategy(call, 'moves', { parameters: { rollout: 30 } });
    await call('POST', `${FEATURES}/moves/environments/development/on`);
    await call('POST', '/features/moves/tags', { value: 'kept' });
    const whereabouts = async () => {
      const here = await call('GET', `${FEATURES}/moves`);
      const there = await call('GET', '/projects/goal/features/moves');
      const lists = [];
      for (const id of ['default', 'goal']) {
        const { body } = await call('GET', `/projects/${id}/features`);
        lists.push(body.features.some(({ name }: { name: string }) => name === 'moves'));
      }
      return { statuses: [here.status, there.status], lists };
    };
    const before = (await call('GET', `${FEATURES}/moves`)).body;
    assert.deepEqual(await whereabouts(), { statuses: [200, 404], lists: [true, false] });
    const { path, body, method } = move('moves', 'goal');
    assert.equal((await call(method, path, body)).status, 200);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      const there = { statuses: [404, 200], lists: [false, true] };
      assert.deepEqual(await whereabouts(), there);
      const { body: after } = await call('GET', '/projects/goal/features/moves');
      assert.deepEqual(after, { ...before, project: 'goal' });
      assert.equal(after.environments[0].strategies[0].id, strategy.id);
    }
    const taken = { method: 'POST', path: FEATURES, body: { name: 'moves' } };
    await refused(server(), 409, 'NameExistsError', taken);
  });

  it('leaves both projects a history that is whole', async () => {
    const { call } = server();
    const event = async (project: string) => {
      const filter = { project, feature: 'moves', type: 'feature-project-change' };
      const [{ id, data }] = (await call('POST', '/events/search', filter)).body.events;
      return { id, data };
    };
    const [left, arrived] = [await event('default'), await event('goal')];
    assert.deepEqual([left.data, arrived.data], Array(2).fill({ oldProject: 'default', newProject: 'goal' }));
    const before = await call('GET', `${FEATURES}/moves?at=${left.id - 1}`);
    const after = await call('GET', `/projects/goal/features/moves?at=${arrived.id}`);
    assert.deepEqual(after.body, { ...before.body, project: 'goal' });
    await refused(server(), 404, 'NotFoundError', {
      method: 'GET',
      path: `${FEATURES}/moves?at=${arrived.id}`,
    });
    const back = { eventId: arrived.id };
    await call('PUT', '/projects/goal/features/moves', { description: 'changed' });
    assert.equal((await call('POST', '/projects/goal/features/moves/rollback', back)).status, 200);
    assert.equal((await call('GET', '/projects/goal/features/moves')).body.description, 'kept');
    const { body } = await call('GET', '/archive/features');
    assert(!body.features.some(({ name }: { name: string }) => name === 'moves'));
  });

  it('names a private project to nobody who reads the events of the other one', async () => {
    const { call } = server();
    const fields = { id: 'secret', name: 'secret', mode: 'private' };
    assert.equal((await call('POST', '/projects', fields)).status, 201);
    await makeFlag(call, 'visits');
    const move = async (from: string, to: string) =>
      (await call('POST', `/projects/${from}/features/visits/changeProject`, { newProjectId: to })).status;
    assert.deepEqual([await move('default', 'secret'), await move('secret', 'default')], [200, 200]);
    const { events } = (await call('POST', '/events/search', { project: 'default', feature: 'visits' })).body;
    assert.equal(events.length, 3);
    assert.doesNotMatch(JSON.stringify(events), /secret/);
  });

  it('is refused where the flag would lose something, and for those who may not change flags there', async () => {
    const { call } = server();
    await addProject(server(), 'target', ['production']);
    for (const name of ['parent', 'child', 'in.dev', 'gone']) await makeFlag(call, name);
    await call('POST', `${FEATURES}/child/dependencies`, { feature: 'parent' });
    await addStrategy(call, 'in.dev');
    await archive(call, 'gone');
    const segment = await call('POST', '/segments', { name: 'own', project: 'default', constraints: [] });
    await makeFlag(call, 'segmented');
    await addStrategy(call, 'segmented', { segments: [segment.body.id] }, 'production');
    for (const name of ['parent', 'child', 'in.dev', 'gone', 'segmented']) {
      await refused(server(), 409, 'InvalidOperationError', move(name, 'target'));
    }
    await makeFlag(call, 'free');
    await refused(server(), 400, 'ValidationError', move('free', 'nowhere'));
    const { token, id } = await addUser(server(), 3);
    await call('POST', `/projects/default/users/${id}/roles/5`);
    await refused(server(), 403, 'NoAccessError', { ...move('free', 'target'), token });
    await call('POST', `/projects/target/users/${id}/roles/5`);
    const { method, path, body } = move('free', 'target');
    assert.equal((await call(method, path, body, { token })).status, 200);
  });
});
