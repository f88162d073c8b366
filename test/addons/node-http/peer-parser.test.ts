/**
 * Both engines beside each other: llhttp, which parses for node:http, is the peer. Requests are mutated, and hold another request in
 * their bodies. What uWebSockets.js runs of those, llhttp runs too.
 *
 * Left out are header lines without a name, behind which uWebSockets.js sees no headers: docs/operating-reference.md says what that means.
 */
import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { engineOf, start, text, until } from '../../http/transport/engines.ts';
import { fetchRaw, post, RawConnection, request } from '../../http/transport/raw-connection.ts';
import { type EngineName, NO_UWS } from '../../support/installed-engines.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';

const SEED = Number(process.env['TEST_SEED'] ?? 1);
const CASES = Number(process.env['TEST_CASES'] ?? 400);

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: c\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked';
const WELL_FORMED = [
  request('/', { headers: ['Authorization: abc', 'Accept: */*'] }),
  request('/', { method: 'HEAD' }),
  request('/', { method: 'DELETE' }),
  post('/', HIDDEN),
  request('/', { headers: [`Content-Length: ${HIDDEN.length}`], body: HIDDEN }),
  request('/', { method: 'POST', headers: [CHUNKED], body: '5\r\nhello\r\n0\r\n\r\n' }),
  request('/', { method: 'PUT', headers: [CHUNKED], body: `21\r\n${HIDDEN}\r\n0\r\n\r\n` }),
];
const FRAGMENTS = [
  ...[
    '',
    '\r\n',
    '\r',
    '\n',
    ' ',
    '\t',
    ':',
    '\0',
    '\x7f',
    '\x80',
    '\xff',
    ',',
    ';',
    '"',
    '{',
    '+5',
    '0x5',
    '-1',
  ],
  ...[
    'get',
    'PRI',
    'Content-Length: 5\r\n',
    `${CHUNKED}\r\n`,
    'HTTP/1.0',
    'HTTP/1.1',
    'Host: b\r\n',
    'chunked',
  ],
];

function mutated(random: SeededRandom): string {
  const pick = (list: readonly string[]): string => list[random.below(list.length)] ?? '';
  let bytes = pick(WELL_FORMED);
  for (let left = 1 + random.below(2); left > 0; left -= 1) {
    const at = random.below(bytes.length);
    const fragment = pick(FRAGMENTS);
    // Put in, or in place of what was there; an empty one takes a byte away.
    const replaced = fragment === '' ? 1 : random.below(2) * fragment.length;
    bytes = bytes.slice(0, at) + fragment + bytes.slice(at + replaced);
  }
  return bytes;
}

const isNameless = (bytes: string): boolean => /\n[ \t]*:/.test(bytes);

type Runner = (...pieces: readonly string[]) => Promise<string[]>;

/** A server that tells what it ran, as method and path, for pieces that arrive one by one on a connection of their own. */
async function runner(t: TestContext, name: EngineName): Promise<Runner> {
  const ran: string[] = [];
  const { port, transport } = await start(t, engineOf(name), {
    handle: ({ method, path }, responder) => {
      if (path !== '/alive') ran.push(`${method} ${path}`);
      responder.send(text('ok'));
    },
  });
  return async (...pieces) => {
    ran.length = 0;
    const connection = await RawConnection.open(t, port);
    for (const piece of pieces) {
      connection.write(piece);
      // Whoever has answered this has read the bytes that came before.
      await fetchRaw(t, port, request('/alive'));
      await nextTurn();
    }
    // And has run what it meant to run later.
    await fetchRaw(t, port, request('/alive'));
    await nextTurn();
    connection.destroy();
    await until(() => transport.openConnections === 0);
    return [...ran];
  };
}

test('whatever runs behind a mutated request, whole or in two pieces, on uWebSockets.js runs on llhttp too, and has a method that it knows', {
  skip: NO_UWS,
}, async (t) => {
  const [onUws, onNode] = await Promise.all([runner(t, 'uws'), runner(t, 'node')]);
  const random = seededRandom(SEED);
  let hidden = 0;
  for (let left = CASES; left > 0; left -= 1) {
    const bytes = mutated(random);
    if (isNameless(bytes)) continue;
    const at = 1 + random.below(bytes.length - 1);
    const inTwo = [bytes.slice(0, at), bytes.slice(at)];
    for (const pieces of left % 4 === 0 ? [[bytes], inTwo] : [[bytes]]) {
      const peer = await onNode(...pieces);
      const what = `seed ${SEED}: ${JSON.stringify(pieces)} runs more than ${JSON.stringify(peer)}`;
      for (const ran of await onUws(...pieces)) {
        assert(METHODS.includes(ran.split(' ')[0] ?? ''), what);
        if (ran.startsWith('GET /hidden')) assert(peer.includes(ran), what);
      }
      if (peer.includes('GET /hidden')) hidden += 1;
    }
  }
  assert(hidden > 0, 'a mutation that ends the first request early runs the second on both');
});

// docs/operating-reference.md says what uWebSockets.js refuses.
test('a request cut between any two bytes runs as it does whole, or is refused where a blank ends the first piece or the version is cut', {
  skip: NO_UWS,
}, async (t) => {
  const [onUws, onNode] = await Promise.all([runner(t, 'uws'), runner(t, 'node')]);
  for (const bytes of WELL_FORMED) {
    const [whole, wholeOfPeer] = [await onUws(bytes), await onNode(bytes)];
    const target = bytes.indexOf('/');
    const version = bytes.indexOf('HTTP/1.1');
    const lineEnd = bytes.indexOf('\n');
    for (let at = 1; at < bytes.length; at += 1) {
      const pieces = [bytes.slice(0, at), bytes.slice(at)];
      const isRefused = at === target || (at >= version && at <= lineEnd);
      assert.deepEqual(await onUws(...pieces), isRefused ? [] : whole, JSON.stringify(pieces));
      assert.deepEqual(await onNode(...pieces), wholeOfPeer, JSON.stringify(pieces));
    }
  }
});
