import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTransport } from '../../../src/http/transport/select-transport.ts';
import type { Transport, TransportOptions } from '../../../src/http/transport/transport.ts';
import { connectionsWithin, resolveLimits } from '../../../src/http/transport/transport-limits.ts';
import { NO_UWS, OTHER_ENGINE } from '../../support/installed-engines.ts';
import { closedAfter } from '../../support/server.ts';
import { text } from './engines.ts';

const noBinary = async (): Promise<Transport> => {
  throw new Error('no such module');
};

function optionsWith(warnings: string[]): TransportOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    handlers: {
      handle: (_, response) => response.send(text('ok')),
      refuse: (status, reason) => text(reason, status),
    },
    log: { warn: (_, message) => warnings.push(message), error: (_, message) => assert.fail(message) },
  };
}

test('uWebSockets.js is taken where there is a binary', { skip: NO_UWS }, async (t) => {
  const transport = closedAfter(t, await openTransport(optionsWith([]), null));
  assert.equal(transport.engine, 'uws');
});

test('the engine of an add-on is taken where there is none, with one warning, and serves', {
  skip: OTHER_ENGINE === null,
}, async (t) => {
  const warnings: string[] = [];
  const transport = closedAfter(
    t,
    await openTransport(optionsWith(warnings), { ...OTHER_ENGINE!, isPreferred: false }, noBinary),
  );
  assert.equal(transport.engine, 'node');
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]!,
    /^There is no uWebSockets\.js binary for .*; the server uses the slower node:http\.$/,
  );
  const { port } = await transport.listen();
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'ok');
});

test('one that is preferred never loads the binary', { skip: OTHER_ENGINE === null }, async (t) => {
  const warnings: string[] = [];
  const transport = closedAfter(
    t,
    await openTransport(optionsWith(warnings), OTHER_ENGINE, () => assert.fail('loaded')),
  );
  assert.deepEqual([transport.engine, warnings], ['node', []]);
});

test('uWebSockets.js without a binary is refused with advice', async () => {
  await assert.rejects(
    openTransport(optionsWith([]), null, noBinary),
    /use a Node version that has one, or another HTTP engine/,
  );
});

test('the connection budget stays below the descriptors, and above nothing', () => {
  assert.deepEqual(
    [0, 256, 1_024, 1_000_000].map((descriptors) => connectionsWithin(descriptors, 12_000)),
    [32, 56, 824, 12_000],
  );
  assert.equal(resolveLimits({ connectionsMax: 5 }).connectionsMax, 5);
  assert(resolveLimits().connectionsMax >= 32);
});
