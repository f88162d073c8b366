/** Signing in and out of the pages: the cookie, what it opens, and what no other site can do with it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addUser, FEATURES } from '../../support/interface.ts';
import { ADMIN_TOKEN, startTestServer, type TestServer } from '../../support/server.ts';

const EDITOR_ROLE_ID = 2;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

describe('the session of a browser', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ env: { BASE_URI_PATH: '/flags' } });
  });
  after(() => server.stop());

  const at = (path: string) => `${server.origin}/flags${path}`;
  const begin = (headers: Record<string, string>) => fetch(at('/auth/session'), { method: 'POST', headers });
  const admin = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    fetch(at(`/api/admin${path}`), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  async function cookieOf(token: string): Promise<string> {
    const response = await begin({ authorization: token });
    assert.equal(response.status, 204);
    return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  }

  it('is a cookie that no script reads and no other site sends, for HTTPS only where that is used', async () => {
    const plain = await begin({ authorization: ADMIN_TOKEN, origin: 'http://flags.example' });
    assert.match(
      plain.headers.get('set-cookie') ?? '',
      /^flagstaff_session=[\w-]+; Path=\/flags\/; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(plain.headers.get('set-cookie')?.includes('secret'), false);
    assert.equal(plain.headers.get('cache-control'), 'no-store');
    const secure = await begin({ authorization: `Bearer ${ADMIN_TOKEN}`, origin: 'https://flags.example' });
    assert.match(secure.headers.get('set-cookie') ?? '', /; SameSite=Strict; Secure$/);
  });

  it('is not missed at a first visit: what the console begins with says that nobody is signed in', async () => {
    for (const headers of [{}, { cookie: 'flagstaff_session=ended' }] as Record<string, string>[]) {
      const first = await fetch(at('/auth/console'), { headers });
      const { newestEventId, ...parts } = (await first.json()) as object & { newestEventId: number };
      assert.deepEqual([first.status, newestEventId], [200, 0]);
      assert.deepEqual(parts, { profile: null, me: null, projects: null, environments: null });
    }
    const page = await (await fetch(at('/internal-backstage/prometheus'))).text();
    assert.match(page, /^flagstaff_auth_failures_total 0$/m);
  });

  it('begins with a token that is good for the administrative interface, and with nothing else', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    for (const headers of [{}, { authorization: '*:*.wrong' }, { cookie }] as Record<string, string>[]) {
      const response = await begin(headers);
      assert.equal(response.status, 401, JSON.stringify(headers));
      assert.equal(response.headers.get('set-cookie'), null);
    }
    const created = await admin(
      'POST',
      '/api-tokens',
      { authorization: ADMIN_TOKEN },
      {
        tokenName: 'shop',
        type: 'client',
        environment: 'development',
        projects: ['*'],
      },
    );
    const { secret } = (await created.json()) as { secret: string };
    assert.equal((await begin({ authorization: secret })).status, 403);
  });

  it('stands in for the token, beside other cookies, for reads and for changes of its own pages', async () => {
    const { token, id } = await addUser(server, EDITOR_ROLE_ID);
    const cookie = `theme=dark; ${await cookieOf(token)}; other=1`;
    const me = await admin('GET', '/user', { cookie });
    assert.equal(((await me.json()) as { user: { id: number } }).user.id, id);
    const made = await admin('POST', FEATURES, { cookie, ...OWN_PAGE }, { name: `by-session` });
    assert.equal(made.status, 201);
    assert.equal(
      (await admin('GET', '/user-admin', { cookie })).status,
      403,
      'rights are those of the token',
    );
  });

  it('lets no page of another site, or of another port of this host, change anything', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
      { origin: 'http://other.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const { status } = await admin('POST', FEATURES, { cookie, ...headers }, { name: 'forged' });
      assert.equal(status, 403, JSON.stringify(headers));
    }
    assert.equal((await admin('GET', `${FEATURES}/forged`, { cookie })).status, 404);
  });

  it('lets a program write that sends the cookie and says nothing of where the request comes from', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    assert.equal((await admin('POST', FEATURES, { cookie }, { name: 'by-a-program' })).status, 201);
  });

  it('gives way to a token that is sent, and opens nothing but the administrative interface', async () => {
    const cookie = await cookieOf(ADMIN_TOKEN);
    assert.equal((await admin('GET', '/projects', { cookie, authorization: '*:*.wrong' })).status, 401);
    assert.equal((await fetch(at('/api/client/features'), { headers: { cookie } })).status, 401);
    for (const broken of ['flagstaff_session=', 'flagstaff_session=!', 'xflagstaff_session=Kjoq']) {
      assert.equal((await admin('GET', '/projects', { cookie: broken })).status, 401, broken);
    }
  });

  it('ends at sign-out, and with its token', async () => {
    const ended = await fetch(at('/auth/session'), { method: 'DELETE' });
    assert.equal(ended.status, 204);
    assert.match(
      ended.headers.get('set-cookie') ?? '',
      /^flagstaff_session=; Path=\/flags\/; .*; Max-Age=0$/,
    );

    const { token, id } = await addUser(server, EDITOR_ROLE_ID);
    const cookie = await cookieOf(token);
    assert.equal((await admin('DELETE', `/user-admin/${id}`, { authorization: ADMIN_TOKEN })).status, 200);
    assert.equal((await admin('GET', '/projects', { cookie })).status, 401);
  });
});
