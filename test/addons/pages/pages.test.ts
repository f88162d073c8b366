/** How pages are served: headers, ETags, HEAD, the base path, over both engines. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { extname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { startTestServer, type TestServer } from '../../support/server.ts';

/** Pages, and what is served beside the files that they name. */
const PAGES = ['/', '/docs', '/welcome'];
const MORE = ['/docs/openapi.json'];

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

/** The name of a file that a browser keeps for ever. */
const WITH_DIGEST = /-(?:[0-9a-f]{10}|[0-9A-Z]{8})\.(?:css|js|svg)$/;

for (const basePath of ['', '/flags']) {
  describe(`pages under "${basePath}/"`, () => {
    let server: TestServer;
    /** Everything that the pages load. */
    const paths = [...PAGES, ...MORE];
    let script = '';
    before(async () => {
      server = await startTestServer({ env: { BASE_URI_PATH: basePath } });
      for (const page of PAGES) {
        const named = (await (await get(page)).text()).matchAll(/(?:src|href)="([a-z]+\/[^"]+\.[a-z]+)"/g);
        for (const [, file = ''] of named) if (!paths.includes(`/${file}`)) paths.push(`/${file}`);
      }
      script = paths.find((path) => path.startsWith('/console/chunk-')) ?? '';
    });
    after(() => server.stop());
    const get = (path: string, init: RequestInit = {}) =>
      fetch(`${server.origin}${basePath}${path}`, { redirect: 'manual', ...init });

    it('need no token, and have their content type and a policy that lets nothing foreign in', async () => {
      assert.equal(paths.filter((path) => path.endsWith('.js')).length, 5);
      for (const path of paths) {
        const response = await get(path);
        await response.arrayBuffer();
        assert.equal(response.status, 200, path);
        assert.equal(response.headers.get('content-type'), TYPES[extname(path)]);
        assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
        const policy = response.headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'; script-src 'self'; /);
        assert.match(policy, /connect-src 'self'; .*frame-ancestors 'none'/);
        assert.doesNotMatch(policy, /unsafe-eval|https?:|script-src[^;]*unsafe/);
      }
    });

    it('have few scripts of their own, one style or that of the console, and those of Swagger UI, which a browser keeps for ever', async () => {
      const own = paths.filter((path) => WITH_DIGEST.test(path));
      for (const folder of ['console', 'docs', 'welcome']) {
        const files = own.filter((path) => path.startsWith(`/${folder}/`)).map((path) => extname(path));
        // The page of links looks as the console does.
        const each = {
          console: ['.css', '.js', '.js'],
          docs: ['.css', '.css', '.js', '.js'],
          welcome: ['.js'],
        }[folder];
        assert.deepEqual(files.filter((kind) => kind !== '.svg').sort(), each);
      }
      for (const path of paths) {
        const response = await get(path);
        await response.arrayBuffer();
        const life = own.includes(path) ? 'public, max-age=31536000, immutable' : 'no-cache';
        assert.equal(response.headers.get('cache-control'), life, path);
      }
    });

    it('answer 304 to whom has them, and HEAD with the length of the body', async () => {
      for (const path of paths) {
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
      const path = script;
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
        '/console/app.js',
        '/console/index.html/',
        '/licenses.txt',
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
      for (const path of [
        '/api/admin/projects/{projectId}/features',
        '/health',
        '/ready',
        '/internal-backstage/prometheus',
      ])
        assert(path in document.paths, path);
      const outcome = await new Validator().validate(document);
      assert.deepEqual({ valid: outcome.valid, errors: outcome.errors }, { valid: true, errors: undefined });
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

/** The status for a path that `fetch` would resolve before it is sent. */
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
