/** Conditional requests and retries: ETag, If-None-Match, If-Match, Idempotency-Key. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { addUser } from '../../support/interface.ts';
import { ADMIN_TOKEN, describeInterface, serverFor, temporaryFolder } from '../../support/server.ts';

const FEATURES = '/projects/default/features';

describeInterface('conditional requests', (server) => {
  it('a flag that the client has is answered with 304 and no body, and again in full once it changed', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'cached' });
    const first = await call('GET', `${FEATURES}/cached`);
    const etag = first.headers.get('etag') ?? '';
    assert.match(etag, /^"[0-9]+-[0-9a-f]{8}"$/);
    const again = await call('GET', `${FEATURES}/cached`, undefined, {
      headers: { 'if-none-match': `"x", W/${etag}` },
    });
    assert.equal(again.status, 304);
    assert.equal(again.body, undefined);
    assert.equal(again.headers.get('etag'), etag);
    await call('PUT', `${FEATURES}/cached`, { description: 'changed' });
    const changed = await call('GET', `${FEATURES}/cached`, undefined, {
      headers: { 'if-none-match': etag },
    });
    assert.equal(changed.status, 200);
    assert.equal(changed.body.description, 'changed');
    assert.notEqual(changed.headers.get('etag'), etag);
  });

  it('an ETag outlives a restart', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'lasting' });
    const etag = (await call('GET', `${FEATURES}/lasting`)).headers.get('etag') ?? '';
    await server().restart();
    const again = await call('GET', `${FEATURES}/lasting`, undefined, { headers: { 'if-none-match': etag } });
    assert.equal(again.status, 304);
  });

  for (const path of ['/projects/default', FEATURES]) {
    it(`${path} has an ETag that changes when a flag in it does`, async () => {
      const { call } = server();
      const before = (await call('GET', path)).headers.get('etag') ?? '';
      assert.equal(
        (await call('GET', path, undefined, { headers: { 'if-none-match': before } })).status,
        304,
      );
      await call('POST', FEATURES, { name: `seen-in${path.replaceAll('/', '-')}` });
      assert.equal(
        (await call('GET', path, undefined, { headers: { 'if-none-match': before } })).status,
        200,
      );
    });
  }

  it('a write whose If-Match is out of date is 412 and changes nothing', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'guarded' });
    const mine = (await call('GET', `${FEATURES}/guarded`)).headers.get('etag') ?? '';
    await call('PUT', `${FEATURES}/guarded`, { description: 'theirs' });
    const headers = { 'if-match': mine };
    const writes = [
      ['PUT', '', { description: 'mine' }],
      ['PATCH', '', [{ op: 'replace', path: '/description', value: 'mine' }]],
      ['DELETE', '', undefined],
      ['POST', '/environments/development/strategies', { name: 'default' }],
      ['PUT', '/variants', []],
      ['POST', '/clone', { name: 'guarded-2' }],
    ] as const;
    const before = (await call('GET', '/projects/default')).headers.get('etag');
    for (const [method, path, body] of writes) {
      const refused = await call(method, `${FEATURES}/guarded${path}`, body, { headers });
      assert.equal(refused.status, 412, `${method} ${path}`);
      assert.equal(refused.body.name, 'PreconditionFailedError');
    }
    assert.equal((await call('GET', '/projects/default')).headers.get('etag'), before);
  });

  it('the settings and members of a project, segments, context fields and environments are pinned by their content', async () => {
    const { call } = server();
    await call('POST', '/projects', { id: 'pinned', name: 'Pinned' });
    await call('POST', '/context', { name: 'pinned' });
    await call('POST', '/environments', { name: 'pinned', type: 'test' });
    const user = await addUser(server(), 3);
    const segment = { name: 'pinned', constraints: [] };
    const { id } = (await call('POST', '/segments', segment)).body;
    const member = `/projects/pinned/users/${user.id}/roles`;
    await call('POST', `${member}/5`);
    const things = [
      ['/projects/pinned/overview', 'PUT', '/projects/pinned', (name: string) => ({ name })],
      [`/segments/${id}`, 'PUT', `/segments/${id}`, (name: string) => ({ ...segment, name })],
      ['/context/pinned', 'PUT', '/context/pinned', (description: string) => ({ description })],
      ['/environments/pinned', 'PUT', '/environments/update/pinned', (type: string) => ({ type })],
    ] as const;
    for (const [read, method, write, bodyOf] of things) {
      const tag = async () => (await call('GET', read)).headers.get('etag') ?? '';
      const before = await tag();
      const change = (text: string, ifMatch: string) =>
        call(method, write, bodyOf(text), { headers: { 'if-match': ifMatch } });
      assert.equal((await change('one', before)).status < 300, true, write);
      const late = await change('two', before);
      assert.deepEqual([late.status, late.body.name], [412, 'PreconditionFailedError'], write);
      const after = await tag();
      const unchanged = await call('GET', read, undefined, { headers: { 'if-none-match': after } });
      assert.equal(unchanged.status, 304, write);
      assert.equal((await change('two', '"x", *')).status, 412, write);
      assert.equal((await change('two', after)).status < 300, true, write);
    }
    const access = (await call('GET', '/projects/pinned/access')).headers.get('etag') ?? '';
    const pin = { headers: { 'if-match': access } };
    assert.equal((await call('PUT', `${member}/4`, undefined, pin)).status, 200);
    assert.equal((await call('DELETE', `${member}/4`, undefined, pin)).status, 412);
    const all = { roles: [{ id: 4, users: [user.id], groups: [] }] };
    const some = { roles: [4], users: [user.id], groups: [] };
    assert.equal((await call('PUT', '/projects/pinned/access', all, pin)).status, 412);
    assert.equal((await call('POST', '/projects/pinned/access', some, pin)).status, 412);
    const settings = (await call('GET', '/projects/pinned/overview')).headers.get('etag') ?? '';
    const former = { headers: { 'if-match': settings } };
    assert.equal((await call('PUT', '/projects/pinned', { name: 'newer' })).status < 300, true);
    const environments = '/projects/pinned/environments';
    const added = await call('POST', environments, { environment: 'pinned' }, former);
    assert.equal(added.status, 412);
    const removed = await call('DELETE', `${environments}/development`, undefined, former);
    assert.equal(removed.status, 412);
  });

  it('a write whose If-Match holds is carried out, once', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'raced' });
    const etag = (await call('GET', `${FEATURES}/raced`)).headers.get('etag') ?? '';
    const responses = await Promise.all(
      ['a', 'b', 'c'].map((description) =>
        call('PUT', `${FEATURES}/raced`, { description }, { headers: { 'if-match': etag } }),
      ),
    );
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 412, 412]);
  });
});

describeInterface('retries', (server) => {
  const key = (value: string) => ({ headers: { 'idempotency-key': value } });

  it('a retry gets the first response and changes nothing twice, across a restart too', async () => {
    const { call } = server();
    const first = await call('POST', FEATURES, { name: 'once' }, key('k1'));
    assert.equal(first.status, 201);
    const lastId = server().server.store.engine.lastId;
    const retry = await call('POST', FEATURES, { name: 'once' }, key('k1'));
    assert.deepEqual([retry.status, retry.body], [201, first.body]);
    await server().restart();
    const late = await call('POST', FEATURES, { name: 'once' }, key('k1'));
    assert.deepEqual([late.status, late.body], [201, first.body]);
    assert.equal(server().server.store.engine.lastId, lastId);
    assert.equal((await call('POST', FEATURES, { name: 'once' })).status, 409);
  });

  it('the query belongs to the request, and the word Bearer not to the caller', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'queried' });
    const eventId = server().server.store.engine.lastId;
    const change = { description: 'changed' };
    const put = (headers: Record<string, string>, query = '') =>
      call('PUT', `${FEATURES}/queried${query}`, change, {
        headers: { 'idempotency-key': 'q1', ...headers },
      });
    const first = await put({});
    assert.equal((await put({}, '?dryRun=true')).status, 409, 'another query is another request');
    const retry = await put({ authorization: `Bearer ${ADMIN_TOKEN}` });
    assert.deepEqual([retry.status, retry.body], [200, first.body]);
    await call('PUT', `${FEATURES}/queried`, { description: 'since' });
    await put({ authorization: `bearer   ${ADMIN_TOKEN}` });
    const { body } = await call('GET', `${FEATURES}/queried`);
    assert.equal(body.description, 'since', 'a retry under the other spelling changes nothing');
    assert.equal(server().server.store.engine.lastId, eventId + 2);
  });

  it('a retry of a switch does not switch again what somebody switched back', async () => {
    const { call } = server();
    const development = `${FEATURES}/switched/environments/development`;
    await call('POST', FEATURES, { name: 'switched' });
    await call('POST', `${development}/strategies`, { name: 'default' });
    assert.equal((await call('POST', `${development}/on`, undefined, key('k2'))).status, 200);
    await call('POST', `${development}/off`);
    assert.equal((await call('POST', `${development}/on`, undefined, key('k2'))).status, 200);
    const flag = await call('GET', `${FEATURES}/switched`);
    assert.equal(flag.body.environments[0].enabled, false);
  });

  it('one key for two different requests is refused', async () => {
    const { call } = server();
    await call('POST', FEATURES, { name: 'key-first' }, key('k3'));
    const other = await call('POST', FEATURES, { name: 'key-second' }, key('k3'));
    assert.equal(other.status, 409);
    assert.equal((await call('GET', `${FEATURES}/key-second`)).status, 404);
  });

  it('a refusal is not remembered: its cause may have gone', async () => {
    const { call } = server();
    const path = `${FEATURES}/not-yet/environments/development`;
    await call('POST', FEATURES, { name: 'not-yet' });
    assert.equal((await call('POST', `${path}/on`, undefined, key('k4'))).status, 409);
    await call('POST', `${path}/strategies`, { name: 'default' });
    assert.equal((await call('POST', `${path}/on`, undefined, key('k4'))).status, 200);
  });

  it('a key that is too long is refused', async () => {
    const response = await server().call('POST', FEATURES, { name: 'long-key' }, key('x'.repeat(256)));
    assert.equal(response.status, 400);
  });
});

it('a response is remembered for 24 hours by the clock of the journal', async (t) => {
  let now = Date.UTC(2030, 0, 1);
  const clock = { now: () => now, defer: setImmediate, monotonic: () => performance.now() };
  const server = await serverFor(t, { store: { clock } });
  const create = () =>
    server.call('POST', FEATURES, { name: 'daily' }, { headers: { 'idempotency-key': 'day' } });
  assert.equal((await create()).status, 201);
  now += 24 * 60 * 60 * 1000 - 1;
  assert.equal((await create()).status, 201);
  now += 1;
  assert.equal((await create()).status, 409);
});

it('a copy of a data folder gives its own events other ETags, and the events of both the same ones', async (t) => {
  const server = await serverFor(t);
  await server.call('POST', FEATURES, { name: 'copied' });
  await server.call('POST', FEATURES, { name: 'untouched' });
  const untouched = (await server.call('GET', `${FEATURES}/untouched`)).headers.get('etag');
  const etag = (await server.call('GET', `${FEATURES}/copied`)).headers.get('etag') ?? '';
  const copy = temporaryFolder();
  await server.server.store.engine.journal.flush();
  cpSync(server.folder, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  await server.call('PUT', `${FEATURES}/copied`, { description: 'here' });
  const other = await serverFor(t, { folder: copy });
  await other.call('PUT', `${FEATURES}/copied`, { description: 'there' });
  const here = (await server.call('GET', `${FEATURES}/copied`)).headers.get('etag');
  const there = (await other.call('GET', `${FEATURES}/copied`)).headers.get('etag') ?? '';
  assert.notEqual(here, there);
  assert.notEqual(there, etag);
  const headers = { 'if-match': here ?? '' };
  assert.equal(
    (await other.call('PUT', `${FEATURES}/copied`, { description: 'lost' }, { headers })).status,
    412,
  );
  assert.equal((await other.call('GET', `${FEATURES}/untouched`)).headers.get('etag'), untouched);
  await other.restart();
  assert.equal((await other.call('GET', `${FEATURES}/copied`)).headers.get('etag'), there);
});

it('a folder put back in place answers no stale 304, and If-Match loses no update', async (t) => {
  const server = await serverFor(t);
  await server.call('POST', FEATURES, { name: 'put-back' });
  await server.restart();
  const old = contentOf(server.folder);
  await server.call('PUT', `${FEATURES}/put-back`, { description: 'undone' });
  const undone = (await server.call('GET', `${FEATURES}/put-back`)).headers.get('etag') ?? '';
  const list = (await server.call('GET', FEATURES)).headers.get('etag') ?? '';
  await server.restart(() => putBack(server.folder, old));
  await server.call('PUT', `${FEATURES}/put-back`, { description: 'another' });
  const read = await server.call('GET', `${FEATURES}/put-back`, undefined, {
    headers: { 'if-none-match': undone },
  });
  assert.deepEqual([read.status, read.body.description], [200, 'another']);
  assert.equal(
    (await server.call('GET', FEATURES, undefined, { headers: { 'if-none-match': list } })).status,
    200,
  );
  const lost = { headers: { 'if-match': undone } };
  assert.equal((await server.call('PUT', `${FEATURES}/put-back`, { description: 'lost' }, lost)).status, 412);
});

/** The contents of every file in the journal and the snapshots, by path. */
function contentOf(folder: string): ReadonlyMap<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [path, readFileSync(path)]));
}

/** The files and folders stay the ones that they are; only what is in them goes back. */
function putBack(folder: string, old: ReadonlyMap<string, Buffer>): void {
  for (const path of contentOf(folder).keys()) if (!old.has(path)) rmSync(path);
  for (const [path, content] of old) writeFileSync(path, content);
}

describeInterface('events that the client has', (server) => {
  it('are answered with 304 until one more is recorded; a search carries the tag and is always answered', async () => {
    const { call } = server();
    const etag = (await call('GET', '/events')).headers.get('etag') ?? '';
    const headers = { 'if-none-match': etag };
    assert.equal((await call('GET', '/events', undefined, { headers })).status, 304);
    const search = await call('POST', '/events/search', {}, { headers });
    assert.deepEqual([search.status, search.headers.get('etag')], [200, etag]);
    await call('POST', FEATURES, { name: 'one-more' });
    assert.equal((await call('GET', '/events', undefined, { headers })).status, 200);
  });
});
