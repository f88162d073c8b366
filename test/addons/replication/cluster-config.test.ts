/** The settings of a cluster. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterConfig } from '../../../src/addons/replication/cluster-config.ts';
import { configureReplication } from '../../../src/addons/replication/configure.ts';
import { createLog } from '../../../src/process/log.ts';
import { ConfigError } from '../../../src/process/settings.ts';
import { readConfig } from '../../../src/start/config.ts';

const { basePath, sessions } = readConfig({});
const SETUP = { log: createLog('silent'), basePath, sessions, isOpen: false };

const NEEDED = {
  REPLICATION_URL: 'nats://user:p%40ss@log-1:4222, tls://log-2:4222',
  REPLICATION_CLUSTER: 'test',
};

it('without REPLICATION_URL there is no cluster, and a setting of one is refused', () => {
  assert.equal(clusterConfig({}), null);
  assert.throws(
    () => clusterConfig({ REPLICATION_NODE: 'a' }),
    /REPLICATION_NODE has no meaning without REPLICATION_URL/,
  );
});

it('takes several servers, and the user of the first one that names one', () => {
  const config = clusterConfig({ ...NEEDED, REPLICATION_NODE: 'flags-1' });
  assert.deepEqual(config?.servers, ['nats://log-1:4222', 'tls://log-2:4222']);
  assert.deepEqual(config?.user, { name: 'user', password: 'p@ss' });
  assert.deepEqual([config?.cluster, config?.node, config?.address], ['test', 'flags-1', null]);
  assert.equal(config?.durability, 'disk');
});

const REFUSED: readonly (readonly [name: string, value: string])[] = [
  ['REPLICATION_URL', 'log-1:4222'],
  ['REPLICATION_URL', 'http://log-1:4222'],
  ['REPLICATION_URL', 'nats://log-1:4222/path'],
  ['REPLICATION_CLUSTER', 'a.b'],
  ['REPLICATION_CLUSTER', ''],
  ['REPLICATION_NODE', 'a b'],
  ['REPLICATION_ADDRESS', 'flags-1:4242'],
  ['REPLICATION_ADDRESS', 'http://flags-1:4242/path'],
  ['REPLICATION_DURABILITY', 'some'],
  ['REPLICATION_ARCHIVE', 'some'],
  ['REPLICATION_LOG_BYTES', '0'],
  ['IMPORT_FILE', 'state.json'],
];

for (const [name, value] of REFUSED) {
  it(`refuses ${name}=${value} with one line that names the variable`, () => {
    const isNamed = (error: unknown): boolean =>
      error instanceof ConfigError && error.message.includes(name) && !error.message.includes('\n');
    const env = { ...NEEDED, [name]: value };
    assert.throws(() => configureReplication({ ...SETUP, env }), isNamed);
  });
}

it('never repeats a URL, which may hold a password', () => {
  assert.throws(
    () => clusterConfig({ REPLICATION_URL: 'nats://user:hunter2@' }),
    (error) => error instanceof ConfigError && !error.message.includes('hunter2'),
  );
});
