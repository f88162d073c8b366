/** Tag types, tags of many flags, and other changes of many things at once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import '../../support/check-responses.ts';
import {
  addStrategy,
  archive,
  environmentPath,
  invalidAt,
  makeFlag,
  refused,
} from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

describeInterface('tag types', (server) => {
  it('are described, read, changed and deleted, and outlive a restart', async () => {
    const { call } = server();
    const team = { name: 'team', description: 'Who owns it', icon: 'T', color: '#0b5394' };
    assert.deepEqual((await call('POST', '/tag-types', team)).body, team);
    assert.equal((await call('PUT', '/tag-types/team', { icon: null })).status, 200);
    await server().restart();
    assert.deepEqual((await call('GET', '/tag-types/team')).body, {
      version: 1,
      tagType: { ...team, icon: null },
    });
    const names = async () =>
      (await call('GET', '/tag-types')).body.tagTypes.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names(), ['simple', 'team']);
    assert.equal((await call('DELETE', '/tag-types/team')).status, 200);
    assert.deepEqual(await names(), ['simple']);
    await refused(server(), 404, 'NotFoundError', { method: 'GET', path: '/tag-types/team' });
  });

  it('have names of their own, and the one that is always there stays', async () => {
    const create = { method: 'POST', path: '/tag-types' };
    await refused(server(), 409, 'NameExistsError', { ...create, body: { name: 'simple' } });
    await invalidAt(server(), '/body/name', { ...create, body: { name: 'two words' } });
    await invalidAt(server(), '/body/color', { ...create, body: { name: 'ok', color: 'red' } });
    const path = '/tag-types/simple';
    await refused(server(), 409, 'InvalidOperationError', { method: 'DELETE', path });
    assert.equal((await server().call('PUT', path, { description: 'Plain' })).status, 200);
    assert.equal((await server().call('GET', path)).body.tagType.description, 'Plain');
  });

  it('give their color to the tags of a flag, and of what a search finds', async () => {
    const { call } = server();
    await makeFlag(call, 'colored');
    await call('POST', '/tag-types', { name: 'bright', color: '#FF0000' });
    for (const type of ['bright', 'dull'])
      await call('POST', '/features/colored/tags', { type, value: 'tag' });
    const expected = [
      { type: 'bright', value: 'tag', color: '#FF0000' },
      { type: 'dull', value: 'tag', color: null },
    ];
    assert.deepEqual((await call('GET', '/features/colored/tags')).body.tags, expected);
    const { features } = (await call('GET', '/search/features?query=colored')).body;
    assert.deepEqual(features[0].tags, expected);
    await call('PUT', '/tag-types/bright', { color: '#00FF00' });
    assert.equal((await call('GET', '/features/colored/tags')).body.tags[0].color, '#00FF00');
  });
});

describeInterface('changes of many at once', (server) => {
  const tagsOf = async (flag: string) =>
    (await server().call('GET', `/features/${flag}/tags`)).body.tags.map(
      ({ type, value }: { type: string; value: string }) => `${type}:${value}`,
    );
  const red = { type: 'simple', value: 'red' };
  const blue = { type: 'team', value: 'blue' };

  it('add and remove tags, of one flag and of many, all or none', async () => {
    const { call } = server();
    for (const name of ['t.one', 't.two', 't.three']) await makeFlag(call, name);
    const path = '/projects/default/tags';
    const added = { features: ['t.one'], tags: { addedTags: [red, red, blue], removedTags: [] } };
    assert.equal((await call('PUT', path, added)).status, 200);
    assert.deepEqual(await tagsOf('t.one'), ['simple:red', 'team:blue']);
    const change = { addedTags: [blue], removedTags: [red] };
    const many = (...features: readonly string[]) => ({ features, tags: change });
    assert.equal((await call('PUT', path, many('t.one', 't.two'))).status, 200);
    assert.deepEqual([await tagsOf('t.one'), await tagsOf('t.two')], [['team:blue'], ['team:blue']]);
    await archive(call, 't.three');
    const refusal = { method: 'PUT', path, body: many('t.two', 't.three') } as const;
    await refused(server(), 409, 'InvalidOperationError', refusal);
    await refused(server(), 404, 'NotFoundError', { ...refusal, body: many('t.two', 'absent') });
    const short = { features: ['t.one'], tags: { addedTags: [{ value: 'x' }], removedTags: [] } };
    await invalidAt(server(), '/body/tags/addedTags/0/value', { method: 'PUT', path, body: short });
  });

  it('keep the limit of tags', async () => {
    await makeFlag(server().call, 't.full');
    const addedTags = Array.from({ length: 51 }, (_, at) => ({ value: `tag-${at}` }));
    const path = '/projects/default/tags';
    const body = { features: ['t.full'], tags: { addedTags, removedTags: [] } };
    await refused(server(), 400, 'ValidationError', { method: 'PUT', path, body });
    addedTags.pop();
    assert.equal((await server().call('PUT', path, body)).status, 200);
    assert.equal((await tagsOf('t.full')).length, 50);
  });

  it('switch flags, all or none', async () => {
    const { call } = server();
    const path = (position: string) => `/projects/default/bulk_features/environments/development/${position}`;
    const isOn = async (flag: string) => (await call('GET', environmentPath(flag))).body.enabled;
    for (const name of ['s.one', 's.two', 's.bare']) await makeFlag(call, name);
    for (const name of ['s.one', 's.two']) await addStrategy(call, name);
    const body = { features: ['s.one', 's.bare'] };
    const refusal = await refused(server(), 409, 'InvalidOperationError', {
      method: 'POST',
      path: path('on'),
      body,
    });
    assert.equal(refusal.body.details[0].path, '/body/features/1');
    const features = ['s.one', 's.two', 's.one'];
    assert.equal((await call('POST', path('on'), { features })).status, 200);
    assert.deepEqual([await isOn('s.one'), await isOn('s.two')], [true, true]);
    assert.equal((await call('POST', path('off'), { features: ['s.one'] })).status, 200);
    assert.deepEqual([await isOn('s.one'), await isOn('s.two')], [false, true]);
  });

  it('change the settings of a project', async () => {
    const path = '/projects/default/settings';
    assert.equal(
      (await server().call('PUT', path, { mode: 'protected', defaultStickiness: 'userId' })).status,
      200,
    );
    const { mode, defaultStickiness } = (await server().call('GET', '/projects/default/overview')).body;
    assert.deepEqual([mode, defaultStickiness], ['protected', 'userId']);
    await invalidAt(server(), '/body/mode', { method: 'PUT', path, body: { mode: 'secret' } });
  });
});
