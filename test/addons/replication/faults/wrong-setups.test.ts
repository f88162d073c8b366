/**
 * Wrong set-ups of a node, against real NATS servers: each is refused, or named while it waits, in one line that says what to
 * change, and nothing is made or written. `WRONG_SETUPS_TIMES=1` prints how long each took.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DiscardPolicy, jetstreamManager, StorageType, type StreamConfig } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { clusterConfig } from '../../../../src/addons/replication/cluster-config.ts';
import { joinCluster } from '../../../../src/addons/replication/open-cluster.ts';
import { freePort } from '../../../support/free-port.ts';
import { temporaryFolder } from '../../../support/server.ts';
import { type NatsCluster, noNatsServer, startNats } from '../nats-servers.ts';

const skip = noNatsServer ?? false;

/** The first word of a node with these settings, as a refusal or as a warning. */
async function firstLine(env: Readonly<Record<string, string>>): Promise<string> {
  const begunAt = performance.now();
  const line = await new Promise<string>((resolve, reject) => {
    const config = clusterConfig({ REPLICATION_CLUSTER: 'wrong', ...env });
    assert(config !== null);
    const warn = (_: object, message: string): never => {
      resolve(message);
      throw new Error('it has said enough');
    };
    const log = { info: () => undefined, warn };
    joinCluster({
      ...{ config, folder: temporaryFolder(), port: 1, basePath: '', log: log as never, hasRetention: false },
      open: () => Promise.reject(new Error('it was joined')),
      onLeading: () => Promise.resolve(),
      onWait: () => undefined,
      stop: reject,
    }).then(
      () => reject(new Error('it was joined')),
      (error: Error) => resolve(error.message),
    );
  });
  assert(!line.includes('\n'), 'it is one line');
  if (process.env['WRONG_SETUPS_TIMES'] !== undefined)
    process.stderr.write(`${Math.round(performance.now() - begunAt)} ms  ${line}\n`);
  return line;
}

async function makeStream(url: string, config: Partial<StreamConfig>): Promise<void> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    ...{ name: 'FLAGSTAFF_wrong', subjects: ['flagstaff.wrong.log'], discard: DiscardPolicy.New },
    ...config,
  });
  await connection.close();
}

async function deleteStream(url: string): Promise<void> {
  const connection = await connect({ servers: url });
  await (await jetstreamManager(connection)).streams.delete('FLAGSTAFF_wrong');
  await connection.close();
}

/** A certificate for 127.0.0.1 that nobody else has signed. */
function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1'].concat([
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      cert,
    ]),
    { stdio: 'ignore' },
  );
  return { cert, key };
}

describe('a node whose NATS servers', { skip }, () => {
  let nats: NatsCluster;
  let url: string;
  before(async () => {
    nats = await startNats(1);
    url = nats.urls[0]!;
  });
  after(() => nats.close());

  it('are not where REPLICATION_URL says names the setting and goes on waiting', async () => {
    const line = await firstLine({ REPLICATION_URL: `nats://127.0.0.1:${await freePort()}` });
    assert.match(line, /^No server of REPLICATION_URL can be reached \(.+\); trying again$/);
  });

  it('have a name that nobody knows names the setting and goes on waiting', async () => {
    const line = await firstLine({ REPLICATION_URL: 'nats://log-1.invalid:4222' });
    assert.match(line, /^No server of REPLICATION_URL can be reached \(.+\); trying again$/);
  });

  it('have no stream of its cluster is refused, and makes none', async () => {
    for (let start = 0; start < 2; start += 1) {
      assert.equal(
        await firstLine({ REPLICATION_URL: url, REPLICATION_DURABILITY: 'memory' }),
        'REPLICATION_CLUSTER is "wrong". The NATS servers have no stream FLAGSTAFF_wrong. For a new cluster, run "flagstaff cluster init" once; otherwise point REPLICATION_URL and REPLICATION_CLUSTER at the log that is there.',
      );
    }
  });

  const STREAMS: readonly (readonly [string, Partial<StreamConfig>, RegExp, ('disk' | 'memory')?])[] = [
    ['is empty', {}, /^The log of the cluster "wrong" is empty\. For a new cluster, run/],
    ['keeps one copy', {}, /keeps 1 file replica\(s\), and 3 file replicas are needed .* Run a NATS/, 'disk'],
    [
      'keeps records in memory',
      { storage: StorageType.Memory },
      /keeps 1 memory replica\(s\), and 3/,
      'disk',
    ],
    ['has a small max_bytes', { max_bytes: 1_000_000 }, /has max_bytes 1000000, and .*; remove that limit/],
    ['has max_msgs', { max_msgs: 10 }, /has max_msgs 10, after which it takes no change; remove that limit/],
    [
      'has a small max_msg_size',
      { max_msg_size: 1_000 },
      /has max_msg_size 1000, and a record .*; remove that/,
    ],
    [
      'drops old records',
      { discard: DiscardPolicy.Old, max_bytes: 10 ** 9 },
      /deletes records by itself\. Remove its limits/,
    ],
    ['forgets by age', { max_age: 10 ** 12 }, /deletes records by itself\. Remove its limits/],
    [
      'takes other subjects',
      { subjects: ['wrong.>'] },
      /takes the subjects wrong\.>, and records have the subject flagstaff\.wrong\.log/,
    ],
  ];
  for (const [what, config, expected, durability = 'memory'] of STREAMS) {
    it(`have a stream that ${what} is refused`, async () => {
      await makeStream(url, config);
      try {
        const env = { REPLICATION_URL: url, REPLICATION_DURABILITY: durability };
        assert.match(await firstLine(env), expected);
      } finally {
        await deleteStream(url);
      }
    });
  }

  it('have no TLS, although REPLICATION_URL says so, is refused or waits in words', async () => {
    const line = await firstLine({ REPLICATION_URL: url.replace('nats:', 'tls:') });
    assert.match(line, /REPLICATION_URL/);
  });
});

describe('a node whose NATS server', { skip }, () => {
  const on = async (settings: readonly string[], use: (url: string) => Promise<void>): Promise<void> => {
    const nats = await startNats(1, settings);
    try {
      await use(nats.urls[0]!);
    } finally {
      await nats.close();
    }
  };

  it('takes only small messages is refused', () =>
    on(['max_payload: 65536'], async (url) => {
      const line = await firstLine({ REPLICATION_URL: url, REPLICATION_DURABILITY: 'memory' });
      assert.match(line, /takes messages of at most 65536 bytes.* Set "max_payload" to 1MB/);
    }));

  it('wants another password is refused', () =>
    on(['authorization { user: flags, password: right }'], async (url) => {
      const line = await firstLine({ REPLICATION_URL: url.replace('//', '//flags:wrong@') });
      assert.match(line, /refuse the connection: Authorization Violation\. Look at its user and password/);
    }));

  it('has a certificate that REPLICATION_TLS_CA does not vouch for is refused', async () => {
    const { cert, key } = makeCertificate(temporaryFolder());
    const other = makeCertificate(temporaryFolder());
    await on([`tls { cert_file: "${cert}", key_file: "${key}" }`], async (url) => {
      const line = await firstLine({
        REPLICATION_URL: url.replace('nats:', 'tls:'),
        REPLICATION_TLS_CA: other.cert,
      });
      assert.match(line, /refuse the connection: .*certificate.* Look at .*REPLICATION_TLS_CA/);
    });
  });
});
