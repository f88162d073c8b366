/** The search of events by query parameters (docs/specification/events.md#search-by-parameters). */
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import '../../support/check-responses.ts';
import { addProject, addUser, invalidAt, makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

describeInterface('the search of events by parameters', (server) => {
  let userId: number;
  const search = async (query: string) => {
    const { status, body } = await server().call('GET', `/search/events?${query}`);
    assert.equal(status, 200, body?.message);
    return body;
  };
  const names = async (query: string) =>
    (await search(query)).events.map((event: { featureName: string }) => event.featureName);

  before(async () => {
    await addProject(server(), 'elsewhere');
    for (const name of ['s.one', 's.two', 's.three']) await makeFlag(server().call, name);
    await server().call('POST', '/projects/elsewhere/features', { name: 's.four' });
    const user = await addUser(server(), 1);
    userId = user.id;
    await server().call('POST', '/projects/default/features', { name: 's.five' }, { token: user.token });
  });

  it('takes one value, or several of which any will do', async () => {
    assert.deepEqual(await names('feature=IS:s.one'), ['s.one']);
    assert.deepEqual(await names('feature=IS_ANY_OF:s.one,s.three'), ['s.three', 's.one']);
    assert.deepEqual(await names('project=IS:elsewhere&type=IS:feature-created'), ['s.four']);
    const both = 'project=IS_ANY_OF:elsewhere,default&type=IS_ANY_OF:feature-created,feature-archived';
    assert.deepEqual(await names(both), ['s.five', 's.four', 's.three', 's.two', 's.one']);
    assert.deepEqual(await names('feature=IS:absent'), []);
    assert.deepEqual(await names('type=IS:feature-made'), [], 'as a type of a newer Unleash');
  });

  it('finds by the environment, and by ids, together with all else', async () => {
    const path = '/projects/default/features/s.two/environments';
    for (const environment of ['development', 'production'])
      await server().call('POST', `${path}/${environment}/strategies`, { name: 'default' });
    const added = 'type=IS:feature-strategy-add';
    const found = async (query: string) =>
      (await search(query)).events.map((event: { environment: string }) => event.environment);
    assert.deepEqual(await found(`${added}&environment=IS:production`), ['production']);
    assert.deepEqual(await found('environment=IS:production&feature=IS:s.two'), ['production']);
    assert.deepEqual(await found(`${added}&environment=IS_ANY_OF:production,development`), [
      'production',
      'development',
    ]);
    assert.deepEqual(await found('environment=IS:nowhere'), []);
    const { lastId } = server().server.store.engine;
    const ids = `id=IS_ANY_OF:${lastId - 1},${lastId},${lastId + 1000}`;
    for (const text of ['', '&query=default']) {
      const both = await search(ids + text);
      assert.deepEqual(
        [both.total, ...both.events.map((event: { id: number }) => event.id)],
        [2, lastId, lastId - 1],
      );
    }
    assert.deepEqual(await found(`${ids}&environment=IS:development`), ['development']);
    assert.deepEqual(await found(`id=IS:${lastId}&type=IS:feature-created`), []);
    assert.deepEqual(await found('groupId=IS:1'), [], 'events have no groups');
  });

  it('finds by who made the change, and by text', async () => {
    assert.deepEqual(await names(`createdBy=IS:${userId}`), ['s.five']);
    assert.deepEqual(await names('createdBy=IS:-42&type=IS:feature-created&query=s.o'), ['s.one']);
    assert.deepEqual(await names('createdBy=IS:99999'), []);
  });

  it('passes over the newest matches, with and without text, and says where the next page starts', async () => {
    for (const text of ['', '&query=s.']) {
      const query = `type=IS:feature-created${text}`;
      const page = await search(`${query}&limit=2&offset=1`);
      assert.deepEqual([page.total, page.nextOffset], [5, 3]);
      assert.deepEqual(await names(`${query}&limit=2&offset=1`), ['s.four', 's.three']);
      assert.deepEqual(await names(`${query}&limit=2&offset=3`), ['s.two', 's.one']);
      assert.equal((await search(`${query}&limit=2&offset=3`)).nextOffset, undefined);
    }
    const all = await search('limit=3&offset=1');
    const { lastId } = server().server.store.engine;
    assert.deepEqual(
      all.events.map(({ id }: { id: number }) => id),
      [lastId - 1, lastId - 2, lastId - 3],
    );
  });

  it('finds by days, of which the last one counts whole', async () => {
    const today = dayOf(Date.now());
    const { total } = await search('');
    assert.equal(
      (await search(`from=IS:${dayOf(Date.now() - DAY_MS)}&to=IS:${dayOf(Date.now() + DAY_MS)}`)).total,
      total,
    );
    assert.equal((await search(`to=IS:${dayOf(Date.now() - 2 * DAY_MS)}`)).total, 0);
    assert.equal((await search(`from=IS:${dayOf(Date.now() + 2 * DAY_MS)}`)).total, 0);
    assert((await search(`from=IS:${today}&query=s.five`)).total <= 1);
  });

  it('refuses what cannot be, and names the parameter', async () => {
    for (const [name, value] of [
      ['project', 'default'],
      ['project', 'IS:'],
      ['feature', 'IS_NOT:s.one'],
      ['createdBy', 'IS:ada'],
      ['id', 'IS:0'],
      ['id', 'IS_ANY_OF:1,-2'],
      ['from', 'IS:yesterday'],
      ['to', 'IS:2024-13-01'],
      ['limit', '1001'],
      ['offset', '-1'],
    ] as const) {
      await invalidAt(server(), `/query/${name}`, { method: 'GET', path: `/search/events?${name}=${value}` });
    }
  });

  it('shows no event about users and tokens to those who may not list them, by no filter and in no count', async () => {
    const { call } = server();
    const viewer = await addUser(server(), 3);
    const gone = await call('POST', '/user-admin', { email: 'gone@people.test', rootRole: 3 });
    assert.equal((await call('DELETE', `/user-admin/${gone.body.id}`)).status, 200);
    const token = { tokenName: 'gone@tokens.test', type: 'client', projects: ['*'] };
    assert.equal((await call('POST', '/api-tokens', token)).status, 201);
    const reads = [
      ['GET', '/search/events?query=gone@'],
      ['GET', '/search/events?type=IS_ANY_OF:user-created,user-deleted,api-token-created'],
      ['POST', '/events/search', { query: 'gone@' }],
      ['POST', '/events/search', { type: 'user-deleted' }],
    ] as const;
    for (const [method, path, body] of reads) {
      const whole = (await call(method, path, body)).body;
      assert((whole.total ?? whole.totalEvents) > 0, path);
      const seen = (await call(method, path, body, { token: viewer.token })).body;
      assert.deepEqual([seen.events, seen.total ?? seen.totalEvents], [[], 0], path);
    }
    for (const path of ['/events', '/search/events']) {
      const [whole, seen] = [await call('GET', path), await call('GET', path, undefined, viewer)];
      assert.match(JSON.stringify(whole.body), /gone@people/);
      assert.doesNotMatch(JSON.stringify(seen.body), /gone@|"user-created"|"pat-created"/);
      assert.match(JSON.stringify(seen.body), /"feature-created"/);
      assert.notEqual(seen.headers.get('etag'), whole.headers.get('etag'));
    }
  });
});
