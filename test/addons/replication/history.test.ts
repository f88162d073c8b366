/** The history that a cluster tells: it has one name, and nothing goes on with another one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decodeRecord } from '../../../src/addons/replication/record-format.ts';
import {
  decideAlone,
  newHistoryId,
  readLogHistory,
  writeLogHistory,
} from '../../../src/persistence/journal/log-history.ts';
import { createFlag, FOLDER } from '../../support/engine.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { HISTORY } from './memory-log.ts';
import { CLUSTER, TestCluster, type TestNode } from './test-cluster.ts';

const OTHER = 'd'.repeat(32);

async function clusterOf(count: number): Promise<TestCluster> {
  const cluster = new TestCluster();
  for (let added = 0; added < count; added += 1) cluster.add();
  await cluster.leader();
  await cluster.caughtUp();
  return cluster;
}

const historiesOf = ({ log }: TestCluster): ReadonlySet<string | null> =>
  new Set(log.records.map((record) => decodeRecord(record).history));

const ended = (cluster: TestCluster, node: TestNode): Promise<void> =>
  cluster.until(`${node.name} has ended`, () => !node.isRunning);

describe('the file of a history', () => {
  it('holds what was written, in the format that its description shows', async () => {
    const disk = new MemoryFileSystem();
    await disk.makeFolder(FOLDER);
    assert.equal(await readLogHistory(disk, FOLDER), null);
    const id = '00112233445566778899aabbccddeeff';
    await writeLogHistory(disk, FOLDER, { id, decidedBy: 'disk' });
    assert.equal(
      disk.bytesOf(join(FOLDER, 'log.history')).toString(),
      'FLAGHIST 1 00112233445566778899aabbccddeeff disk 0cc20cb7\n',
    );
    await writeLogHistory(disk, FOLDER, { id, decidedBy: 'log' });
    assert.deepEqual(await readLogHistory(disk, FOLDER), { id, decidedBy: 'log' });
    assert.equal(await decideAlone(disk, FOLDER), true);
    assert.deepEqual(await readLogHistory(disk, FOLDER), { id, decidedBy: 'disk' });
    assert.equal(await decideAlone(disk, FOLDER), false);
  });

  it('says that all was acknowledged, with any byte of it damaged or cut off', async () => {
    const disk = new MemoryFileSystem();
    await disk.makeFolder(FOLDER);
    const path = join(FOLDER, 'log.history');
    await writeLogHistory(disk, FOLDER, { id: newHistoryId(), decidedBy: 'log' });
    const good = disk.bytesOf(path);
    for (let at = 0; at < good.length; at += 1) {
      const bad = Buffer.from(good);
      bad[at]! ^= 1;
      for (const bytes of [bad, good.subarray(0, at)]) {
        disk.put(path, bytes);
        assert.deepEqual(await readLogHistory(disk, FOLDER), { id: null, decidedBy: 'disk' }, `byte ${at}`);
      }
    }
  });
});

describe('the history of a cluster', () => {
  it('is named by every record, node and data folder', async () => {
    const cluster = await clusterOf(2);
    await (await cluster.leader()).execute(createFlag('a'));
    await cluster.caughtUp();
    assert.deepEqual([...historiesOf(cluster)], [HISTORY]);
    for (const node of cluster.nodes) {
      assert.deepEqual(await readLogHistory(node.disk, FOLDER), { id: HISTORY, decidedBy: 'log' });
      assert.equal(node.replica!.view.history, HISTORY);
    }
  });

  it('is named by the first take-over where release 0.2.0 began the log, and its records stay good', async () => {
    const cluster = new TestCluster();
    cluster.log.makeAnew();
    cluster.log.begin(CLUSTER, null);
    for (let added = 0; added < 3; added += 1) cluster.add();
    const leader = await cluster.leader();
    await leader.execute(createFlag('a'));
    await cluster.caughtUp();
    const [first, ...others] = historiesOf(cluster);
    assert.equal(first, null);
    assert.equal(others.length, 1);
    for (const node of cluster.nodes)
      assert.deepEqual(await readLogHistory(node.disk, FOLDER), { id: others[0], decidedBy: 'log' });
    leader.restart();
    await cluster.until('it runs again', () => leader.store !== null);
    await cluster.caughtUp();
    assert.equal(historiesOf(cluster).size, 2);
  });

  it('is not begun by a node: an empty log is refused, with the command that begins it', async () => {
    const cluster = new TestCluster();
    cluster.log.makeAnew();
    const node = cluster.add();
    await ended(cluster, node);
    assert.match(node.stops[0]!.message, /is empty\. For a new cluster, run "flagstaff cluster init" once/);
    assert.equal(cluster.log.last, 0);
  });

  it('is refused by the data folder of another one, which nothing changes', async () => {
    const cluster = await clusterOf(1);
    const disk = new MemoryFileSystem();
    await disk.makeFolder(FOLDER);
    await writeLogHistory(disk, FOLDER, { id: OTHER, decidedBy: 'log' });
    const before = cluster.log.last;
    const stranger = cluster.add(disk);
    await ended(cluster, stranger);
    assert.match(stranger.stops[0]!.message, new RegExp(`belongs to the history ${OTHER}, and the log`));
    await cluster.pass(10_000);
    assert.equal(cluster.log.last, before);
  });
});

describe('a log that is lost', () => {
  it('while nodes run: none leads, each says what to do, and none makes it anew', async () => {
    const cluster = await clusterOf(3);
    cluster.log.lose();
    await cluster.pass(10_000);
    assert.deepEqual(cluster.leaders, []);
    assert.deepEqual(cluster.log.records, []);
    for (const { replica, isRunning } of cluster.nodes) {
      assert(isRunning);
      const { lagMs, warnings } = replica!.view;
      assert(lagMs > 5_000);
      assert.match(warnings.join(), /run "flagstaff cluster republish" on the one with the newest event/);
    }
  });

  it('and begun anew by somebody else: the nodes that ran before end, and do not start on it', async () => {
    const cluster = await clusterOf(2);
    cluster.log.makeAnew();
    cluster.log.begin(CLUSTER, OTHER);
    for (const node of cluster.nodes) {
      await ended(cluster, node);
      assert.match(node.stops[0]!.message, /recreated|took over/);
      node.begin();
      await cluster.until('it has ended again', () => node.stops.length > 1);
      assert.match(node.stops[1]!.message, new RegExp(`the log of the cluster "test" to ${OTHER}`));
    }
    assert.deepEqual([...historiesOf(cluster)], [OTHER]);
  });
});

describe('a node that ran alone', () => {
  it('keeps what it acknowledged meanwhile: it refuses to join, and cuts nothing off', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    leader.submit(createFlag('alone'));
    await cluster.pass(100);
    leader.crash();
    const { disk } = leader;
    const before = disk.bytesOf(join(FOLDER, 'journal', '00000000000000000001.journal'));
    await decideAlone(disk, FOLDER);
    leader.begin();
    await ended(cluster, leader);
    assert.match(
      leader.stops.at(-1)!.message,
      /ran alone and acknowledged events up to \d+ that the log of the cluster "test" does not have/,
    );
    const after = leader.disk.bytesOf(join(FOLDER, 'journal', '00000000000000000001.journal'));
    assert.deepEqual(after, before);
  });

  it('joins where it changed nothing', async () => {
    const cluster = await clusterOf(2);
    const node = cluster.nodes[1]!;
    node.crash();
    await decideAlone(node.disk, FOLDER);
    node.begin();
    await cluster.until('it runs', () => node.store !== null);
    await cluster.caughtUp();
    assert.deepEqual(await readLogHistory(node.disk, FOLDER), { id: HISTORY, decidedBy: 'log' });
  });
});
