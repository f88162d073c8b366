/** Reports about projects, users and the service: each number is one that can be counted otherwise. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import { addStrategy, addUser, archive, FEATURES, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('reports', (server) => {
  const get = async (path: string, token?: string) => {
    const { status, body } = await server().call(
      'GET',
      path,
      undefined,
      token === undefined ? {} : { token },
    );
    assert.equal(status, 200, `${path}: ${body?.message}`);
    return body;
  };

  it('about a project count its flags, its members and what was done', async () => {
    const { call } = server();
    for (const name of ['old', 'new', 'stale', 'gone']) await makeFlag(call, name);
    await makeFlag(call, 'kill', { type: 'kill-switch' });
    await call('PUT', `${FEATURES}/stale`, { stale: true });
    await archive(call, 'gone');
    for (const environment of ['development', 'production']) {
      await addStrategy(call, 'new', {}, environment);
      for (const position of ['on', 'off', 'on'])
        await call('POST', `${FEATURES}/new/environments/${environment}/${position}`);
    }
    const { id } = await addUser(server(), 3);
    const other = await addUser(server(), 3);
    for (const user of [id, other.id]) await call('POST', `/projects/default/users/${user}/roles/5`);
    await call('DELETE', `/projects/default/users/${id}/roles/5`);
    const { totalEvents } = (await call('POST', '/events/search', { project: 'default', limit: 1 })).body;
    const insights = await get('/projects/default/insights');
    assert.deepEqual(insights.health, {
      rating: 75,
      activeCount: 3,
      potentiallyStaleCount: 0,
      staleCount: 1,
    });
    assert.deepEqual(insights.featureTypeCounts, [
      { type: 'release', count: 3 },
      { type: 'kill-switch', count: 1 },
    ]);
    const leadTime = { projectAverage: 0, features: [{ name: 'new', timeToProduction: 0 }] };
    assert.deepEqual(insights.leadTime, leadTime);
    // The first events of the folder made the project and its owner.
    assert.deepEqual(insights.members, { currentMembers: 2, change: 2 });
    assert.deepEqual(insights.stats, {
      avgTimeToProdCurrentWindow: 0,
      createdCurrentWindow: 5,
      createdPastWindow: 0,
      archivedCurrentWindow: 1,
      archivedPastWindow: 0,
      projectActivityCurrentWindow: totalEvents,
      projectActivityPastWindow: 0,
      projectMembersAddedCurrentWindow: 3,
    });
  });

  it('about the status count by day, and by the stages of flags', async () => {
    const { call } = server();
    await call('POST', '/segments', { name: 'own', project: 'default', constraints: [] });
    const token = { tokenName: 'sdk', type: 'client', projects: ['default'], environment: 'production' };
    await call('POST', '/api-tokens', token);
    const { totalEvents } = (await call('POST', '/events/search', { project: 'default', limit: 1 })).body;
    const { activityCountByDate, flagsByWeek, ...status } = await get('/projects/default/status');
    const sum = activityCountByDate.reduce((all: number, { count }: { count: number }) => all + count, 0);
    assert.equal(sum, totalEvents);
    assert.match(activityCountByDate[0].date, /^\d{4}-\d\d-\d\d$/);
    assert.equal(flagsByWeek.length, 12);
    const { date, ...counts } = flagsByWeek.at(-1);
    assert.deepEqual([new Date(date).getUTCDay(), counts], [1, { created: 5, archived: 1 }]);
    assert.deepEqual(flagsByWeek[0].created, 0);
    assert.deepEqual(status, {
      health: { current: 75 },
      technicalDebt: { current: 25 },
      resources: { apiTokens: 1, members: 2, segments: 1 },
      staleFlags: { total: 1 },
      lifecycleSummary: {
        initial: { averageDays: 0, currentFlags: 4 },
        preLive: { averageDays: null, currentFlags: 0 },
        live: { averageDays: null, currentFlags: 0 },
        completed: { averageDays: null, currentFlags: 0 },
        archived: { currentFlags: 1, last30Days: 1 },
      },
    });
    const stages = { initial: 4, preLive: 0, live: 0, completed: 0, archived: 1 };
    assert.deepEqual(await get('/lifecycle/count'), stages);
  });

  it('about the service count what there is, and stay after a restart', async () => {
    await get('/user', (await addUser(server(), 2)).token);
    const before = await get('/instance-admin/statistics');
    const { directory, flagProjects, projects } = server().server.store.engine.world;
    assert.deepEqual(
      [before.users, before.featureToggles, before.projects, before.environments],
      [directory.users.size, flagProjects.size, projects.size, directory.environments.length],
    );
    assert.deepEqual([before.activeUsers.last7, before.apiTokens.admin], [1, 1]);
    assert.deepEqual(before.clientApps[0], { range: 'allTime', count: 0 });
    await server().restart();
    const after = await get('/instance-admin/statistics');
    assert.deepEqual({ ...after, timestamp: before.timestamp }, before);
  });

  it('count the exports and imports of flags', async () => {
    const { call } = server();
    await makeFlag(call, 'exported');
    const kept = { environment: 'development', features: ['exported'] };
    assert.equal((await call('POST', '/features-batch/export', kept)).status, 200);
    const data = { features: [{ name: 'imported' }], featureStrategies: [] };
    const sent = { project: 'default', environment: 'production', data };
    assert.equal((await call('POST', '/features-batch/import', sent)).status, 200);
    const { featureExports, featureImports } = await get('/instance-admin/statistics');
    assert.deepEqual([featureExports, featureImports], [1, 1]);
  });
});
