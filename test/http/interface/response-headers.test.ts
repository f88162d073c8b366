/** Headers that tell clients, browsers and proxies what to do with a response. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeFlag } from '../../support/interface.ts';
import { describeInterface } from '../../support/server.ts';

const FLAG = '/projects/default/features/shown';

describeInterface('headers of responses', (server) => {
  it('say that nobody on the way may keep a response, and that its type is what it says', async () => {
    const { call } = server();
    const responses = [
      await call('GET', '/user/profile'),
      await call('GET', '/nothing'),
      await call('POST', '/projects/default/features', { name: 'uncached' }),
      await call('DELETE', '/projects/default/features/uncached'),
      await call('GET', '/projects', undefined, { token: null }),
    ];
    assert.deepEqual(
      responses.map(({ status }) => Math.floor(status / 100)),
      [2, 4, 2, 2, 4],
    );
    for (const { headers } of responses) {
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.match(headers.get('cache-control') ?? '', /^no-store$|^private, no-cache$/);
    }
  });

  it('let a client keep what has a tag, if it asks each time whether it is still good', async () => {
    const { call } = server();
    await makeFlag(call, 'shown');
    const first = await call('GET', FLAG);
    const etag = first.headers.get('etag') ?? '';
    const second = await call('GET', FLAG, undefined, { headers: { 'if-none-match': etag } });
    assert.deepEqual([first.status, second.status], [200, 304]);
    for (const { headers } of [first, second]) {
      assert.deepEqual([headers.get('etag'), headers.get('cache-control')], [etag, 'private, no-cache']);
    }
  });

  it('tell a caller without a token how to authenticate', async () => {
    const response = await server().call('GET', '/projects', undefined, { token: null });
    assert.deepEqual(
      [response.status, response.headers.get('www-authenticate')],
      [401, 'Bearer realm="flagstaff"'],
    );
    const known = await server().call('GET', '/nothing');
    assert.equal(known.headers.has('www-authenticate'), false);
  });
});

describeInterface('encoded bodies', (server) => {
  const create = (name: string, encoding: string) =>
    server().call(
      'POST',
      '/projects/default/features',
      { name },
      { headers: { 'content-encoding': encoding } },
    );

  for (const encoding of ['gzip', 'br', 'deflate, gzip', 'x']) {
    it(`with Content-Encoding ${encoding} are refused by name`, async () => {
      const { status, body } = await create('encoded', encoding);
      assert.deepEqual([status, body.name], [415, 'UnsupportedMediaTypeError']);
      assert.match(body.message, new RegExp(encoding));
    });
  }

  it('that say they are not encoded are taken', async () => {
    assert.equal((await create('plain', 'identity')).status, 201);
  });
});
