import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { ADMIN_TOKEN, serverFor } from '../../support/server.ts';

it('the access log shows requests, and never a token that stands in a path', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const running = await serverFor(t, { log });
  try {
    const { body: token } = await running.call('POST', '/api-tokens', { tokenName: 'ci', type: 'admin' });
    const path = encodeURIComponent(token.secret);
    assert.equal((await running.call('GET', '/projects')).status, 200);
    assert.equal((await running.call('DELETE', `/api-tokens/${path}`)).status, 200);
    assert.equal((await running.call('GET', `/${path}`)).status, 404);
    assert.equal((await running.call('GET', `/${token.secret}/${ADMIN_TOKEN}`)).status, 404);
  } finally {
    await running.stop();
  }
  const paths = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'answered')
    .map((line) => line.path);
  assert.deepEqual(paths, [
    '/api/admin/api-tokens',
    '/api/admin/projects',
    '/api/admin/api-tokens/…',
    '/api/admin/…',
    '/api/admin/…/…',
  ]);
  assert(!lines.join('').includes(ADMIN_TOKEN.slice(ADMIN_TOKEN.indexOf('.'))));
});
