/** The lines about requests, and the ids with which a request is found in them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  REFUSED_LOGINS_LOGGED_MAX,
  REFUSED_LOGINS_PERIOD_MS,
  RequestLog,
} from '../../../src/http/serving/request-log.ts';
import type { TransportRequestHead } from '../../../src/http/transport/transport.ts';
import { createLog } from '../../../src/process/log.ts';
import { serverFor, startTestServer, type TestServer } from '../../support/server.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the access log', () => {
  const lines: string[] = [];
  let server: TestServer;
  before(async () => {
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    server = await startTestServer({ log });
  });
  after(() => server.stop());
  // biome-ignore lint/suspicious/noExplicitAny: lines have fields of every kind.
  const lastLine = (): any => JSON.parse(lines.at(-1) ?? '{}');

  it('names actor, address, size and ids of a request, and its trace', async () => {
    const headers = { 'x-request-id': 'from/the-proxy=1', traceparent: TRACE };
    const response = await server.call('GET', '/projects', undefined, { headers });
    assert.equal(response.headers.get('x-request-id'), 'from/the-proxy=1');
    const { time, durationMs, ...line } = lastLine();
    assert(typeof durationMs === 'number' && time !== undefined);
    assert.deepEqual(line, {
      level: 'debug',
      requestId: 'from/the-proxy=1',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentId: 'b7ad6b7169203331',
      method: 'GET',
      path: '/api/admin/projects',
      address: '127.0.0.1',
      actor: 'admin',
      status: 200,
      bytes: Number(response.headers.get('content-length')),
      msg: 'answered',
    });
  });

  it('holds the id in the body of an error, which is the id of the request where it brought none', async () => {
    const response = await server.call('GET', '/nothing');
    assert.equal(response.headers.get('x-request-id'), response.body.id);
    assert.deepEqual([lastLine().errorId, lastLine().requestId], [response.body.id, response.body.id]);
    const named = await server.call('GET', '/nothing', undefined, { headers: { 'x-request-id': 'mine' } });
    assert.deepEqual([lastLine().errorId, lastLine().requestId], [named.body.id, 'mine']);
  });

  it('takes no id that is too long or could be mistaken for something else', async () => {
    for (const bad of ['x'.repeat(129), 'a b', '"quoted"', '<b>']) {
      const response = await server.call('GET', '/projects', undefined, {
        headers: { 'x-request-id': bad },
      });
      assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, bad);
      assert.equal(lastLine().requestId, response.headers.get('x-request-id'));
    }
  });

  it('leaves out a trace that the standard calls invalid', async () => {
    for (const bad of [
      `${TRACE}0`,
      TRACE.replace('00-', 'ff-'),
      TRACE.toUpperCase(),
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    ]) {
      await server.call('GET', '/projects', undefined, { headers: { traceparent: bad } });
      assert.equal(lastLine().traceId, undefined, bad);
    }
  });

  it('shows what the transport refused before a route saw it', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(2 ** 20) });
    const response = await server.call('POST', '/projects/default/features', body);
    assert.equal(response.status, 413);
    assert.match(response.body.message, /larger than 1 MiB/);
    const { errorId, path, status } = lastLine();
    assert.deepEqual(
      [errorId, path, status],
      [response.body.id, '/api/admin/projects/default/features', 413],
    );
  });
});

it('without an access log a request gets back only the id that it brought', async (t) => {
  const server = await serverFor(t);
  const idOf = async (headers: Record<string, string>): Promise<string | null> =>
    (await server.call('GET', '/projects', undefined, { headers })).headers.get('x-request-id');
  assert.deepEqual([await idOf({}), await idOf({ 'x-request-id': 'mine' })], [null, 'mine']);
});

describe('refused logins', () => {
  const head = {
    method: 'GET',
    path: '/api/admin/projects',
    query: '',
    header: (name: string) => (name === 'authorization' ? 'wrong' : ''),
    remoteAddress: () => '192.0.2.7',
    host: () => '',
  } satisfies TransportRequestHead;
  const refusal = { status: 401, headers: undefined as never, body: '{}' };

  it('are logged at info, a few in each minute, and counted all', () => {
    // biome-ignore lint/suspicious/noExplicitAny: lines have fields of every kind.
    const lines: any[] = [];
    let nowMs = 0;
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    const requests = new RequestLog(log, () => nowMs);
    const guess = (): void => requests.responded({ head, requestId: 'r', errorId: 'e' }, refusal);
    for (let i = 0; i < REFUSED_LOGINS_LOGGED_MAX + 5; i += 1) guess();
    assert.equal(lines.length, REFUSED_LOGINS_LOGGED_MAX);
    const { level, address, errorId, sentToken } = lines[0];
    assert.deepEqual([level, address, errorId, sentToken], ['info', '192.0.2.7', 'e', true]);
    nowMs += REFUSED_LOGINS_PERIOD_MS;
    guess();
    assert.equal(lines.at(-1).unloggedBefore, 5);
    assert.equal(requests.refusedLogins, REFUSED_LOGINS_LOGGED_MAX + 6);
    assert(!JSON.stringify(lines).includes('wrong'), 'a guess may be a token with a typing error');
  });
});
