/** The log on NATS JetStream keeps the contract, on one server and on a cluster of three. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { clusterConfig } from '../../../src/addons/replication/cluster-config.ts';
import { connectToNats } from '../../../src/addons/replication/nats-connection.ts';
import { makeNatsStream, openNatsLog, refuseCutOff } from '../../../src/addons/replication/nats-log.ts';
import { NatsSharedValues } from '../../../src/addons/replication/nats-shared-value.ts';
import { NatsUsage } from '../../../src/addons/replication/nats-usage.ts';
import { openLog as openClusterLog } from '../../../src/addons/replication/open-cluster.ts';
import type { ReplicatedLog } from '../../../src/addons/replication/replicated-log.ts';
import { type NatsCluster, noNatsServer, startNats } from './nats-servers.ts';
import { describeReplicatedLog, type LogFactory } from './replicated-log-contract.ts';

const LOG = { info: () => undefined, warn: () => undefined };

async function openLog(
  urls: readonly string[],
  name: string,
  durability: 'disk' | 'memory',
): Promise<ReplicatedLog> {
  const connection = await connectToNats({
    ...{ servers: urls, name: 'test', user: null, credentialsFile: null, tls: null, log: LOG },
  });
  try {
    const options = { connection, name, durability, logBytes: 1 };
    await makeNatsStream(options);
    return await openNatsLog(options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function factoryOf(count: number): LogFactory {
  let nats: NatsCluster;
  let logs: readonly ReplicatedLog[] = [];
  return {
    async open() {
      nats = await startNats(count);
      const durability = count === 1 ? 'memory' : 'disk';
      const one = await opened(() => openLog(nats.urls, 'contract', durability));
      const other = await openLog(nats.urls, 'contract', durability);
      logs = [one, other];
      return [one, other];
    },
    async close() {
      await Promise.all(logs.map((log) => log.close()));
      await nats.close();
    },
  };
}

/** Servers of a new cluster accept connections before they have chosen who keeps streams. */
async function opened(open: () => Promise<ReplicatedLog>): Promise<ReplicatedLog> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

it('an answer of a server that has not heard of a majority is none: the others may have taken records since', () => {
  const told = (...activeMs: readonly number[]) => {
    const replicas = activeMs.map((ms) => ({ active: ms * 1e6 }));
    return () => refuseCutOff({ cluster: { leader: 'log-1', replicas } } as never);
  };
  for (const isHeard of [told(), told(900, 12_000), told(900, 900, 12_000, 12_000)])
    assert.doesNotThrow(isHeard);
  for (const isCutOff of [told(12_000, 12_000), told(900, 12_000, 12_000, 12_000)])
    assert.throws(isCutOff, /has not reached a majority/);
});

const skip = noNatsServer ?? false;

describeReplicatedLog('on one NATS server', factoryOf(1), skip);
describeReplicatedLog('on three NATS servers', factoryOf(3), skip);

describe('what nodes read of the log and of reports', { skip }, () => {
  it('needs no consumer, which would die with the server that keeps it', async () => {
    const nats = await startNats(1);
    const connection = await connectToNats({
      ...{ servers: nats.urls, name: 'test', user: null, credentialsFile: null, tls: null, log: LOG },
    });
    const log = await openLog(nats.urls, 'reads', 'memory');
    const usage = new NatsUsage({ connection, name: 'reads', replicas: 1 });
    try {
      const told = new Promise((resolve) => log.onAppended(resolve));
      await log.extent();
      // From a sender that is no node.
      connection.publish('flagstaff.reads.appended', 'x');
      await connection.flush();
      await log.append(0, Buffer.from('a'));
      assert.deepEqual(await told, { position: 1, bytes: Buffer.from('a') });
      assert.equal(String(await log.read(1)), 'a');
      assert.equal(await usage.read(1), null);
      for (const batch of ['b', 'c']) await usage.publish(Buffer.from(batch), batch);
      const { streams, consumers } = await jetstreamManager(connection);
      await streams.purge('FLAGSTAFF_reads_USAGE', { seq: 2 });
      assert.deepEqual(await usage.read(1), { position: 2, bytes: Buffer.from('c') });
      for (const stream of ['FLAGSTAFF_reads', 'FLAGSTAFF_reads_USAGE'])
        assert.deepEqual(await consumers.list(stream).next(), []);
    } finally {
      await log.close();
      await connection.close();
      await nats.close();
    }
  });
});

describe('a value that nodes share', { skip }, () => {
  it('is replaced only by a node that knows the one before', async () => {
    const nats = await startNats(1);
    const connection = await connectToNats({
      ...{ servers: nats.urls, name: 'test', user: null, credentialsFile: null, tls: null, log: LOG },
    });
    const values = new NatsSharedValues({ connection, name: 'values', replicas: 1 });
    const [one, other] = [values.value('one'), values.value('other')];
    try {
      assert.equal(await one.read(), null);
      const first = await one.write(Buffer.from('a'), 0);
      assert(first !== null);
      assert((await other.write(Buffer.from('x'), 0)) !== null);
      assert.equal(await one.write(Buffer.from('b'), 0), null);
      const second = await one.write(Buffer.from('c'), first);
      assert.equal(await one.write(Buffer.from('d'), first), null);
      assert.deepEqual(await one.read(), { revision: second, bytes: Buffer.from('c') });
      const { streams } = await jetstreamManager(connection);
      assert.equal((await streams.info('FLAGSTAFF_values_SHARED')).state.messages, 2);
    } finally {
      await connection.close();
      await nats.close();
    }
  });
});

describe('a NATS server that keeps one copy', { skip }, () => {
  it('is refused, with what to do, unless the operator accepts the loss', async () => {
    const nats = await startNats(1);
    try {
      const accepted = await openLog(nats.urls, 'one', 'memory');
      await accepted.close();
      await assert.rejects(openLog(nats.urls, 'one', 'disk'), {
        name: 'UnsafeLogError',
        message: /keeps 1 file replica\(s\), and 3 file replicas are needed/,
      });
    } finally {
      await nats.close();
    }
  });
});

describe('a NATS server that asks for a user', { skip }, () => {
  it('takes the one in REPLICATION_URL, and another one is a bad setting', async () => {
    const users = 'accounts { A: { jetstream: enabled, users: [{ user: flags, password: "p@ss" }] } }';
    const nats = await startNats(1, [users]);
    const open = (user: string): Promise<ReplicatedLog> => {
      const url = nats.urls[0]!.replace('//', `//${user}@`);
      const settings = {
        REPLICATION_URL: url,
        REPLICATION_CLUSTER: 'users',
        REPLICATION_DURABILITY: 'memory',
      };
      return openClusterLog(clusterConfig(settings)!, LOG, { make: true }).then(({ log }) => log);
    };
    try {
      const log = await open('flags:p%40ss');
      assert.deepEqual(await log.append(0, Buffer.from('a')), { kind: 'accepted' });
      await log.close();
      await assert.rejects(open('flags:wrong'), {
        name: 'ConfigError',
        message: /REPLICATION_URL refuse the connection: Authorization Violation/,
      });
    } finally {
      await nats.close();
    }
  });
});
