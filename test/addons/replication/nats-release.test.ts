/** Servers of the log that may lose records are refused or named, by what they say of themselves. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { clusterConfig } from '../../../src/addons/replication/cluster-config.ts';
import { isTooOld, readSync, releaseWarning } from '../../../src/addons/replication/nats-release.ts';
import { openLog } from '../../../src/addons/replication/open-cluster.ts';
import { freePort } from '../../support/free-port.ts';
import { noNatsServer, startNats } from './nats-servers.ts';

it('a release is too old before 2.10.23, and warned of where losses of records are not mended', () => {
  for (const release of ['2.9.10', '2.10.22', '1.99.99']) assert(isTooOld(release), release);
  for (const release of ['2.10.23', '2.10.27', '2.11.0', '3.0.0-RC.1']) assert(!isTooOld(release), release);
  for (const release of ['2.10.27', '2.12.10', '2.13.9', '2.14.2'])
    assert.match(releaseWarning(release) ?? '', /upgrade it to 2\.12\.11, or 2\.14\.3 or newer/, release);
  for (const release of ['2.12.11', '2.14.3', '2.15.1', '3.0.0']) assert.equal(releaseWarning(release), null);
});

it('a server that does not sync is refused where a cluster begins, unless the operator accepts the loss', {
  skip: noNatsServer ?? false,
}, async () => {
  const nats = await startNats(1);
  const url = nats.urls[0]!;
  let config: object = { sync_always: false };
  const page = createServer((_, response) =>
    response.end(JSON.stringify({ port: Number(new URL(url).port), jetstream: { config } })),
  );
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const monitorPort = (page.address() as AddressInfo).port;
  const warned: string[] = [];
  const log = { info: () => undefined, warn: (_: object, message: string) => void warned.push(message) };
  const open = (durability: string, make: boolean) => {
    const env = { REPLICATION_URL: url, REPLICATION_CLUSTER: 'sync', REPLICATION_DURABILITY: durability };
    return openLog(clusterConfig(env)!, log, { make, monitorPort });
  };
  try {
    await assert.rejects(open('disk', true), {
      name: 'UnsafeLogError',
      message: /^The NATS server 127\.0\.0\.1:\d+ acknowledges records .* Set "sync_interval: always" in its/,
    });
    const { log: accepted, warnings } = await open('memory', true);
    await accepted.close();
    assert.deepEqual(warnings, []);
    // A node that is started is told of the copies first, and refused for them.
    await assert.rejects(open('disk', false), { message: /1 file replica/ });
    assert.match(warned.join('\n'), /^The NATS server 127\.0\.0\.1:\d+ acknowledges records .* block\.$/);
    const host = new URL(url).host;
    assert.deepEqual(await readSync([url], monitorPort), { off: [host], unseen: [] });
    config = { sync_always: true };
    assert.deepEqual(await readSync([url], monitorPort), { off: [], unseen: [] });
    // The page of another server.
    assert.deepEqual(await readSync(['nats://127.0.0.1:1'], monitorPort), {
      off: [],
      unseen: ['127.0.0.1:1'],
    });
  } finally {
    page.close();
    await nats.close();
  }
});

it('a server that syncs says so on its monitoring page', { skip: noNatsServer ?? false }, async () => {
  const monitorPort = await freePort();
  const nats = await startNats(1, [`http: "127.0.0.1:${monitorPort}"`]);
  try {
    assert.deepEqual(await readSync(nats.urls, monitorPort), { off: [], unseen: [] });
    assert.deepEqual(await readSync(nats.urls, await freePort()), {
      off: [],
      unseen: [new URL(nats.urls[0]!).host],
    });
  } finally {
    await nats.close();
  }
});
