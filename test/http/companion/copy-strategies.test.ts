/** Strategies copied from one environment to another: as one change, tried first, and with what stays the same kept. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addStrategy,
  archive,
  environmentPath,
  FEATURES,
  flagEvent,
  invalidAt,
  makeFlag,
  recording,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const copyPath = (flag: string, to = 'production') => `${environmentPath(flag, to)}/strategies/copy`;
const ROLLOUT = { name: 'flexibleRollout', parameters: { rollout: 35 }, title: 'a third' };

describeInterface('strategies copied between environments', (server) => {
  const strategiesIn = async (flag: string, environment: string) =>
    (await server().call('GET', `${environmentPath(flag, environment)}/strategies`)).body;
  const contentIn = async (flag: string, environment: string) =>
    (await strategiesIn(flag, environment)).map(({ id: _, ...content }: { id: string }) => content);
  const copy = (flag: string, query = '', headers = {}) =>
    server().call('POST', copyPath(flag) + query, { from: 'development' }, { headers });

  it('are told first, recorded as one change of ordinary events, and the same when asked for again', async () => {
    const { call } = server();
    await makeFlag(call, 'copied');
    await addStrategy(call, 'copied', ROLLOUT);
    await addStrategy(call, 'copied', {
      constraints: [{ contextName: 'country', operator: 'IN', values: ['NO'] }],
    });
    const kept = await addStrategy(
      call,
      'copied',
      { sortOrder: 1, ...{ constraints: [{ contextName: 'country', operator: 'IN', values: ['NO'] }] } },
      'production',
    );
    const changed = await addStrategy(
      call,
      'copied',
      { name: 'flexibleRollout', sortOrder: 0 },
      'production',
    );
    const removed = await addStrategy(call, 'copied', { name: 'default', sortOrder: 7 }, 'production');
    await call('POST', `${environmentPath('copied', 'production')}/on`);
    const { engine } = server().server.store;
    const before = engine.lastId;
    const tried = await copy('copied', '?dryRun=true');
    assert.deepEqual([tried.status, tried.body.dryRun, engine.lastId], [200, true, before]);
    const { response, events } = await recording(server(), () => copy('copied'));
    assert.deepEqual(
      { ...response.body, dryRun: true, events: response.body.events },
      { ...tried.body, events: tried.body.events },
      'what it told is what it did',
    );
    assert.equal(engine.feed.appliedSince(before, engine.lastId).length, 1, 'one frame');
    assert.deepEqual(
      events.map(({ type, environment, data, preData }) => [type, environment, data?.id ?? preData.id]),
      [
        ['feature-strategy-update', 'production', changed.id],
        ['feature-strategy-remove', 'production', removed.id],
      ],
    );
    assert.deepEqual(await contentIn('copied', 'production'), await contentIn('copied', 'development'));
    assert((await strategiesIn('copied', 'production')).some(({ id }: { id: string }) => id === kept.id));
    const { events: again } = await recording(server(), () => copy('copied'));
    assert.deepEqual(again, []);
  });

  it('go where there were none, under new ids, and switch nothing on', async () => {
    const { call } = server();
    await makeFlag(call, 'first');
    const { id } = await addStrategy(call, 'first', ROLLOUT);
    const tried = await copy('first', '?dryRun=true');
    assert.deepEqual(
      tried.body.events.map(({ data }: { data: { id: string } }) => data.id),
      ['new'],
    );
    const { response, events } = await recording(server(), () => copy('first'));
    const [added] = response.body.events;
    assert.notEqual(added.data.id, id);
    assert.deepEqual(events, [
      flagEvent('feature-strategy-add', 'first', { environment: 'production', data: added.data }),
    ]);
    const { body } = await call('GET', `${FEATURES}/first`);
    assert.deepEqual(
      body.environments.map(({ enabled }: { enabled: boolean }) => enabled),
      [false, false],
    );
  });

  it('switch off where they leave no enabled strategy', async () => {
    const { call } = server();
    await makeFlag(call, 'off');
    await addStrategy(call, 'off', { disabled: true });
    await addStrategy(call, 'off', {}, 'production');
    await call('POST', `${environmentPath('off', 'production')}/on`);
    const { events } = await recording(server(), () => copy('off'));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['feature-strategy-update', 'feature-environment-disabled'],
    );
  });

  it('are refused from where there are none, from nowhere, from itself, and when somebody was faster', async () => {
    const { call } = server();
    await makeFlag(call, 'refused');
    const path = copyPath('refused');
    await refused(server(), 409, 'InvalidOperationError', {
      method: 'POST',
      path,
      body: { from: 'development' },
    });
    for (const from of ['production', 'developmnt', 7]) {
      await invalidAt(server(), '/body/from', { method: 'POST', path, body: { from } });
    }
    await invalidAt(server(), '/query/dryRun', {
      method: 'POST',
      path: `${path}?dryRun=1`,
      body: { from: 'x' },
    });
    const { headers } = await call('GET', `${FEATURES}/refused`);
    await addStrategy(call, 'refused');
    const late = { headers: { 'if-match': headers.get('etag') ?? '' } };
    const body = { from: 'development' };
    await refused(server(), 412, 'PreconditionFailedError', { method: 'POST', path, body, ...late });
    await archive(call, 'refused');
    await refused(server(), 409, 'InvalidOperationError', { method: 'POST', path, body });
  });
});
