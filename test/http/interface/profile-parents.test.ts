/**
 * Endpoints 22 and 23: the caller's profile, and the flags that may be parents of one (docs/specification/users.md).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { aboutFlag } from '../../../src/domain/state/events.ts';
import { addProject, addUser, archive, FEATURES, makeFlag, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('profiles', (server) => {
  it('shows an API token as an Admin without projects', async () => {
    const { status, body } = await server().call('GET', '/user/profile');
    assert.equal(status, 200);
    const { description, ...rootRole } = body.rootRole;
    assert.equal(typeof description, 'string');
    assert.deepEqual(
      { ...body, rootRole },
      {
        rootRole: { id: 1, type: 'root', name: 'Admin', project: null },
        projects: [],
        features: [],
        subscriptions: [],
      },
    );
  });

  it('shows a user their root role and the projects that they are a member of', async () => {
    await addProject(server(), 'mine');
    await addProject(server(), 'theirs');
    const { id, token } = await addUser(server(), 2);
    await server().call('POST', `/projects/mine/users/${id}/roles/5`);
    const { body } = await server().call('GET', '/user/profile', undefined, { token });
    assert.deepEqual([body.rootRole.id, body.rootRole.name, body.projects], [2, 'Editor', ['mine']]);
    await server().call('DELETE', `/projects/mine/users/${id}/roles/5`);
    const after = await server().call('GET', '/user/profile', undefined, { token });
    assert.deepEqual(after.body.projects, []);
  });

  it('shows a project role held as a root role with its type', async () => {
    const { token } = await addUser(server(), 4);
    const { body } = await server().call('GET', '/user/profile', undefined, { token });
    assert.deepEqual([body.rootRole.type, body.rootRole.name], ['project', 'Owner']);
  });
});

describeInterface('parents', (server) => {
  const parents = (child: string, project = 'default') =>
    server().call('GET', `/projects/${project}/features/${child}/parents`);

  it('lists the unarchived flags of the project without the child, in creation order', async () => {
    const { call } = server();
    await addProject(server(), 'others');
    await call('POST', '/projects/others/features', { name: 'foreign' });
    for (const name of ['p-zulu', 'p-alpha', 'p-child', 'p-gone']) await makeFlag(call, name);
    await archive(call, 'p-gone');
    const { status, body } = await parents('p-child');
    assert.deepEqual({ status, body }, { status: 200, body: ['p-zulu', 'p-alpha'] });
    assert.deepEqual((await parents('foreign', 'others')).body, []);
  });

  it('leaves out flags that have parents of their own', async () => {
    for (const name of ['q-parent', 'q-child', 'q-other']) await makeFlag(server().call, name);
    await server().server.store.engine.record({ name: 'test', userId: -1 }, [
      {
        type: 'feature-dependency-added',
        ...aboutFlag({ name: 'q-child', project: 'default' }),
        data: { feature: 'q-parent', enabled: true, variants: [] },
        preData: null,
      },
    ]);
    const { body } = await parents('q-other');
    assert(body.includes('q-parent') && !body.includes('q-child'));
    const { body: ofChild } = await parents('q-child');
    assert(ofChild.includes('q-parent') && ofChild.includes('q-other'));
    assert.deepEqual((await parents('q-parent')).body, [], 'a parent may have no parents');
    const { body: parent } = await server().call('GET', `${FEATURES}/q-parent`);
    assert.deepEqual(parent.children, ['q-child']);
  });

  it('does not find a child that does not exist, or is of another project', async () => {
    await addProject(server(), 'strangers');
    await makeFlag(server().call, 'r-home');
    for (const path of [
      `${FEATURES}/nobody/parents`,
      '/projects/strangers/features/r-home/parents',
      '/projects/nowhere/features/r-home/parents',
    ]) {
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path });
    }
  });
});
