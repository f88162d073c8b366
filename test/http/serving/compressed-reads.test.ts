/** Reads of the administrative interface in the coding that the client likes best. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import '../../support/check-responses.ts';
import { addStrategy, environmentPath, FEATURES, makeFlag } from '../../support/interface.ts';
import { rawResponse } from '../../support/raw-response.ts';
import { ADMIN_TOKEN, describeInterface } from '../../support/server.ts';

const DECODED = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gunzipSync(bytes),
  br: (bytes: Buffer) => brotliDecompressSync(bytes),
} as const;

describeInterface('compressed reads', (server) => {
  const get = async (path: string, coding: string, tag = '') => {
    const { status, headers, body } = await rawResponse(`${server().origin}/api/admin${path}`, {
      ...{ authorization: ADMIN_TOKEN, 'accept-encoding': coding, 'if-none-match': tag },
    });
    const used = (headers['content-encoding'] ?? 'identity') as keyof typeof DECODED;
    return {
      status,
      used,
      vary: headers.vary,
      etag: String(headers.etag),
      bytes: body.byteLength,
      body: DECODED[used](body),
    };
  };

  it('of flags, lists and searches are the same in each coding, each with its own strong tag', async () => {
    // So many that their list is sent in pieces.
    const names = Array.from({ length: 550 }, (_, at) => `packed-${at}`);
    await Promise.all(names.map((name) => makeFlag(server().call, name)));
    await addStrategy(
      server().call,
      'packed-0',
      {
        constraints: [
          {
            contextName: 'userId',
            operator: 'IN',
            values: Array.from({ length: 200 }, (_, at) => `user-${at}`),
          },
        ],
      },
      'production',
    );
    const [flag, list] = [`${FEATURES}/packed-0`, FEATURES];
    for (const path of [flag, list, '/projects/default', '/search/features?limit=50']) {
      const plain = await get(path, 'identity');
      for (const coding of ['gzip, deflate', 'br'] as const) {
        const coded = await get(path, coding);
        const isList = path === list || path === '/projects/default';
        if (isList) assert.ok(plain.bytes > 256 * 1024, `${path}: ${plain.bytes} bytes`);
        const expected = coding === 'br' ? (isList ? 'identity' : 'br') : 'gzip';
        assert.equal(coded.used, expected, `${path} as ${coding}`);
        assert.ok(coded.body.equals(plain.body), `${path} as ${coding}`);
        if (expected === 'identity') continue;
        assert.ok(
          coded.bytes < plain.bytes / 3,
          `${path} as ${coding}: ${coded.bytes} of ${plain.bytes} bytes`,
        );
        assert.match(String(coded.vary), /accept-encoding/i);
        if (plain.etag === 'undefined') continue;
        assert.equal(coded.etag, `${plain.etag.slice(0, -1)}:${coded.used}"`);
        assert.match(String(plain.vary), /accept-encoding/i);
        for (const known of [coded.etag, plain.etag]) {
          assert.equal((await get(path, coding, known)).status, 304, `${path} with ${known}`);
        }
        assert.equal((await get(path, 'identity', coded.etag)).status, 200, 'the tag of another coding');
      }
    }
    const both = await get(list, 'br, gzip');
    assert.equal(both.used, 'gzip', 'of pieces, there is gzip only');
  });

  it('follow each change, and their tags are good for If-Match', async () => {
    const path = `${FEATURES}/changing`;
    await makeFlag(server().call, 'changing', { description: 'x'.repeat(2_000) });
    const first = await get(path, 'gzip');
    assert.equal(first.used, 'gzip');
    const put = (etag: string, description: string) =>
      server().call('PUT', path, { description }, { headers: { 'if-match': etag } });
    assert.equal((await put(first.etag, 'y'.repeat(2_000))).status, 200);
    assert.equal((await put(first.etag, 'z')).status, 412);
    const second = await get(path, 'gzip', first.etag);
    assert.equal(second.status, 200);
    assert.equal(JSON.parse(second.body.toString()).description, 'y'.repeat(2_000));
    const { body } = await server().call('GET', FEATURES);
    assert.equal(
      body.features.find(({ name }: { name: string }) => name === 'changing').description,
      'y'.repeat(2_000),
    );
    await server().call('POST', `${environmentPath('changing')}/off`);
    const values = Array.from({ length: 200 }, (_, at) => `user-${at}`);
    const constraints = [{ contextName: 'userId', operator: 'IN', values }];
    const made = await server().call('POST', '/segments', { name: 'many', constraints });
    const segment = await get(`/segments/${made.body.id}`, 'gzip');
    assert.equal(segment.used, 'gzip');
    const write = (name: string) =>
      server().call(
        'PUT',
        `/segments/${made.body.id}`,
        { name, constraints },
        { headers: { 'if-match': segment.etag } },
      );
    assert.equal((await write('more')).status, 204);
    assert.equal((await write('most')).status, 412);
  });

  it('of little are sent as they are, and errors too', async () => {
    assert.equal((await get('/environments/production', 'gzip')).used, 'identity');
    const missing = await get(`/projects/default/features/${'x'.repeat(90)}`, 'gzip');
    assert.deepEqual([missing.status, missing.used], [404, 'identity']);
  });
});
