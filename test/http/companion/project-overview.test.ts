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

  it('says how far the project is: without flags, and with one', async () => {
    await addProject(server(), 'young');
    const status = async () => (await overview('young')).onboardingStatus;
    assert.deepEqual(await status(), { status: 'onboarding-started' });
    await server().call('POST', '/projects/young/features', { name: 'young.first' });
    await server().call('POST', '/projects/young/features', { name: 'young.second' });
    assert.deepEqual(await status(), { status: 'first-flag-created', feature: 'young.first' });
  });

  it('is a 404 for a project that does not exist', async () => {
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/projects/nowhere/overview' });
  });
});
