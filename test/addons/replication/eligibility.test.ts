/** Nodes that should not lead: with a wrong clock, an address that leads nowhere, or a version that others cannot read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeAnnouncement, encodeAnnouncement } from '../../../src/addons/replication/announcement.ts';
import { createFlag } from '../../support/engine.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { Fate } from './memory-log.ts';
import { TestCluster, type TestClusterOptions, type TestNode } from './test-cluster.ts';

const DAY_MS = 86_400_000;

async function clusterOf(count: number, options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = new TestCluster(options);
  for (let added = 0; added < count; added += 1) cluster.add();
  await cluster.leader();
  await cluster.caughtUp();
  return cluster;
}

const warningsOf = ({ replica }: TestNode): string => replica!.view.warnings.join(' ');

describe('a clock that differs from the others', () => {
  it('makes a leader hand over, and keeps the node from leading until it is right', async () => {
    const cluster = await clusterOf(3);
    await cluster.pass(3_000);
    const leader = await cluster.leader();
    leader.clockOffsetMs = 2 * DAY_MS;
    assert.equal(leader.isLeading, false, 'it decides nothing before the others tell of their clocks');
    const outcome = await leader.execute(createFlag('never'));
    assert.equal(outcome.kind, 'refusal');
    const next = await cluster.leader();
    assert.notEqual(next, leader);
    assert.match(
      warningsOf(leader),
      /The clock of this node is 172800 s ahead of the median of the nodes; set it/,
    );
    assert.match(warningsOf(next), new RegExp(`The clock of ${leader.name} is 172800 s ahead of this one's`));
    next.crash();
    const third = cluster.nodes.find((node) => node !== leader && node !== next)!;
    await cluster.until('the node with a good clock leads', () => third.isLeading);
    leader.clockOffsetMs = 0;
    await cluster.pass(3_000);
    third.crash();
    await cluster.until('it leads with a good clock', () => leader.isLeading);
  });

  it('is not found where some announcements are late', async () => {
    const random = seededRandom(1);
    const fate: Fate = (kind) => (kind === 'announcement' && random.chance(0.2) ? 1_400 : 0);
    const cluster = await clusterOf(3, { fate });
    await cluster.pass(20_000);
    for (const node of cluster.nodes) assert.doesNotMatch(warningsOf(node), /this node is/);
  });
});

describe('an address that leads nowhere', () => {
  it('is named by the node and by the others, and a leader with one hands over', async () => {
    const unreached = new Set<string>();
    const cluster = await clusterOf(3, { reaches: (_, to) => !unreached.has(to) });
    const leader = await cluster.leader();
    unreached.add(leader.name);
    await cluster.pass(9_000);
    const next = await cluster.leader();
    assert.notEqual(next, leader);
    assert.match(
      warningsOf(leader),
      new RegExp(`No other node reaches this one at http://${leader.name}:4242; set REPLICATION_ADDRESS`),
    );
    assert.match(warningsOf(next), new RegExp(`Nothing responds for ${leader.name} at http`));
    assert.deepEqual(leader.stops, []);
  });

  it('is named within 5 seconds of a start', async () => {
    const cluster = await clusterOf(2, { reaches: (_, to) => to !== 'node-3' });
    const late = cluster.add();
    await cluster.pass(5_000);
    assert.match(warningsOf(late), /No other node reaches this one/);
  });

  it('of every node keeps none from leading for good', async () => {
    const cluster = await clusterOf(3, { reaches: () => false });
    await cluster.pass(10_000);
    const leader = await cluster.leader();
    leader.crash();
    await cluster.until('another one leads', () => cluster.leaders.length > 0, 20_000);
  });
});

describe('a node of an older version', () => {
  it('goes first, so that nothing is written that it cannot read, unless it hands over', async () => {
    const cluster = await clusterOf(2);
    const [one, other] = cluster.nodes as [TestNode, TestNode];
    const leader = one.isLeading ? one : other;
    const newer = leader === one ? other : one;
    const link = cluster.log.connect();
    const older = {
      ...{ node: 'older', run: 'aaaaaaaa', address: 'http://older:4242', role: 'following', epoch: 2 },
      ...{ position: 0, durableId: 0, reads: { record: 1, content: 1, rules: 1 } },
    };
    const announce = (handsOver: boolean): void => link.announce(encodeAnnouncement({ ...older, handsOver }));
    announce(false);
    await cluster.pass(100);
    assert.match(
      warningsOf(newer),
      /older of version 0\.2\.0 cannot read what this version writes; upgrade it/,
    );
    leader.crash();
    for (let passed = 0; passed < 7_000; passed += 1_000) {
      announce(false);
      await cluster.pass(1_000);
    }
    assert.equal(newer.isLeading, false);
    announce(true);
    await cluster.until('it leads', () => newer.isLeading, 2_000);
  });

  it('is understood, with what it does not say', () => {
    const { node, run, address, role, epoch, position, durableId, handsOver, ...more } = decodeAnnouncement(
      Buffer.from(
        '{"node":"a","run":"00000001","address":"http://a","role":"leading","epoch":1,"position":2,"durableId":3,"handsOver":false}',
      ),
    )!;
    assert.deepEqual([node, run, address, role, epoch, position, durableId, handsOver].length, 8);
    assert.deepEqual(more, {
      ...{ history: null, version: '0.2.0', wallMs: null, unreached: [], standsLast: false, hopKey: '' },
      reads: { record: 1, content: 2, rules: 3 },
    });
  });
});
