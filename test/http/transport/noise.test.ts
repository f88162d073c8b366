import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { overEachEngine, start, text, until } from './engines.ts';
import { fetchRaw, post, RawConnection, request } from './raw-connection.ts';

const WELL_FORMED = [
  request('/a?b'),
  post('/', 'hello'),
  request('/', { method: 'HEAD' }),
  request('/', { method: 'POST', headers: ['Transfer-Encoding: chunked'], body: '5\r\nhello\r\n0\r\n\r\n' }),
  request('/', { headers: ['Connection: close'] }),
  request('/', { method: 'PUT', headers: ['Content-Length: 2000'], body: 'x'.repeat(2000) }),
];

const FRAGMENTS = [
  'GET / HTTP/1.1\r\n',
  'Host: a\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  '\r\n',
  '\r',
  ' ',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  '\0\xff',
];

const RESPONSES = ['now', 'next turn', 'after awaiting', 'large', 'no content', 'throws'] as const;

overEachEngine('noise', (engine) => {
  test('no sequence of bytes, answers and partings ends the process, or leaves a request open', async (t) => {
    let responses: readonly (typeof RESPONSES)[number][] = ['now'];
    let calls = 0;
    const large = Buffer.alloc(400_000, 'x');
    const { port, transport } = await start(t, engine, {
      limits: { bodyBytesMax: 1000 },
      handle: async ({ path }, responder) => {
        const kind = path === '/alive' ? 'now' : responses[calls++ % responses.length]!;
        if (kind === 'throws') throw new Error('on purpose');
        if (kind === 'after awaiting') await null;
        const response = {
          ...text('ok', kind === 'no content' ? 204 : 200),
          ...(kind === 'large' && { body: large }),
        };
        if (kind === 'next turn') setImmediate(() => responder.send(response));
        else responder.send(response);
      },
    });
    const whole = fc.constantFrom(...WELL_FORMED);
    const cut = fc.tuple(whole, fc.nat(80)).map(([bytes, length]) => bytes.slice(0, length));
    const writes = fc.array(fc.oneof(whole, cut, fc.constantFrom(...FRAGMENTS)), {
      minLength: 1,
      maxLength: 10,
    });
    const kinds = fc.array(fc.constantFrom(...RESPONSES), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(writes, kinds, fc.boolean(), async (pieces, chosen, waits) => {
        responses = chosen;
        const connection = await RawConnection.open(t, port);
        for (const piece of pieces) connection.write(piece);
        if (waits) assert.equal((await fetchRaw(t, port, request('/alive'))).status, 200);
        connection.destroy();
        await until(() => transport.openRequests === 0 && transport.openConnections === 0);
      }),
      { numRuns: 150 },
    );
  });
});
