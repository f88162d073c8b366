/** The archive on the object store of NATS keeps the contract, and leaves the event loop to others meanwhile. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ArchiveDamageError } from '../../../src/addons/replication/archived-frames.ts';
import type { FileArchive } from '../../../src/addons/replication/file-archive.ts';
import { openNatsArchive } from '../../../src/addons/replication/nats-archive.ts';
import { connectToNats } from '../../../src/addons/replication/nats-connection.ts';
import { type ArchiveFactory, describeFileArchive } from './archive-contract.ts';
import { type NatsCluster, noNatsServer, startNats } from './nats-servers.ts';

const LOG = { info: () => undefined, warn: () => undefined };
const skip = noNatsServer ?? false;

const connectionTo = (servers: readonly string[]): Promise<NatsConnection> =>
  connectToNats({ servers, name: 'test', user: null, credentialsFile: null, tls: null, log: LOG });

/** Servers of a new cluster accept connections before they have chosen who keeps streams. */
async function opened(connection: NatsConnection, replicas: number): Promise<FileArchive> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openNatsArchive({ connection, name: 'contract', replicas });
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function factoryOf(count: number): ArchiveFactory {
  let nats: NatsCluster;
  const connections: NatsConnection[] = [];
  return {
    async open() {
      nats = await startNats(count);
      connections.push(await connectionTo(nats.urls), await connectionTo(nats.urls));
      const [one, other] = connections as [NatsConnection, NatsConnection];
      return [await opened(one, count), await opened(other, count)];
    },
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
      await nats.close();
    },
  };
}

describeFileArchive('on one NATS server', factoryOf(1), skip);
describeFileArchive('on three NATS servers', factoryOf(3), skip);

describe('a file whose messages are gone', { skip }, () => {
  it('is damaged, unless it was deleted or put again while it was read', async () => {
    const nats = await startNats(1);
    const connection = await connectionTo(nats.urls);
    try {
      const archive = await openNatsArchive({ connection, name: 'test', replicas: 1, messageTimeoutMs: 500 });
      const read = archive.get.bind(archive, 'file');
      const manager = await jetstreamManager(connection);
      const lose = async (): Promise<void> => {
        await archive.put('file', Buffer.alloc(400_000, 1));
        await manager.streams.purge('OBJ_FLAGSTAFF_test', { filter: '$O.FLAGSTAFF_test.C.>' });
      };
      await lose();
      assert.deepEqual(
        (await archive.list()).map(({ name }) => name),
        ['file'],
      );
      await assert.rejects(
        read(),
        (error: Error) =>
          error instanceof ArchiveDamageError && /file is damaged: 2 of its 2 pieces/.test(error.message),
      );
      const [again] = await Promise.all([read(), archive.put('file', Buffer.from('again'))]);
      assert.equal(String(again), 'again');
      await lose();
      const [deleted] = await Promise.all([read(), archive.delete('file')]);
      assert.equal(deleted, null);
    } finally {
      await connection.close();
      await nats.close();
    }
  });
});

describe('a file that is deleted or put again while a reader counts its messages', { skip }, () => {
  it('is not called damaged, and is read again once', async () => {
    const nats = await startNats(1);
    const [connection, other] = [await connectionTo(nats.urls), await connectionTo(nats.urls)];
    try {
      let beforeCount = async (): Promise<unknown> => undefined;
      const request = connection.request.bind(connection);
      connection.request = async (subject, payload, options) => {
        if (Buffer.from(payload ?? '').includes('subjects_filter')) await beforeCount();
        return request(subject, payload, options);
      };
      const archive = await openNatsArchive({ connection, name: 'test', replicas: 1, messageTimeoutMs: 500 });
      const others = await openNatsArchive({ connection: other, name: 'test', replicas: 1 });
      const manager = await jetstreamManager(other);
      const lose = async (): Promise<void> => {
        await others.put('file', Buffer.alloc(400_000, 1));
        await manager.streams.purge('OBJ_FLAGSTAFF_test', { filter: '$O.FLAGSTAFF_test.C.>' });
      };
      await lose();
      beforeCount = () => others.put('file', Buffer.from('again'));
      assert.equal(String(await archive.get('file')), 'again');
      await lose();
      beforeCount = () => others.delete('file');
      assert.equal(await archive.get('file'), null);
      await lose();
      let counts = 0;
      beforeCount = () => {
        counts += 1;
        return lose();
      };
      await assert.rejects(
        archive.get('file'),
        (error: Error) => !(error instanceof ArchiveDamageError) && /was put again/.test(error.message),
      );
      assert.equal(counts, 2);
    } finally {
      await connection.close();
      await other.close();
      await nats.close();
    }
  });
});

describe('putting a large file', { skip }, () => {
  it('holds the event loop for milliseconds only', async (t) => {
    const factory = factoryOf(1);
    const [archive] = await factory.open();
    try {
      const delays = monitorEventLoopDelay({ resolution: 1 });
      delays.enable();
      await archive.put('large', Buffer.alloc(4 * 1024 * 1024, 1));
      delays.disable();
      const [usualMs, worstMs] = [delays.percentile(90) / 1e6, delays.max / 1e6];
      t.diagnostic(`p90 ${usualMs.toFixed(1)} ms, worst ${worstMs.toFixed(1)} ms`);
      assert(usualMs < 20, 'nine of ten looks at the loop find it free, whatever else the machine does');
    } finally {
      await factory.close();
    }
  });
});
