/** Maintenance, and default strategies of projects (docs/specification/companions.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createAdminToken } from '../../../src/start/admin-token.ts';
import '../../support/check-responses.ts';
import { FEATURES, invalidAt, makeFlag, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('maintenance', (server) => {
  const set = (enabled: boolean, token?: string) =>
    server().call('POST', '/maintenance', { enabled }, token === undefined ? {} : { token });

  it('refuses every change but its own end, also after a restart, while reads go on', async () => {
    await makeFlag(server().call, 'kept');
    assert.equal((await set(true)).status, 204);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await server().restart();
      const { call } = server();
      const changes = [
        ['PUT', `${FEATURES}/kept`, { description: 'changed' }],
        ['POST', FEATURES, { name: 'new' }],
        ['DELETE', `${FEATURES}/kept`],
        ['POST', '/tag-types', { name: 'new' }],
        ['POST', '/user-admin', { username: 'new', rootRole: 3 }],
      ] as const;
      for (const [method, path, body] of changes) {
        const { headers } = await refused(server(), 503, 'ServiceUnavailableError', { method, path, body });
        assert(headers.has('retry-after'));
      }
      assert.equal((await call('GET', `${FEATURES}/kept`)).body.description, '');
      assert.equal((await call('GET', '/ui-config')).body.maintenanceMode, true);
      assert.deepEqual((await call('GET', '/maintenance')).body, { enabled: true });
    }
    const token = await createAdminToken(server().server.store.engine);
    assert.equal((await set(false, token)).status, 204);
    await makeFlag(server().call, 'new');
    assert.deepEqual((await server().call('GET', '/maintenance')).body, { enabled: false });
  });

  it('is on or off, and nothing else', async () => {
    const call = { method: 'POST', path: '/maintenance', body: { enabled: 'yes' } };
    await invalidAt(server(), '/body/enabled', call);
  });
});

describeInterface('the default strategy of a project in an environment', (server) => {
  const PATH = '/projects/default/environments/development/default-strategy';
  const shown = async () => {
    const { environments } = (await server().call('GET', '/projects/default/overview')).body;
    const listed = (await server().call('GET', '/environments/project/default')).body.environments;
    assert.deepEqual(listed[0].defaultStrategy, environments[0].defaultStrategy);
    return environments[0].defaultStrategy;
  };

  it('is shown until the environment is removed, and no flag gets it by itself', async () => {
    const { call } = server();
    assert.equal(await shown(), undefined);
    const segment = (await call('POST', '/segments', { name: 'some', constraints: [] })).body.id;
    const sent = { name: 'flexibleRollout', parameters: { rollout: '25' }, segments: [segment] };
    const { status, body } = await call('POST', PATH, sent);
    const whole = { ...sent, title: null, disabled: false, constraints: [], variants: [] };
    assert.deepEqual([status, body], [200, whole]);
    await server().restart();
    assert.deepEqual(await shown(), whole);
    await call('DELETE', `/segments/${segment}`);
    assert.deepEqual((await shown()).segments, []);
    await makeFlag(call, 'plain');
    const on = { method: 'POST', path: `${FEATURES}/plain/environments/development/on` };
    await refused(server(), 409, 'InvalidOperationError', on);
    await call('DELETE', '/projects/default/environments/development');
    await call('POST', '/projects/default/environments', { environment: 'development' });
    assert.equal(await shown(), undefined);
  });

  it('keeps the rules of strategies', async () => {
    const unknown = { method: 'POST', path: PATH, body: { name: 'flexibleRolout' } };
    await invalidAt(server(), '/body/name', unknown);
    const wrong = { name: 'flexibleRollout', parameters: { rollout: 101 } };
    await invalidAt(server(), '/body/parameters/rollout', { method: 'POST', path: PATH, body: wrong });
    const large = { name: 'default', parameters: { text: 'x'.repeat(70_000) } };
    await refused(server(), 413, 'PayloadTooLargeError', { method: 'POST', path: PATH, body: large });
    const nowhere = PATH.replace('development', 'nowhere');
    await refused(server(), 404, 'NotFoundError', {
      method: 'POST',
      path: nowhere,
      body: { name: 'default' },
    });
  });
});
