/** The changes since a client asked last: the same changes as streams tell, on demand. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { addToken, makeRunningFlag } from '../../support/applications.ts';
import { addProject, environmentPath, makeFlag } from '../../support/interface.ts';
import { rawResponse } from '../../support/raw-response.ts';
import { describeInterface, type ReceivedResponse } from '../../support/server.ts';

describeInterface('GET /api/client/delta', (server) => {
  const ask = (token: string, etag?: string): Promise<ReceivedResponse> =>
    server().callBelow('/api/client')('GET', '/delta', undefined, {
      token,
      headers: etag === undefined ? {} : { 'if-none-match': etag },
    });
  const newToken = (fields: object = {}): Promise<string> =>
    addToken(server(), { type: 'client', environment: 'development', ...fields });

  it('gives all flags at first, then 304 until something changes, then what has changed', async () => {
    const token = await newToken();
    await makeRunningFlag(server().call, 'delta');
    const first = await ask(token);
    const [hydration] = first.body.events;
    assert.deepEqual(
      [first.status, hydration.type, first.headers.get('etag')],
      [200, 'hydration', `"${hydration.eventId}"`],
    );
    const etag = first.headers.get('etag') ?? '';
    for (const same of [etag, `W/${etag}`]) assert.equal((await ask(token, same)).status, 304);
    await server().call('POST', `${environmentPath('delta')}/off`);
    await makeFlag(server().call, 'delta-made');
    const changed = await ask(token, etag);
    assert.deepEqual(
      changed.body.events.map(({ type, feature }: { type: string; feature: { name: string } }) => [
        type,
        feature.name,
      ]),
      [
        ['feature-updated', 'delta'],
        ['feature-updated', 'delta-made'],
      ],
    );
    const newest = changed.headers.get('etag') ?? '';
    assert.equal(newest, `"${changed.body.events.at(-1).eventId}"`);
    assert.equal((await ask(token, newest)).status, 304);
  });

  it('compresses all flags as the client likes it, with the same tag in each coding', async () => {
    const token = await newToken();
    for (const name of ['large-a', 'large-b', 'large-c', 'large-d'])
      await makeRunningFlag(server().call, name);
    const raw = (coding: string, tag = '') =>
      rawResponse(`${server().origin}/api/client/delta`, {
        ...{ authorization: token, 'accept-encoding': coding, 'if-none-match': tag },
      });
    const plain = await raw('identity');
    const gzip = await raw('gzip,deflate');
    const br = await raw('br');
    const codings = [plain, gzip, br].map(({ headers }) => headers['content-encoding']);
    assert.deepEqual(codings, [undefined, 'gzip', 'br']);
    assert.deepEqual(gunzipSync(gzip.body), plain.body);
    assert.deepEqual(brotliDecompressSync(br.body), plain.body);
    for (const { headers } of [plain, gzip, br]) {
      assert.deepEqual([headers.etag, headers['vary']], [plain.headers.etag, 'accept-encoding']);
    }
    assert.equal((await raw('gzip', String(br.headers.etag))).status, 304);
    await server().call('POST', `${environmentPath('large-a')}/off`);
    const after = await raw('gzip');
    assert.notDeepEqual(gunzipSync(after.body), plain.body, 'what was compressed before is not sent again');
  });

  it('responds 304 after events that the token does not see', async () => {
    const { call } = server();
    const project = `hidden-${server().server.store.engine.lastId}`;
    await addProject(server(), project);
    await makeFlag(call, 'seen');
    const token = await newToken({ projects: ['default'] });
    const etag = (await ask(token)).headers.get('etag') ?? '';
    await call('POST', `/projects/${project}/features`, { name: 'unseen' });
    await call('POST', `${environmentPath('seen', 'production')}/strategies`, { name: 'default' });
    await call('POST', '/features/seen/tags', { type: 'simple', value: 'x' });
    assert.equal((await ask(token, etag)).status, 304);
  });

  it('gives all flags again for a tag that it never gave', async () => {
    const token = await newToken();
    await ask(token);
    for (const etag of ['"0"', '"999999999"', '"x"', '"76d8bb0e:lZ2J"']) {
      assert.equal((await ask(token, etag)).body.events[0].type, 'hydration', etag);
    }
  });

  it('tells what a flag has become once, however often it was switched', async () => {
    const token = await newToken();
    await makeRunningFlag(server().call, 'switched-often');
    const etag = (await ask(token)).headers.get('etag') ?? '';
    for (const to of ['off', 'on', 'off']) {
      await server().call('POST', `${environmentPath('switched-often')}/${to}`);
    }
    const { body } = await ask(token, etag);
    assert.deepEqual(
      body.events.map(({ feature }: { feature: { enabled: boolean } }) => feature.enabled),
      [false],
    );
  });

  it('goes on after a restart, from the id that a client has', async () => {
    const token = await newToken();
    await makeRunningFlag(server().call, 'restarted');
    const before = await ask(token);
    const etag = before.headers.get('etag') ?? '';
    await server().restart();
    assert.equal((await ask(token, etag)).status, 304);
    await server().call('POST', `${environmentPath('restarted')}/off`);
    const after = await ask(token, etag);
    assert.deepEqual(
      after.body.events.map(({ type }: { type: string }) => type),
      ['feature-updated'],
    );
    assert(after.body.events[0].eventId > before.body.events[0].eventId);
  });
});
