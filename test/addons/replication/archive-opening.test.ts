/** Opening the archive alone, as `flagstaff repair --from archive` does: servers that cannot tell are told apart from none that has it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterConfig } from '../../../src/addons/replication/cluster-config.ts';
import { openArchive } from '../../../src/addons/replication/open-cluster.ts';
import { LogAwayError } from '../../../src/addons/replication/replicated-log.ts';
import { freePort } from '../../support/free-port.ts';
import { noNatsServer, startNats } from './nats-servers.ts';

const LOG = { info: () => undefined, warn: () => undefined };

const opening = (urls: readonly string[], waitMs?: number) => {
  const config = clusterConfig({ REPLICATION_URL: urls.join(), REPLICATION_CLUSTER: 'test' });
  assert(config !== null);
  return openArchive(config, LOG, waitMs);
};

async function untilRejected(open: () => ReturnType<typeof opening>): Promise<unknown> {
  for (let attempt = 1; attempt <= 30; attempt += 1) {
    try {
      const { close } = await open();
      await close();
    } catch (error) {
      return error;
    }
  }
  return assert.fail('it never says that there is no leader');
}

const isAway =
  (what: RegExp) =>
  (error: unknown): boolean =>
    error instanceof LogAwayError && what.test(error.message);

describe('opening the archive', () => {
  it('waits for servers for a bounded time, where none can be reached', async () => {
    const url = `nats://127.0.0.1:${await freePort()}`;
    await assert.rejects(opening([url], 300), isAway(/No server of REPLICATION_URL can be reached/));
  });

  it('waits for a leader for a bounded time, and then tells of none', {
    skip: noNatsServer ?? false,
  }, async () => {
    const nats = await startNats(3);
    try {
      const { archive, close } = await opening(nats.urls);
      assert.equal(archive, null, 'the servers have chosen a leader, which has no archive');
      await close();
      const [first, ...others] = nats.servers;
      for (const server of others) await server.kill();
      // A leader answers for some ten seconds more before it misses the others.
      const error = await untilRejected(() => opening([first!.url], 300));
      assert(isAway(/do not respond, or have no leader yet/)(error), String(error));
    } finally {
      await nats.close();
    }
  });
});
