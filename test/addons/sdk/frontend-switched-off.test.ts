/** A server that does not serve SDKs in browsers. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addToken } from '../../support/applications.ts';
import { serverFor, startTestServer } from '../../support/server.ts';

it('with FRONTEND_API=off, there is nothing below /api/frontend, and pages may read that', async (t) => {
  const running = await serverFor(t, { env: { FRONTEND_API: 'off' } });

  const token = await addToken(running, { type: 'frontend', environment: 'development' });
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['POST', '/client/metrics'],
    ['GET', '/client/features'],
  ] as const) {
    const body = method === 'POST' ? {} : undefined;
    const response = await running.callBelow('/api/frontend')(method, path, body, { token });
    assert.deepEqual([response.status, response.body.name], [404, 'NotFoundError'], `${method} ${path}`);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
  }
  const preflight = await fetch(`${running.origin}/api/frontend`, { method: 'OPTIONS' });
  assert.equal(preflight.status, 204);
  const described = await fetch(`${running.origin}/docs/openapi.json`);
  const { paths } = (await described.json()) as { paths: object };
  assert.deepEqual(
    Object.keys(paths).filter((path) => path.startsWith('/api/frontend')),
    [],
  );
  const evaluated = await running.callBelow('/ofrep/v1')('POST', '/evaluate/flags', {}, { token });
  assert.equal(evaluated.status, 200, 'OpenFeature clients are served as ever');
});

it('refuses another value of FRONTEND_API with one line that names the variable', async () => {
  const message = 'FRONTEND_API must be one of on, off, not "yes".';
  await assert.rejects(startTestServer({ env: { FRONTEND_API: 'yes' } }), { name: 'ConfigError', message });
});
