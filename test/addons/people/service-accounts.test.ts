/** Service accounts: what they may do, where they show, and that they are no users. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { exportState } from '../../../src/actors/state-file.ts';
import '../../support/check-responses.ts';
import { addProject, FEATURES, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const PAT = { description: 'pipeline', expiresAt: '2999-01-01T00:00:00.000Z' };

describeInterface('service accounts', (server) => {
  const call = (method: string, path: string, body?: object, token?: string) =>
    server().call(method, path, body, token === undefined ? {} : { token });
  async function addAccount(username: string, rootRole = 3) {
    const { status, body } = await call('POST', '/service-account', { name: 'Robot', username, rootRole });
    assert.equal(status, 201);
    const { body: made } = await call('POST', `/service-account/${body.id}/token`, PAT);
    return { id: body.id as number, token: made.secret as string, tokenId: made.id as number };
  }

  it('act with their tokens, by their root role and their memberships, under their own name in the log', async () => {
    const robot = await addAccount('deploy');
    assert.equal((await call('POST', FEATURES, { name: 'early' }, robot.token)).status, 403);
    assert.equal((await call('POST', `/projects/default/users/${robot.id}/roles/5`)).status, 200);
    const { response, events } = await recording(server(), () =>
      call('POST', FEATURES, { name: 'made' }, robot.token),
    );
    assert.deepEqual([response.status, events[0]?.type], [201, 'feature-created']);
    const { body: log } = await call('GET', '/events/made');
    assert.deepEqual([log.events[0].createdBy, log.events[0].createdByUserId], ['deploy', robot.id]);
    const { body: access } = await call('GET', '/projects/default/access');
    const member = access.users.find((user: { id: number }) => user.id === robot.id);
    assert.equal(member.accountType, 'Service Account');
    assert.equal((await call('PUT', `/service-account/${robot.id}`, { rootRole: 'Admin' })).status, 200);
    assert.equal((await call('GET', '/user-admin', undefined, robot.token)).status, 200);
    const { body: me } = await call('GET', '/user', undefined, robot.token);
    assert.deepEqual([me.user.id, me.user.accountType], [robot.id, 'Service Account']);
  });

  it('are in no list of users, and are not found as one', async () => {
    const { id, token } = await addAccount('not-a-user', 1);
    const isListed = (users: readonly { id: number }[]) => users.some((user) => user.id === id);
    assert(!isListed((await call('GET', '/user-admin')).body.users));
    assert(!isListed((await call('GET', '/user-admin/access')).body.users));
    assert(!isListed((await call('GET', '/user-admin/search?q=not-a')).body));
    for (const [method, path, body] of [
      ['GET', `/user-admin/${id}`],
      ['PUT', `/user-admin/${id}`, { name: 'x' }],
      ['DELETE', `/user-admin/${id}`],
      ['GET', `/user-admin/${id}/tokens`],
      ['POST', `/user-admin/${id}/change-password`, { password: 'Some-password-1' }],
      ['PUT', '/service-account/1', { name: 'x' }],
      ['DELETE', '/service-account/1'],
      ['GET', '/service-account/1/token'],
    ] as const) {
      await refused(server(), 404, 'NotFoundError', { method, path, body });
    }
    await refused(server(), 403, 'NoAccessError', { method: 'POST', path: '/user/tokens', body: PAT, token });
    const demotion = { method: 'PUT', path: '/user-admin/1', body: { rootRole: 'Viewer' } } as const;
    await refused(server(), 409, 'InvalidOperationError', demotion);
  });

  it('share names with users, and get one where none is sent', async () => {
    await call('POST', '/user-admin', { username: 'taken', rootRole: 3 });
    const path = '/service-account';
    const body = { username: 'TAKEN', rootRole: 3 };
    await invalidAt(server(), '/body/username', { method: 'POST', path, body });
    await invalidAt(server(), '/body/rootRole', { method: 'POST', path, body: { rootRole: 99 } });
    const { body: made } = await call('POST', path, { rootRole: 3 });
    assert.match(made.username, /^service-account-/);
    const other = {
      method: 'POST',
      path: '/user-admin',
      body: { username: made.username, rootRole: 3 },
    } as const;
    await invalidAt(server(), '/body/username', other);
  });

  it('go with their tokens and memberships, unless a project would be without an Owner', async () => {
    const robot = await addAccount('owner');
    await addProject(server(), 'owned');
    await call('POST', `/projects/owned/users/${robot.id}/roles/4`);
    const { id: human } = (await call('POST', '/user-admin', { username: 'human', rootRole: 3 })).body;
    const path = `/service-account/${robot.id}`;
    const { body: access } = await call('GET', '/projects/owned/access');
    for (const { id } of access.users)
      if (id !== robot.id) await call('DELETE', `/projects/owned/users/${id}/roles/4`);
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path });
    await call('POST', `/projects/owned/users/${human}/roles/4`);
    const { response, events } = await recording(server(), () => call('DELETE', path));
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type }) => type),
      ['project-user-removed', 'pat-deleted', 'service-account-deleted'],
    );
    assert.equal((await call('GET', '/projects', undefined, robot.token)).status, 401);
  });

  it('are told from users after a restart and in an export', async () => {
    const { id, token, tokenId } = await addAccount('kept');
    await server().restart();
    assert.equal((await call('GET', '/projects', undefined, token)).status, 200);
    const { body } = await call('GET', '/service-account');
    const kept = body.serviceAccounts.find((one: { id: number }) => one.id === id);
    assert.deepEqual(
      kept.tokens.map((one: { id: number; description: string }) => [one.id, one.description]),
      [[tokenId, 'pipeline']],
    );
    const exported = exportState(server().server.store.engine.world).users.find((one) => one.id === id);
    assert.deepEqual([exported?.isService, exported?.username], [true, 'kept']);
    const path = `/service-account/${id}/token/${tokenId}`;
    assert.equal((await call('DELETE', path)).status, 200);
    assert.equal((await call('GET', '/projects', undefined, token)).status, 401);
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path });
  });
});
