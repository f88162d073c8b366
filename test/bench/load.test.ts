/** The parts on which the load generators rely: prepared requests, responses that come in pieces, latencies counted when due. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runOpenLoop } from '../../bench/lib/load/open-loop.ts';
import {
  fillUnique,
  parseRequestFile,
  rawRequest,
  toggles,
  UNIQUE,
  writeRequestFile,
} from '../../bench/lib/load/operation.ts';
import { ResponseReader } from '../../bench/lib/load/response-reader.ts';
import type { Target } from '../../bench/lib/measurement.ts';
import { shuffled } from '../../bench/lib/shuffled.ts';
import { median, quantile } from '../../bench/lib/statistics.ts';
import { temporaryFolder } from '../support/server.ts';

const TARGET: Target = { name: 'x', origin: 'http://127.0.0.1:1', basePath: '/base', token: 'token' };

describe('prepared requests', () => {
  test('come back from their file byte by byte, whatever is in them', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'requests.bin');
    const requests = [
      { method: 'GET', path: '/a' },
      { method: 'POST', path: '/b', body: { text: 'line\n12\nümlaut' } },
    ];
    writeRequestFile(file, TARGET, { requests });
    const [get, post] = parseRequestFile(readFileSync(file));
    assert.equal(get, 'GET /base/api/admin/a HTTP/1.1\r\nhost: 127.0.0.1:1\r\nauthorization: token\r\n\r\n');
    const [head = '', body = ''] = (post ?? '').split('\r\n\r\n');
    assert.deepEqual(JSON.parse(body), requests[1]?.body);
    assert.match(head, new RegExp(`content-length: ${Buffer.byteLength(body)}$`));
  });

  test('go to another surface, with other headers, where they say so', () => {
    const request = {
      method: 'GET',
      surface: '/api/client',
      path: '/features',
      headers: { authorization: 'x' },
    };
    const raw = rawRequest(TARGET, request);
    assert.equal(
      raw,
      'GET /base/api/client/features HTTP/1.1\r\nhost: 127.0.0.1:1\r\nauthorization: x\r\n\r\n',
    );
  });

  test('a number that takes the place of the mark leaves the length as it is', () => {
    assert.equal(fillUnique(`a ${UNIQUE} b`, 42), 'a 000000000042 b');
    assert.equal(fillUnique(UNIQUE, 999_999_999_999).length, UNIQUE.length);
  });

  test('switches go on everywhere before they go off anywhere, so that each changes something', () => {
    assert.deepEqual(
      toggles(['/a', '/b']).map(({ path }) => path),
      ['/a/on', '/b/on', '/a/off', '/b/off'],
    );
  });

  test('the shuffled order holds each number once, in another order, the same each time', () => {
    const order = shuffled(1_000);
    assert.deepEqual(order, shuffled(1_000));
    assert.notDeepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(order).size, 1_000);
  });
});

describe('responses', () => {
  test('are counted whole, however the bytes are cut', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n',
    );
    for (let size = 1; size <= bytes.length; size += 1) {
      const statuses: number[] = [];
      const reader = new ResponseReader((status) => statuses.push(status));
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      assert.deepEqual(statuses, [200, 201, 204], `in pieces of ${size}`);
    }
  });

  test('without a length are refused rather than counted wrongly', () => {
    const reader = new ResponseReader(() => undefined);
    assert.throws(() => reader.push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')), /without Content-Length/);
  });
});

test('quantiles are values of the sample, the median of an even one its lower middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2);
  assert.equal(quantile([5, 1], 1), 5);
  assert.equal(quantile([5, 1], 0.001), 1);
  assert.throws(() => median([]));
});

test('twenty requests that are due at once over one connection: each waits for those before it, and that counts', async () => {
  let responded = 0;
  const server = createServer((_, response) => {
    responded += 1;
    response.end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const folder = temporaryFolder();
  const latencies = await runOpenLoop({
    target: { ...TARGET, origin: `http://127.0.0.1:${address.port}` },
    operation: { requests: [{ method: 'GET', path: '/' }] },
    connections: 1,
    perSecond: 1_000_000,
    seconds: 0.00002,
    folder,
  });
  assert.equal(responded, 20);
  assert.ok(latencies.max > latencies.p50, 'the last waited longer than the tenth');
  server.close();
});
