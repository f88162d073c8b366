/** A project without its flags, and what forms ask before they change something. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addProject, refused } from '../../support/interface.ts';
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
