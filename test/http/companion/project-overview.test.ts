/** A project without its flags, and what forms ask before they change something. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addProject,
  addStrategy,
  archive,
  FEATURES,
  invalidAt,
  makeFlag,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('the overview of a project without its flags', (server) => {
  const overview = async (project: string) =>
    (await server().call('GET', `/projects/${project}/overview`)).body;

  it('counts the flags by type, without archived ones', async () => {
    await addProject(server(), 'counted');
    const create = (name: string, type: string) =>
      server().call('POST', '/projects/counted/features', { name, type });
    assert.deepEqual((await overview('counted')).featureTypeCounts, []);
    for (const [name, type] of [
      ['c.one', 'release'],
      ['c.two', 'release'],
      ['c.three', 'experiment'],
      ['c.gone', 'release'],
    ] as const)
      await create(name, type);
    await server().call('DELETE', '/projects/counted/features/c.gone');
    const { featureTypeCounts, members, environments, mode } = await overview('counted');
    assert.deepEqual(featureTypeCounts, [
      { type: 'release', count: 2 },
      { type: 'experiment', count: 1 },
    ]);
    assert.deepEqual([members, mode], [1, 'open']);
    assert.deepEqual(environments, [{ environment: 'development' }, { environment: 'production' }]);
  });

  it('says how far the project is: without flags, with one, and with one that an application uses', async () => {
    await addProject(server(), 'young');
    const status = async () => (await overview('young')).onboardingStatus;
    assert.deepEqual(await status(), { status: 'onboarding-started' });
    await server().call('POST', '/projects/young/features', { name: 'young.first' });
    await server().call('POST', '/projects/young/features', { name: 'young.second' });
    assert.deepEqual(await status(), { status: 'first-flag-created', feature: 'young.first' });
    const token = { tokenName: 'app', type: 'client', environment: 'development' };
    const { secret } = (await server().call('POST', '/api-tokens', token)).body;
    const bucket = {
      start: new Date().toISOString(),
      stop: new Date().toISOString(),
      toggles: { 'young.second': { yes: 1, no: 0 } },
    };
    const report = await server().callBelow('/api/client')(
      'POST',
      '/metrics',
      { appName: 'shop', instanceId: 'a', bucket },
      { token: secret },
    );
    assert.equal(report.status, 202);
    assert.deepEqual(await status(), { status: 'onboarded' });
  });

  it('is a 404 for a project that does not exist', async () => {
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/projects/nowhere/overview' });
  });
});

describeInterface('what forms ask before they change something', (server) => {
  it('a constraint is checked as strategies check it', async () => {
    const path = '/constraints/validate';
    const valid = { contextName: 'age', operator: 'NUM_GT', value: '18' };
    assert.equal((await server().call('POST', path, valid)).status, 204);
    await invalidAt(server(), '/body/value', { method: 'POST', path, body: { ...valid, value: 'old' } });
    await invalidAt(server(), '/body/operator', {
      method: 'POST',
      path,
      body: { ...valid, operator: 'NEAR' },
    });
  });

  it('flags that cannot be archived together are named, and so is that dependencies would end', async () => {
    const { call } = server();
    for (const name of ['a.child', 'a.parent', 'a.other']) await makeFlag(call, name);
    await call('POST', `${FEATURES}/a.child/dependencies`, { feature: 'a.parent' });
    const path = '/projects/default/archive/validate';
    const check = async (...features: readonly string[]) => (await call('POST', path, { features })).body;
    assert.deepEqual(await check('a.parent', 'a.other'), {
      parentsWithChildFeatures: ['a.parent'],
      hasDeletedDependencies: false,
    });
    assert.deepEqual(await check('a.parent', 'a.child'), {
      parentsWithChildFeatures: [],
      hasDeletedDependencies: true,
    });
    const body = { features: ['a.other', 'absent'] };
    const response = await refused(server(), 404, 'NotFoundError', { method: 'POST', path, body });
    assert.equal(response.body.details[0].path, '/body/features/1');
  });

  it('whether a project has dependencies, and which variants a parent has', async () => {
    await addProject(server(), 'plain');
    const { call } = server();
    const has = async () => (await call('GET', '/projects/plain/dependencies')).body;
    for (const name of ['p.child', 'p.parent']) await call('POST', '/projects/plain/features', { name });
    assert.equal(await has(), false);
    await call('POST', '/projects/plain/features/p.child/dependencies', { feature: 'p.parent' });
    assert.equal(await has(), true);
    await makeFlag(call, 'v.parent');
    const variant = (name: string) => ({ name, weight: 1000, stickiness: 'default' });
    await call('PUT', `${FEATURES}/v.parent/variants`, [variant('one')]);
    await addStrategy(call, 'v.parent', { variants: [variant('one'), variant('two')] });
    const options = await call('GET', `${FEATURES}/v.parent/parent-variants`);
    assert.deepEqual(options.body, ['one', 'two']);
    await archive(call, 'v.parent');
    assert.equal((await call('GET', `${FEATURES}/v.parent/parent-variants`)).status, 200);
  });
});
