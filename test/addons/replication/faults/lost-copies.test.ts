/** The last two steps of the drill of docs/cluster.md: all folders are lost, then the stream. Nothing acknowledged is. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { flagstaff, outputOf } from '../../../support/operator.ts';
import { noNatsServer } from '../nats-servers.ts';
import { type Cluster, NODES, pause, withCluster } from './real-cluster.ts';

const FEATURES = '/projects/default/features';
const ALL = Array.from({ length: NODES }, (_, at) => at);

async function create(cluster: Cluster, name: string): Promise<void> {
  const node = cluster.nodes[await cluster.leader()]!;
  const idempotent = { headers: { 'idempotency-key': name } };
  while ((await node.call('POST', FEATURES, { name }, idempotent)).status !== 201) await pause(200);
}

async function namesOf(cluster: Cluster): Promise<string[]> {
  const { body } = await cluster.nodes[await cluster.leader()]!.call('GET', FEATURES);
  return body.features.map(({ name }: { name: string }) => name);
}

const startAll = (cluster: Cluster) => Promise.all(ALL.map((at) => cluster.start(at)));

it(
  'a cluster has all that was acknowledged after all its folders were lost, and after its stream was',
  { skip: noNatsServer ?? false },
  () =>
    withCluster(async (cluster) => {
      await create(cluster, 'first');
      for (const node of cluster.nodes) await node!.kill();
      for (const at of ALL) {
        cluster.wipe(at);
        mkdirSync(cluster.folder(at));
      }
      await startAll(cluster);
      assert.deepEqual(await namesOf(cluster), ['first'], 'the log and the archive have it');
      await create(cluster, 'second');
      for (const node of cluster.nodes) await node!.terminate();
      const { urls } = cluster.nats;
      const connection = await connect({ servers: [...urls] });
      await (await jetstreamManager(connection)).streams.delete('FLAGSTAFF_test');
      await connection.close();
      const refusal = await cluster.start(0).catch((error: Error) => error);
      assert(refusal instanceof Error, 'a node with a journal does not begin an empty log');
      const lastIds = await Promise.all(
        ALL.map(async (at) => (await outputOf(['status', '-d', cluster.folder(at)])).journal.lastEvent.id),
      );
      const newest = lastIds.indexOf(Math.max(...lastIds));
      const env = { REPLICATION_URL: urls.join(','), REPLICATION_CLUSTER: 'test' };
      const { code, err } = await flagstaff(['cluster', 'republish', '-d', cluster.folder(newest)], { env });
      assert.equal(code, 0, err);
      for (const at of ALL) {
        if (lastIds[at] === lastIds[newest]) continue;
        cluster.wipe(at);
        await outputOf(['backup', '-d', cluster.folder(newest), '--to', cluster.folder(at)]);
      }
      await startAll(cluster);
      await create(cluster, 'third');
      assert.deepEqual(await namesOf(cluster), ['first', 'second', 'third']);
    }),
);
