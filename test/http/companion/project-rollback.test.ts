/** A project brought back to a moment: all of its flags as one change, tried first, and bounded. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FLAGS_MAX } from '../../../src/http/admin/flag-history.ts';
import '../../support/check-responses.ts';
import { addProject, invalidAt, recording, refused } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('the rollback of a project', (server) => {
  const at = (project: string, name = '') => `/projects/${project}/features${name === '' ? '' : `/${name}`}`;
  const make = async (project: string, name: string) => {
    assert.equal((await server().call('POST', at(project), { name })).status, 201);
  };
  const describe = (project: string, name: string, description: string) =>
    server().call('PUT', at(project, name), { description });
  const lastId = () => server().server.store.engine.lastId;
  const flagsOf = async (project: string) =>
    (await server().call('GET', at(project))).body.features.map(
      ({ name, description }: { name: string; description: string }) => `${name} ${description}`,
    );

  it('changes every flag back as one change, and leaves those made, archived and changed elsewhere', async () => {
    const { call } = server();
    for (const project of ['back', 'beside']) await addProject(server(), project);
    for (const name of ['back.a', 'back.b', 'back.gone']) await make('back', name);
    await make('beside', 'beside.a');
    for (const name of ['back.a', 'back.b']) await describe('back', name, 'then');
    await call('POST', `${at('back', 'back.a')}/environments/development/strategies`, { name: 'default' });
    const moment = lastId();
    for (const name of ['back.a', 'back.b', 'back.gone']) await describe('back', name, 'now');
    await call('POST', `${at('back', 'back.a')}/environments/development/on`);
    await describe('beside', 'beside.a', 'now');
    await make('back', 'back.new');
    await call('DELETE', at('back', 'back.gone'));
    const before = lastId();
    const path = '/projects/back/rollback';
    const tried = await call('POST', `${path}?dryRun=true`, { eventId: moment });
    assert.deepEqual([tried.status, tried.body.dryRun, lastId()], [200, true, before]);
    const { response, events } = await recording(server(), () => call('POST', path, { eventId: moment }));
    assert.deepEqual(response.body, { ...tried.body, dryRun: false });
    const { feed } = server().server.store.engine;
    assert.equal(feed.appliedSince(before, lastId()).length, 1, 'one frame');
    assert.deepEqual(
      events.map(({ featureName, type }) => [featureName, type]),
      [
        ['back.a', 'feature-metadata-updated'],
        ['back.a', 'feature-environment-disabled'],
        ['back.b', 'feature-metadata-updated'],
      ],
    );
    assert.deepEqual(await flagsOf('back'), ['back.a then', 'back.b then', 'back.new ']);
    const { events: again } = await recording(server(), () => call('POST', path, { eventId: moment }));
    assert.deepEqual(again, []);
  });

  it('is refused for an event that is not there, and for more flags than one decision may take', async () => {
    await addProject(server(), 'many');
    const path = '/projects/many/rollback';
    const call = { method: 'POST', path };
    for (const eventId of [0, lastId() + 1_000])
      await invalidAt(server(), '/body/eventId', { ...call, body: { eventId } });
    for (let count = 0; count <= FLAGS_MAX; count += 1) await make('many', `many.${count}`);
    const eventId = lastId();
    const names = Array.from({ length: FLAGS_MAX + 1 }, (_, count) => `many.${count}`);
    const stale = (features: readonly string[]) =>
      server().call('POST', '/projects/many/stale', { features, stale: true });
    assert.equal((await stale(names.slice(1))).status, 202);
    const { status, body } = await server().call('POST', path, { eventId });
    assert.deepEqual([status, body.events.length], [200, 2 * FLAGS_MAX], 'all that one change has changed');
    assert.equal((await stale(names.slice(1))).status, 202);
    assert.equal((await stale(names.slice(0, 1))).status, 202);
    await refused(server(), 409, 'InvalidOperationError', { ...call, body: { eventId } });
    await refused(server(), 404, 'NotFoundError', {
      method: 'POST',
      path: '/projects/nowhere/rollback',
      body: { eventId },
    });
  });

  it('is refused where the flags take more than one decision may compare', async () => {
    await addProject(server(), 'large');
    const names = Array.from({ length: 110 }, (_, count) => `large.${count}`);
    for (const name of names) await make('large', name);
    for (const name of names) await describe('large', name, 'x'.repeat(10_000));
    const eventId = lastId();
    for (const name of names) await describe('large', name, 'y'.repeat(10_000));
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'POST',
      path: '/projects/large/rollback',
      body: { eventId },
    });
  });
});
