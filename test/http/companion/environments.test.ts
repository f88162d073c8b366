/** The environments of the service, and those of a project. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addStrategy,
  environmentPath,
  FEATURES,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('environments', (server) => {
  const create = (name: string, fields: object = {}) =>
    server().call('POST', '/environments', { name, type: 'test', ...fields });
  const names = async () =>
    (await server().call('GET', '/environments')).body.environments.map((one: { name: string }) => one.name);

  it('are created as the last of the list, or where they are told to stand', async () => {
    const { status, body } = await create('qa');
    assert.equal(status, 201);
    assert.deepEqual(body, {
      name: 'qa',
      type: 'test',
      enabled: true,
      protected: false,
      sortOrder: 3,
      requiredApprovals: null,
      projectCount: 0,
      apiTokenCount: 0,
      enabledToggleCount: 0,
    });
    await create('local', { sortOrder: -1, enabled: false });
    assert.deepEqual(await names(), ['local', 'development', 'production', 'qa']);
    assert.equal((await server().call('GET', '/environments/local')).body.enabled, false);
    assert.deepEqual(
      (await server().call('GET', '/environments/project/default')).body.environments.length,
      2,
    );
  });

  it('refuse names that cannot stand in a path, and those that are taken', async () => {
    for (const name of ['', '..', 'a b', 'x'.repeat(101)]) {
      await invalidAt(server(), '/body/name', {
        method: 'POST',
        path: '/environments',
        body: { name, type: 'test' },
      });
    }
    const body = { name: 'production', type: 'test' };
    await refused(server(), 409, 'NameExistsError', { method: 'POST', path: '/environments', body });
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/environments/nowhere' });
  });

  it('are put in order all at once or not at all, and every flag shows them in that order', async () => {
    await makeFlag(server().call, 'ordered');
    const shown = async () =>
      (await server().call('GET', `${FEATURES}/ordered`)).body.environments.map(
        (one: { name: string }) => one.name,
      );
    assert.deepEqual(await shown(), ['development', 'production']);
    const order = (body: unknown) => ({ method: 'PUT', path: '/environments/sort-order', body }) as const;
    await refused(server(), 404, 'NotFoundError', order({ production: 0, nowhere: 1 }));
    await invalidAt(server(), '/body/production', order({ production: '0' }));
    await invalidAt(server(), '/body', order([['production', 0]]));
    const { response, events } = await recording(server(), () =>
      server().call('PUT', '/environments/sort-order', { production: 1, development: 2 }),
    );
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, environment, data }) => [type, environment, data.sortOrder]),
      [
        ['environment-updated', 'production', 1],
        ['environment-updated', 'development', 2],
      ],
    );
    assert.deepEqual(await shown(), ['production', 'development']);
    await server().call('PUT', '/environments/sort-order', { production: 2, development: 1 });
  });

  it('change their type and position by update, their availability by on and off', async () => {
    await create('changing');
    const { body } = await server().call('PUT', '/environments/update/changing', { type: 'anything' });
    assert.deepEqual([body.type, body.enabled], ['anything', true]);
    assert.equal((await server().call('POST', '/environments/changing/off')).status, 204);
    const off = await recording(server(), () => server().call('POST', '/environments/changing/off'));
    assert.deepEqual(off.events, [], 'off when off records nothing');
    const project = await server().call('POST', '/projects', { id: 'later', name: 'later' });
    assert(!project.body.environments.includes('changing'), 'new projects do not get what is off');
    await server().call('POST', '/environments/changing/on');
    assert.equal((await server().call('GET', '/environments/changing')).body.enabled, true);
  });

  it('are deleted with what projects had in them, when no flag is enabled in them', async () => {
    const { call } = server();
    await create('doomed');
    await call('POST', '/projects/default/environments', { environment: 'doomed' });
    const held = (environment: string) => ({ name: 'UPDATE_FEATURE_ENVIRONMENT', environment });
    const permissions = [held('development'), held('doomed')];
    const role = { name: 'Switcher', type: 'custom', description: '', permissions };
    const { id: roleId } = (await call('POST', '/roles', role)).body.roles;
    await makeFlag(call, 'serving');
    await addStrategy(call, 'serving', {}, 'doomed');
    await call('POST', `${environmentPath('serving', 'doomed')}/on`);
    const { body } = await call('GET', '/environments/doomed');
    assert.deepEqual([body.projectCount, body.enabledToggleCount], [1, 1]);
    const deletion = { method: 'DELETE', path: '/environments/doomed' } as const;
    const refusal = await refused(server(), 409, 'InvalidOperationError', deletion);
    assert.match(refusal.body.message, /1 in the project "default"/);
    await call('POST', `${environmentPath('serving', 'doomed')}/off`);
    const { events } = await recording(server(), () => call('DELETE', '/environments/doomed'));
    assert.deepEqual(
      events.map(({ type, project, environment }) => [type, project, environment]),
      [
        ['project-environment-removed', 'default', 'doomed'],
        ['role-updated', null, null],
        ['environment-deleted', null, 'doomed'],
      ],
    );
    const { body: left } = await call('GET', `/roles/${roleId}`);
    assert.deepEqual(
      left.permissions.map((one: { environment: string }) => one.environment),
      ['development'],
      'a role gives nothing in a later environment of that name',
    );
    await create('doomed');
    await call('POST', '/projects/default/environments', { environment: 'doomed' });
    const again = await call('GET', environmentPath('serving', 'doomed'));
    assert.deepEqual(again.body.strategies, [], 'one of the same name starts from nothing');
  });

  it('named like parts of other paths are reachable', async () => {
    for (const name of ['update', 'sort-order', 'project', 'on']) {
      assert.equal((await create(name)).status, 201);
      assert.equal((await server().call('GET', `/environments/${name}`)).body.name, name);
      assert.equal((await server().call('POST', `/environments/${name}/off`)).status, 204);
      const updated = await server().call('PUT', `/environments/update/${name}`, { type: 'other' });
      assert.deepEqual([updated.body.name, updated.body.enabled], [name, false]);
      assert.equal((await server().call('DELETE', `/environments/${name}`)).status, 200);
    }
  });
});

describeInterface("a project's environments", (server) => {
  const add = (environment: string) =>
    server().call('POST', '/projects/default/environments', { environment });

  it('come to all its flags, and go from them, in every response', async () => {
    const { call } = server();
    await makeFlag(call, 'everywhere');
    await call('POST', '/environments', { name: 'staging', type: 'test', sortOrder: 0 });
    const shown = async () => {
      const [flag, list, overview] = await Promise.all(
        [`${FEATURES}/everywhere`, FEATURES, '/projects/default'].map((path) => call('GET', path)),
      );
      const of = (response: { environments: readonly { name: string }[] }) =>
        response.environments.map(({ name }) => name);
      const first = of(flag?.body);
      assert.deepEqual(of(list?.body.features[0]), first);
      assert.deepEqual(of(overview?.body.features[0]), first);
      assert.deepEqual(
        overview?.body.environments.map((one: { environment: string }) => one.environment),
        first,
      );
      return first;
    };
    assert.deepEqual(await shown(), ['development', 'production']);
    const { response, events } = await recording(server(), () => add('staging'));
    assert.equal(response.status, 200);
    assert.deepEqual(
      events.map(({ type, project, environment }) => [type, project, environment]),
      [['project-environment-added', 'default', 'staging']],
    );
    assert.deepEqual(await shown(), ['staging', 'development', 'production']);
    await addStrategy(call, 'everywhere', {}, 'staging');
    await call('POST', `${environmentPath('everywhere', 'staging')}/on`);
    const removal = { method: 'DELETE', path: '/projects/default/environments/staging' } as const;
    const { body } = await refused(server(), 409, 'InvalidOperationError', removal);
    assert.match(body.message, /flags that are enabled in "staging": 1\./);
    await call('POST', `${environmentPath('everywhere', 'staging')}/off`);
    const removed = await recording(server(), () => call('DELETE', removal.path));
    assert.deepEqual(
      removed.events.map((event) => event.type),
      ['project-environment-removed'],
    );
    assert.deepEqual(await shown(), ['development', 'production']);
    await refused(server(), 404, 'NotFoundError', {
      method: 'GET',
      path: environmentPath('everywhere', 'staging'),
    });
    await server().restart();
    assert.deepEqual(await shown(), ['development', 'production']);
    await add('staging');
    const { body: again } = await call('GET', environmentPath('everywhere', 'staging'));
    assert.deepEqual([again.enabled, again.strategies], [false, []], 'what flags had in it is gone');
  });

  it('are listed with their figures', async () => {
    const { call } = server();
    await makeFlag(call, 'counted');
    await addStrategy(call, 'counted');
    await call('POST', `${environmentPath('counted')}/on`);
    await call('POST', '/api-tokens', { tokenName: 'all', type: 'client', environment: 'development' });
    await call('POST', '/projects', { id: 'other', name: 'other' });
    const token = { tokenName: 'other', type: 'client', environment: 'development', project: 'other' };
    await call('POST', '/api-tokens', token);
    const { body } = await call('GET', '/environments/project/default');
    const development = body.environments.find((one: { name: string }) => one.name === 'development');
    assert.deepEqual([development.projectEnabledToggleCount, development.projectApiTokenCount], [1, 1]);
    const whole = await call('GET', '/environments/development');
    assert.deepEqual([whole.body.enabledToggleCount, whole.body.apiTokenCount], [1, 2]);
  });

  it('are added once, and only when they exist', async () => {
    const path = '/projects/default/environments';
    const body = { environment: 'production' };
    await refused(server(), 409, 'NameExistsError', { method: 'POST', path, body });
    const unknown = { method: 'POST', path, body: { environment: 'nowhere' } } as const;
    assert.equal(
      (await refused(server(), 404, 'NotFoundError', unknown)).body.details[0].path,
      '/body/environment',
    );
    await invalidAt(server(), '/body/environment', { method: 'POST', path, body: {} });
    await refused(server(), 404, 'NotFoundError', { method: 'DELETE', path: `${path}/nowhere` });
    await refused(server(), 404, 'NotFoundError', {
      method: 'POST',
      path: '/projects/nowhere/environments',
      body,
    });
  });
});
