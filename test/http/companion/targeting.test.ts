/** Segments, context fields and strategy types: what strategies refer to, and what it refuses to lose. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  environmentPath,
  FEATURES,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const NORDIC = { contextName: 'country', operator: 'IN', values: ['fi', 'se'] };

const strategiesOf = (flag: string): string => `${environmentPath(flag)}/strategies`;

describeInterface('segments', (server) => {
  const create = async (name: string, more: object = {}): Promise<number> => {
    const response = await server().call('POST', '/segments', { name, constraints: [NORDIC], ...more });
    assert.equal(response.status, 201, response.body?.message);
    return response.body.id;
  };

  it('are created, read, replaced and deleted', async () => {
    const { response, events } = await recording(server(), () =>
      server().call('POST', '/segments', { name: 'Nordic', constraints: [NORDIC] }),
    );
    const { id, createdAt, ...shown } = response.body;
    assert.equal(response.status, 201);
    assert.ok(Date.parse(createdAt) > 0);
    const constraint = { ...NORDIC, caseInsensitive: false, inverted: false };
    const counts = { usedInFeatures: 0, usedInProjects: 0 };
    assert.deepEqual(shown, { name: 'Nordic', constraints: [constraint], createdBy: 'admin', ...counts });
    assert.equal(events[0]?.type, 'segment-created');
    const replaced = { name: 'Nordics', description: 'All of them', constraints: [] };
    assert.equal((await server().call('PUT', `/segments/${id}`, replaced)).status, 204);
    const { body } = await server().call('GET', `/segments/${id}`);
    assert.deepEqual(
      { name: body.name, description: body.description, constraints: body.constraints },
      replaced,
    );
    assert.ok(
      (await server().call('GET', '/segments')).body.segments.some((one: { id: number }) => one.id === id),
    );
    assert.equal((await server().call('DELETE', `/segments/${id}`)).status, 204);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `/segments/${id}` });
  });

  it('have names of their own', async () => {
    const id = await create('taken');
    const other = await create('other');
    const body = { name: 'taken', constraints: [] };
    await refused(server(), 409, 'NameExistsError', { method: 'POST', path: '/segments', body });
    await refused(server(), 409, 'NameExistsError', { method: 'PUT', path: `/segments/${other}`, body });
    assert.equal(
      (await server().call('PUT', `/segments/${id}`, body)).status,
      204,
      'its own name is free to it',
    );
  });

  it('that a strategy uses cannot be deleted, and say by how many flags they are used', async () => {
    await makeFlag(server().call, 'with-segment');
    const id = await create('used');
    const strategy = await server().call('POST', strategiesOf('with-segment'), {
      name: 'default',
      segments: [id],
    });
    assert.deepEqual(strategy.body.segments, [id]);
    const { body } = await server().call('GET', `/segments/${id}`);
    assert.deepEqual([body.usedInFeatures, body.usedInProjects], [1, 1]);
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: `/segments/${id}` });
    const uses = (await server().call('GET', `/segments/${id}/strategies`)).body.strategies;
    assert.deepEqual(uses, [
      {
        id: strategy.body.id,
        projectId: 'default',
        featureName: 'with-segment',
        environment: 'development',
        strategyName: 'default',
      },
    ]);
    await server().restart();
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: `/segments/${id}` });
    const none = [{ op: 'replace', path: '/segments', value: [] }];
    const path = `${strategiesOf('with-segment')}/${strategy.body.id}`;
    assert.equal((await server().call('PATCH', path, none)).status, 200);
    assert.equal((await server().call('DELETE', `/segments/${id}`)).status, 204);
  });

  it('that do not exist are refused by strategies, and those of another project too', async () => {
    await makeFlag(server().call, 'strict');
    await addProject(server(), 'elsewhere');
    const foreign = await create('foreign', { project: 'elsewhere' });
    for (const segments of [[999], [foreign]]) {
      const body = { name: 'default', segments };
      await invalidAt(server(), '/body/segments/0', { method: 'POST', path: strategiesOf('strict'), body });
    }
    const global = await create('global');
    await server().call('POST', strategiesOf('strict'), { name: 'default', segments: [global] });
    const kept = { name: 'global', project: 'elsewhere', constraints: [] };
    const request = { method: 'PUT', path: `/segments/${global}`, body: kept } as const;
    await refused(server(), 409, 'InvalidOperationError', request);
    await invalidAt(server(), '/body/project', {
      method: 'POST',
      path: '/segments',
      body: { name: 'lost', project: 'nowhere', constraints: [] },
    });
  });

  it('of a project end with it', async () => {
    await addProject(server(), 'short-lived');
    const id = await create('mortal', { project: 'short-lived' });
    assert.equal((await server().call('DELETE', '/projects/short-lived')).status, 200);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `/segments/${id}` });
  });

  it('are bounded in bytes and in values', async () => {
    const values = Array.from({ length: 1_001 }, (_, index) => String(index));
    await invalidAt(server(), '/body/constraints', {
      method: 'POST',
      path: '/segments',
      body: { name: 'wide', constraints: [{ ...NORDIC, values }] },
    });
    const body = { name: 'large', constraints: [{ ...NORDIC, values: ['x'.repeat(70_000)] }] };
    await refused(server(), 413, 'PayloadTooLargeError', { method: 'POST', path: '/segments', body });
  });
});

describeInterface('context fields', (server) => {
  it('begin with those that every SDK fills, which can be changed and not deleted', async () => {
    const names = (await server().call('GET', '/context')).body.map((one: { name: string }) => one.name);
    assert.deepEqual(names, [
      'environment',
      'userId',
      'appName',
      'currentTime',
      'sessionId',
      'remoteAddress',
    ]);
    assert.equal((await server().call('PUT', '/context/appName', { description: 'Which one' })).status, 200);
    assert.equal((await server().call('GET', '/context/appName')).body.description, 'Which one');
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: '/context/appName' });
  });

  it('are created, get and lose legal values, and are deleted', async () => {
    const created = await server().call('POST', '/context', {
      name: 'country',
      legalValues: [{ value: 'fi', description: 'Finland' }],
    });
    assert.equal(created.status, 201);
    assert.deepEqual([created.body.stickiness, created.body.sortOrder], [false, 10]);
    await server().call('PUT', '/context/country', { legalValues: [{ value: 'se' }] });
    const legal = async () => (await server().call('GET', '/context/country')).body.legalValues;
    assert.deepEqual(await legal(), [{ value: 'se' }]);
    await server().restart();
    assert.deepEqual(await legal(), [{ value: 'se' }]);
    await refused(server(), 409, 'NameExistsError', {
      method: 'POST',
      path: '/context',
      body: { name: 'country' },
    });
    assert.equal((await server().call('DELETE', '/context/country')).status, 200);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/context/country' });
  });

  it('are those of the server in each project', async () => {
    const { body } = await server().call('GET', '/context');
    const inProject = async (query: string) =>
      (await server().call('GET', `/projects/default/context${query}`)).body;
    assert.deepEqual(await inProject('?include=root'), body);
    assert.deepEqual(await inProject(''), []);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/projects/none/context' });
  });

  it('say which strategies have a constraint on them', async () => {
    await makeFlag(server().call, 'constrained');
    await addStrategy(server().call, 'constrained', { constraints: [{ ...NORDIC, contextName: 'userId' }] });
    const { strategies } = (await server().call('GET', '/context/userId/strategies')).body;
    assert.deepEqual(
      strategies.map((one: { featureName: string }) => one.featureName),
      ['constrained'],
    );
    assert.equal((await server().call('GET', '/context/userId')).body.usedInFeatures, 1);
    await server().call('DELETE', `${FEATURES}/constrained`);
    assert.deepEqual((await server().call('GET', '/context/userId/strategies')).body.strategies, []);
  });
});

describeInterface('strategy types', (server) => {
  it('refuse a strategy of a kind that nobody defined, and name the nearest one', async () => {
    await makeFlag(server().call, 'typed');
    const sent = { method: 'POST', path: strategiesOf('typed'), body: { name: 'flexibelRollout' } } as const;
    const response = await invalidAt(server(), '/body/name', sent);
    assert.match(response.body.message, /Did you mean "flexibleRollout"\?/);
  });

  it('can be defined, used, deprecated, and deleted once nothing uses them', async () => {
    await makeFlag(server().call, 'own-type');
    const parameters = [{ name: 'days', type: 'list', description: '', required: true }];
    const created = await server().call('POST', '/strategies', { name: 'onWeekdays', parameters });
    assert.equal(created.status, 201);
    assert.deepEqual([created.body.editable, created.body.deprecated], [true, false]);
    const strategy = await server().call('POST', strategiesOf('own-type'), { name: 'onWeekdays' });
    assert.equal(strategy.status, 200);
    await server().call('POST', '/strategies/onWeekdays/deprecate');
    assert.equal((await server().call('GET', '/strategies/onWeekdays')).body.deprecated, true);
    const deletion = { method: 'DELETE', path: '/strategies/onWeekdays' } as const;
    await refused(server(), 409, 'InvalidOperationError', deletion);
    await server().call('DELETE', `${strategiesOf('own-type')}/${strategy.body.id}`);
    assert.equal((await server().call('DELETE', '/strategies/onWeekdays')).status, 200);
  });

  it('that are predefined can neither be changed nor deleted', async () => {
    const body = { description: 'mine' };
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'PUT',
      path: '/strategies/default',
      body,
    });
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path: '/strategies/default' });
    const taken = { method: 'POST', path: '/strategies', body: { name: 'default' } } as const;
    await refused(server(), 409, 'NameExistsError', taken);
  });
});
