/** How pages are served: headers, ETags, HEAD, the base path, over both engines. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { ENGINES, startTestServer, type TestServer } from '../../support/server.ts';

/** Path → content type. */
const PAGES = {
  '/': 'text/html; charset=utf-8',
  '/console/app.js': 'text/javascript; charset=utf-8',
  '/console/lib/preact.js': 'text/javascript; charset=utf-8',
  '/console/lib/preact-hooks.js': 'text/javascript; charset=utf-8',
  '/console/lib/signals.js': 'text/javascript; charset=utf-8',
  '/console/lib/signals-core.js': 'text/javascript; charset=utf-8',
  '/console/styles/base.css': 'text/css; charset=utf-8',
  '/console/icon.svg': 'image/svg+xml',
  '/docs': 'text/html; charset=utf-8',
  '/docs/docs.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
  '/docs/openapi.json': 'application/json; charset=utf-8',
};

for (const engine of ENGINES) {
  for (const basePath of ['', '/flags']) {
    describe(`pages under "${basePath}/" (${engine})`, () => {
      let server: TestServer;
      before(async () => {
        server = await startTestServer({ env: { HTTP_ENGINE: engine, BASE_URI_PATH: basePath } });
      });
      after(() => server.stop());
      const get = (path: string, init: RequestInit = {}) =>
        fetch(`${server.origin}${basePath}${path}`, { redirect: 'manual', ...init });

      it('need no token, and have their content type and a policy that lets nothing foreign in', async () => {
        for (const [path, type] of Object.entries(PAGES)) {
          const response = await get(path);
          await response.arrayBuffer();
          assert.equal(response.status, 200, path);
          assert.equal(response.headers.get('content-type'), type);
          assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
          const policy = response.headers.get('content-security-policy') ?? '';
          assert.match(policy, /default-src 'none'; script-src 'self'(?: 'sha256-[\w+/]{43}=')?; /);
          assert.match(policy, /connect-src 'self'; .*frame-ancestors 'none'/);
          assert.doesNotMatch(policy, /unsafe-eval|https?:|script-src[^;]*unsafe/);
        }
      });

      it('answer 304 to whom has them, and HEAD with the length of the body', async () => {
        for (const path of Object.keys(PAGES)) {
          const whole = await get(path);
          await whole.arrayBuffer();
          const etag = whole.headers.get('etag') ?? '';
          const known = await get(path, { headers: { 'if-none-match': etag } });
          assert.equal(known.status, 304, path);
          assert.equal(known.headers.get('etag'), etag);
          const head = await get(path, { method: 'HEAD' });
          assert.equal(head.headers.get('content-length'), whole.headers.get('content-length'));
          assert.equal(await head.text(), '');
          const changed = await get(path, { headers: { 'if-none-match': '"other"' } });
          assert.equal(changed.status, 200);
          await changed.arrayBuffer();
        }
      });

      it('are compressed in the coding that the browser likes best, each under a tag of its own', async () => {
        const path = '/console/lib/preact.js';
        const as = async (coding: string, headers: Record<string, string> = {}) => {
          const response = await get(path, { headers: { 'accept-encoding': coding, ...headers } });
          return { response, text: await response.text(), tag: response.headers.get('etag') ?? '' };
        };
        const plain = await as('identity');
        assert.equal(plain.response.headers.get('content-encoding'), null);
        const tags = [plain.tag];
        for (const coding of ['br', 'gzip']) {
          const { response, text, tag } = await as(coding);
          assert.equal(response.headers.get('content-encoding'), coding);
          assert.equal(response.headers.get('vary'), 'accept-encoding');
          assert.equal(text, plain.text);
          assert(Number(response.headers.get('content-length')) < text.length / 2);
          assert.equal((await as(coding, { 'if-none-match': tag })).response.status, 304);
          tags.push(tag);
        }
        assert.equal(new Set(tags).size, tags.length);
      });

      it('are served under no other spelling, and nothing else is served from their folders', async () => {
        const others = [
          '/docs/',
          '/console',
          '/console/',
          '/console/types.d.ts',
          '/console/tsconfig.json',
          '//',
        ];
        for (const path of [...others, '/console/..%2fpackage.json', '/docs/package.json']) {
          assert.equal((await get(path)).status, 404, path);
        }
        assert.equal(await statusOf(server.origin, `${basePath}/console/../../package.json`), 404);
        assert.equal((await get('/', { method: 'POST' })).status, 405);
      });

      it('describe the interface of this very server', async () => {
        const document = (await (await get('/docs/openapi.json')).json()) as {
          openapi: string;
          servers: unknown;
          paths: Record<string, unknown>;
        };
        assert.equal(document.openapi, '3.1.0');
        assert.deepEqual(document.servers, [{ url: basePath === '' ? '/' : basePath }]);
        assert('/api/admin/projects/{projectId}/features' in document.paths);
      });

      if (basePath !== '') {
        it('are led to from the base path without a slash, and are not at the root', async () => {
          const response = await get('');
          assert.equal(response.status, 308);
          assert.equal(response.headers.get('location'), `${basePath}/`);
          assert.equal((await fetch(`${server.origin}/`)).status, 404);
        });
      }
    });
  }
}

/** Of a path that `fetch` would resolve before it is sent. */
function statusOf(origin: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}
