/** A flag's past: read it as it was after any event, and bring it back to that as one atomic change. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface, type TestServer } from '../../support/server.ts';

const path = (flag: string): string => `${FEATURES}/${flag}`;
const read = async (server: TestServer, flag: string) => (await server.call('GET', path(flag))).body;

/** Id of the newest event, and the flag as it is right after it. */
async function moment(server: TestServer, flag: string) {
  return { id: server.server.store.engine.lastId, flag: await read(server, flag) };
}

const rollback = (server: TestServer, flag: string, eventId: number, query = '') =>
  server.call('POST', `${path(flag)}/rollback${query}`, { eventId });

/** A flag with something in every corner that a rollback reaches. */
async function eventfulFlag(server: TestServer, name: string) {
  const { call } = server;
  const moments: { id: number; flag: unknown }[] = [];
  const note = async () => moments.push(await moment(server, name));
  await makeFlag(call, name, { description: 'first' });
  await note();
  const one = await addStrategy(call, name, { name: 'flexibleRollout', parameters: { rollout: 10 } });
  await note();
  await call('POST', `${environmentPath(name)}/on`);
  await note();
  const two = await addStrategy(call, name, { title: 'second' });
  await call('POST', `${environmentPath(name)}/strategies/set-sort-order`, [
    { id: one.id, sortOrder: 5 },
    { id: two.id, sortOrder: 1 },
  ]);
  await note();
  await call('PUT', `${path(name)}/variants`, [
    { name: 'a', weight: 1 },
    { name: 'b', weight: 1 },
  ]);
  await note();
  await call('PUT', `${environmentPath(name, 'production')}/variants`, [{ name: 'c', weight: 1 }]);
  await note();
  await call('POST', `/features/${name}/tags`, { type: 'team', value: 'blue' });
  await note();
  await call('PUT', path(name), { description: 'second', stale: true, type: 'experiment' });
  await note();
  await call('PATCH', `${environmentPath(name)}/strategies/${one.id}`, [
    { op: 'replace', path: '/parameters/rollout', value: 90 },
  ]);
  await note();
  await call('DELETE', `${environmentPath(name)}/strategies/${two.id}`);
  await note();
  await call('DELETE', `${environmentPath(name)}/strategies/${one.id}`);
  await note();
  await call('DELETE', `/features/${name}/tags/team/blue`);
  await note();
  return moments;
}

describeInterface('the past of a flag', (server) => {
  it('reads the flag as it was right after each of its events', async () => {
    const moments = await eventfulFlag(server(), 'past.read');
    for (const { id, flag } of moments) {
      const { status, body } = await server().call('GET', `${path('past.read')}?at=${id}`);
      assert.equal(status, 200);
      assert.deepEqual(body, flag, `as of event ${id}`);
    }
  });

  it('goes off with the last enabled strategy, and never on where all strategies are disabled', async () => {
    const { call } = server();
    await makeFlag(call, 'past.dimmed');
    const { id } = await addStrategy(call, 'past.dimmed', { disabled: true });
    await call('POST', `${environmentPath('past.dimmed')}/on`);
    const dimmed = await moment(server(), 'past.dimmed');
    await call('PUT', `${environmentPath('past.dimmed')}/strategies/${id}`, { name: 'default' });
    const back = await rollback(server(), 'past.dimmed', dimmed.id);
    const types = back.body.events.map(({ type }: { type: string }) => type);
    assert.deepEqual(types, ['feature-strategy-update', 'feature-environment-disabled']);
    const again = await rollback(server(), 'past.dimmed', dimmed.id);
    assert.deepEqual(again.body.events, [], 'and it stays off');
  });

  it('brings the flag back to each of its moments, from each other one', async () => {
    const moments = await eventfulFlag(server(), 'past.back');
    for (const { id, flag } of [...moments, ...moments.toReversed()]) {
      const { status, body } = await rollback(server(), 'past.back', id);
      assert.equal(status, 200, body.message);
      const now = await read(server(), 'past.back');
      assert.deepEqual(now, flag, `rolled back to event ${id} by ${JSON.stringify(body.events)}`);
    }
  });

  it('records the ordinary events of the change, in one frame, and shows them', async () => {
    const { call } = server();
    await makeFlag(call, 'past.events', { description: 'old' });
    const kept = await addStrategy(call, 'past.events', { title: 'kept' });
    await call('POST', `${environmentPath('past.events')}/on`);
    const { id } = await moment(server(), 'past.events');
    await call('PUT', path('past.events'), { description: 'new', stale: true });
    await addStrategy(call, 'past.events', { title: 'later' });
    await call('PATCH', `${environmentPath('past.events')}/strategies/${kept.id}`, [
      { op: 'replace', path: '/title', value: 'changed' },
    ]);
    await call('POST', `${environmentPath('past.events')}/off`);
    const { response, events } = await recording(server(), () => rollback(server(), 'past.events', id));
    assert.deepEqual(
      events.map(({ type, environment }) => [type, environment]),
      [
        ['feature-metadata-updated', null],
        ['feature-stale-off', null],
        ['feature-strategy-update', 'development'],
        ['feature-strategy-remove', 'development'],
        ['feature-environment-enabled', 'development'],
      ],
    );
    assert.deepEqual(
      response.body.events,
      events.map(({ type, environment, data, preData }) => ({ type, environment, data, preData })),
    );
    const { engine } = server().server.store;
    const frame = await engine.eventLog.readFrame(engine.lastId);
    assert.equal(frame?.events.length, events.length, 'one change is one frame');
    assert.equal(events[2]?.data.id, kept.id, 'a strategy that is still there keeps its id');
  });

  it('answers with dryRun=true what it would record, and changes nothing', async () => {
    const [first] = await eventfulFlag(server(), 'past.dry');
    assert(first !== undefined);
    const before = await moment(server(), 'past.dry');
    const planned = await rollback(server(), 'past.dry', first.id, '?dryRun=true');
    assert.equal(planned.status, 200);
    assert.equal(planned.body.dryRun, true);
    assert.deepEqual(await moment(server(), 'past.dry'), before);
    const done = await rollback(server(), 'past.dry', first.id, '?dryRun=false');
    assert.deepEqual(done.body, { ...planned.body, dryRun: false });
  });

  it('records nothing when the flag is like that already', async () => {
    await makeFlag(server().call, 'past.same');
    const { id } = await moment(server(), 'past.same');
    const { response, events } = await recording(server(), () => rollback(server(), 'past.same', id));
    assert.deepEqual([response.status, response.body.events, events], [200, [], []]);
  });

  it('takes an event in the middle of a change for the end of that change', async () => {
    await makeFlag(server().call, 'past.middle');
    await server().call('PUT', path('past.middle'), { stale: true });
    const { id, flag } = await moment(server(), 'past.middle');
    const { body } = await server().call('GET', `${path('past.middle')}?at=${id - 1}`);
    assert.deepEqual(body, flag);
  });

  it('shows dependencies and children as they were, and leaves them alone when rolling back', async () => {
    const { call } = server();
    await makeFlag(call, 'past.parent');
    await makeFlag(call, 'past.child');
    await call('POST', `${path('past.child')}/dependencies`, { feature: 'past.parent' });
    const child = await moment(server(), 'past.child');
    const parent = await moment(server(), 'past.parent');
    await call('DELETE', `${path('past.child')}/dependencies/past.parent`);
    const readAt = async (flag: string, id: number) => (await call('GET', `${path(flag)}?at=${id}`)).body;
    assert.deepEqual(await readAt('past.child', child.id), child.flag);
    assert.deepEqual((await readAt('past.parent', parent.id)).children, ['past.child']);
    assert.deepEqual((await rollback(server(), 'past.child', child.id)).body.events, []);
    assert.deepEqual((await read(server(), 'past.child')).dependencies, []);
  });

  it('leaves an environment alone that the project did not have then', async () => {
    const { call } = server();
    await makeFlag(call, 'past.later');
    const { id } = await moment(server(), 'past.later');
    await call('POST', '/environments', { name: 'past-later', type: 'test' });
    await call('POST', '/projects/default/environments', { environment: 'past-later' });
    await addStrategy(call, 'past.later', {}, 'past-later');
    const shown = (await call('GET', `${path('past.later')}?at=${id}`)).body;
    assert(!shown.environments.some((one: { name: string }) => one.name === 'past-later'));
    assert.deepEqual((await rollback(server(), 'past.later', id)).body.events, []);
    await call('POST', `${environmentPath('past.later', 'past-later')}/off`);
    await call('DELETE', '/projects/default/environments/past-later');
  });

  it('reads the past of a flag that was deleted and made again by the name it had', async () => {
    const { call } = server();
    await makeFlag(call, 'past.twice', { description: 'the first' });
    const first = await moment(server(), 'past.twice');
    await archive(call, 'past.twice');
    await call('DELETE', '/archive/past.twice');
    const gone = server().server.store.engine.lastId;
    await makeFlag(call, 'past.twice', { description: 'the second' });
    assert.deepEqual((await call('GET', `${path('past.twice')}?at=${first.id}`)).body, first.flag);
    assert.equal((await call('GET', `${path('past.twice')}?at=${gone}`)).status, 404);
  });

  it('refuses moments that are no moments of the flag', async () => {
    const { id: before } = await makeFlag(server().call, 'past.none').then(() =>
      moment(server(), 'past.none'),
    );
    const newest = server().server.store.engine.lastId;
    const post = { method: 'POST', path: `${path('past.none')}/rollback` };
    for (const eventId of [0, -1, 1.5, '1', null, newest + 1, before - 1]) {
      await invalidAt(server(), '/body/eventId', { ...post, body: { eventId } });
    }
    for (const at of ['0', 'x', '-1', '1.5']) {
      await refused(server(), 400, 'ValidationError', {
        method: 'GET',
        path: `${path('past.none')}?at=${at}`,
      });
    }
    for (const at of [newest + 1, before - 1]) {
      await refused(server(), 404, 'NotFoundError', { method: 'GET', path: `${path('past.none')}?at=${at}` });
    }
    await invalidAt(server(), '/query/dryRun', {
      ...post,
      path: `${post.path}?dryRun=yes`,
      body: { eventId: before },
    });
  });

  it('refuses to roll back a flag that is archived, unknown, or of another project', async () => {
    await makeFlag(server().call, 'past.archived');
    const { id } = await moment(server(), 'past.archived');
    await archive(server().call, 'past.archived');
    const body = { eventId: id };
    const post = { method: 'POST', body };
    await refused(server(), 409, 'InvalidOperationError', {
      ...post,
      path: `${path('past.archived')}/rollback`,
    });
    await refused(server(), 409, 'InvalidOperationError', {
      ...post,
      path: `${path('past.archived')}/rollback?dryRun=true`,
    });
    await refused(server(), 404, 'NotFoundError', { ...post, path: `${path('past.unknown')}/rollback` });
    await refused(server(), 404, 'NotFoundError', {
      ...post,
      path: '/projects/other/features/past.archived/rollback',
    });
  });

  it('decides against the state of now: two rollbacks at once end in one of the two states', async () => {
    const moments = await eventfulFlag(server(), 'past.race');
    const [a, b] = [moments[2], moments[7]];
    assert(a !== undefined && b !== undefined);
    const responses = await Promise.all([
      rollback(server(), 'past.race', a.id),
      rollback(server(), 'past.race', b.id),
    ]);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    );
    const now = JSON.stringify(await read(server(), 'past.race'));
    assert([a, b].some(({ flag }) => JSON.stringify(flag) === now));
  });
});
