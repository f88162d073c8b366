/** Nodes that share a log: one leads, the others follow, and what the log refuses never happened. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { begin } from '../../../src/addons/replication/command.ts';
import { LAG_MS_MAX } from '../../../src/addons/replication/node-view.ts';
import type { Command } from '../../../src/domain/decide/decide.ts';
import type { World } from '../../../src/domain/state/world.ts';
import { createDataFolder, dataFolder } from '../../../src/persistence/disk/data-folder.ts';
import { FencedError } from '../../../src/persistence/journal/commit-log.ts';
import { readJournalEnd } from '../../../src/persistence/recovery/journal-end.ts';
import { createFlag, FOLDER, openTestEngine, type Submitted } from '../../support/engine.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { commandsOn } from '../../support/random-commands.ts';
import { HISTORY } from './memory-log.ts';
import { CLUSTER, TestCluster, type TestClusterOptions, type TestNode } from './test-cluster.ts';

const CREATED = { kind: 'response', response: ['feature-created'] } as const;

async function clusterOf(count: number, options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = new TestCluster(options);
  for (let added = 0; added < count; added += 1) cluster.add();
  await cluster.leader();
  await cluster.caughtUp();
  return cluster;
}

const followersOf = (cluster: TestCluster): readonly TestNode[] =>
  cluster.nodes.filter((node) => node.isRunning && !node.isLeading);

function refusalText({ outcome }: Submitted): string {
  assert(outcome?.kind === 'refusal', 'it was refused');
  return outcome.refusal.message;
}

describe('a cluster', () => {
  it('begins with one leader, whose first events every node has', async () => {
    const cluster = await clusterOf(3);
    assert.equal(cluster.leaders.length, 1);
    const places = cluster.nodes.map(({ place }) => place);
    assert(places[0]!.lastId > 0);
    assert.deepEqual(new Set(places.map((place) => JSON.stringify(place))).size, 1);
    assert(followersOf(cluster).every(({ replica }) => replica!.view.role === 'following'));
  });

  it('has the same ids, checksums and state on every node, after any commands and a restart', async () => {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    for (const command of commandsOn(leader.store!.engine, { seed, count: 400 })) {
      leader.submit(command);
      await cluster.pass(1);
    }
    await cluster.pass(100);
    const late = cluster.add();
    await cluster.until('the late node runs', () => late.store !== null);
    await cluster.caughtUp();
    const [expected, ...others] = cluster.nodes.map(({ place }) => place);
    for (const other of others) assert.deepEqual(other, expected, `SEED=${seed}`);
    const [follower] = followersOf(cluster);
    follower!.restart();
    await cluster.until('it runs again', () => follower!.store !== null);
    await cluster.caughtUp();
    assert.deepEqual(follower!.place, expected, `SEED=${seed}`);
  });

  it('refuses commands where a node follows, and changes nothing', async () => {
    const cluster = await clusterOf(2);
    const follower = followersOf(cluster)[0]!;
    const before = follower.place;
    const outcome = await follower.execute(createFlag('f'));
    assert(outcome.kind === 'refusal');
    assert.match(outcome.refusal.message, /Another node of the cluster takes the writes/);
    assert.deepEqual(follower.place, before);
  });
});

describe('the log of a busy cluster', () => {
  it('has the next changes of all callers in one record, whenever they began, and the change of one caller at once', async () => {
    const MS = 5;
    const cluster = await clusterOf(2, { fate: () => MS });
    const leader = await cluster.leader();
    const callers: Promise<void>[] = [];
    let made = 0;
    const call = async (times: number): Promise<void> => {
      for (; times > 0; times -= 1) {
        made += 1;
        assert.deepEqual(await leader.execute(createFlag(`flag-${made}`)), CREATED);
      }
    };
    const allOf = async (): Promise<number> => {
      const begunAtMs = cluster.time.elapsedMs;
      let tookMs: number | null = null;
      void Promise.all(callers).then(() => (tookMs = cluster.time.elapsedMs - begunAtMs));
      await cluster.until('all are done', () => tookMs !== null);
      return tookMs!;
    };
    callers.push(call(10));
    assert((await allOf()) < 10 * 3 * MS, 'one caller waits for nothing but the log');
    const before = cluster.log.last;
    for (let at = 0; at < 8; at += 1) {
      callers.push(call(20));
      await cluster.pass(2);
    }
    await allOf();
    const records = cluster.log.last - before;
    assert(records < 30, `${records} records for 8 times 20 changes`);
  });
});

describe('a follower', () => {
  it('takes each record as its leader sends it, with one write to its disk, and reads only what it missed', async () => {
    let isLost = false;
    const cluster = await clusterOf(2, { fate: (kind) => (kind === 'appended' && isLost ? 'lost' : 0) });
    const leader = await cluster.leader();
    const [follower] = followersOf(cluster);
    let reads = 0;
    const read = follower!.link!.read.bind(follower!.link);
    follower!.link!.read = (position) => {
      reads += 1;
      return read(position);
    };
    const { journal } = follower!.store!.engine;
    const costs = async (): Promise<readonly number[]> => {
      const before = { ...journal.stats(), position: cluster.log.last, reads };
      for (let at = 0; at < 8; at += 1) leader.submit(createFlag(`flag-${before.frames + at}`));
      await cluster.until('they are created', () => cluster.log.last > before.position);
      await cluster.caughtUp();
      await cluster.pass(1_000);
      const { batches, frames } = journal.stats();
      return [frames - before.frames, batches - before.batches, reads - before.reads];
    };
    assert.deepEqual(await costs(), [8, 1, 0]);
    isLost = true;
    assert.deepEqual(await costs(), [8, 1, 1]);
    isLost = false;
    const { link } = follower!;
    const send = link!.onAppendedAt.bind(link);
    link!.onAppendedAt = (position, record) => send(position, Buffer.from(record).fill(0, 60));
    assert.deepEqual(await costs(), [8, 1, 1], 'a damaged message stands for none');
  });

  it('shows states that stay as they are, also where it waits for its disk within a record', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const { engine } = followersOf(cluster)[0]!.store!;
    const { journal } = engine;
    const flush = journal.flush.bind(journal);
    const shown: { readonly world: World; readonly hash: string }[] = [];
    Object.defineProperty(journal, 'pendingFrames', { value: Number.POSITIVE_INFINITY });
    journal.flush = () => {
      shown.push({ world: engine.world, hash: stateHash(engine.world) });
      return flush();
    };
    const before = cluster.log.last;
    for (let at = 0; at < 8; at += 1) leader.submit(createFlag(`flag-${at}`));
    await cluster.until('they are created', () => cluster.log.last > before);
    await cluster.caughtUp();
    assert.deepEqual([cluster.log.last - before, shown.length], [1, 8]);
    for (const { world, hash } of shown) assert.equal(stateHash(world), hash);
  });
});

describe('a change that is larger than a record', () => {
  const large = createFlag('large', 'default');
  const many = Array.from({ length: 200 }, (_, at) => ({
    ...large,
    name: `flag-${at}`,
    metadata: { description: 'x'.repeat(5_000) },
  }));

  it('reaches the others in parts, all or none of it', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const before = cluster.log.last;
    const outcomes = many.map((command) => leader.submit(command as Command));
    await cluster.until('all are created', () => outcomes.every(({ outcome }) => outcome !== null));
    assert(cluster.log.last - before >= 2, 'the batch took several records');
    await cluster.caughtUp();
    assert.deepEqual(followersOf(cluster)[0]!.place, leader.place);
  });

  it('never happened when its leader ended before the last part', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const { lastId } = leader.place;
    const { link } = leader;
    const append = link!.append.bind(link);
    let parts = 0;
    link!.append = async (...given) => {
      parts += 1;
      if (parts > 1) leader.crash();
      return append(...given);
    };
    for (const command of many) leader.submit(command as Command);
    await cluster.until('it has ended', () => !leader.isRunning);
    const next = await cluster.leader();
    assert.equal(next.place.lastId, lastId);
    assert.deepEqual(await next.execute(createFlag('flag-0')), CREATED);
    leader.begin();
    await cluster.until('it runs again', () => leader.store !== null);
    await cluster.caughtUp();
    assert.deepEqual(leader.place, next.place);
  });
});

describe('when the leader is gone', () => {
  it('another node leads with all that was acknowledged, though none was told of the newest records', async () => {
    let areLost = false;
    const cluster = await clusterOf(3, {
      fate: (kind) => (areLost && (kind === 'appended' || kind === 'announcement') ? 'lost' : 0),
    });
    const leader = await cluster.leader();
    areLost = true;
    assert.deepEqual(await leader.execute(createFlag('untold')), CREATED);
    const { place } = leader;
    leader.crash();
    await cluster.until('another node leads', () => cluster.leaders.length === 1, 5_000);
    assert.equal(cluster.leaders[0]!.place.lastId, place.lastId);
  });

  it('another node leads within 2 seconds, with all that was acknowledged', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    assert.deepEqual(await leader.execute(createFlag('before')), CREATED);
    leader.crash();
    const crashedAt = cluster.time.elapsedMs;
    const next = await cluster.leader();
    assert(cluster.time.elapsedMs - crashedAt <= 2_000);
    const again = await next.execute(createFlag('before'));
    assert.equal(again.kind, 'refusal');
    assert.deepEqual(await next.execute(createFlag('after')), CREATED);
    leader.begin();
    await cluster.until('it runs again', () => leader.store !== null);
    await cluster.caughtUp();
    assert.deepEqual(leader.place, next.place);
    assert.equal(leader.isLeading, false);
  });

  it('another node leads within 5 seconds where the machine is gone too, and tells nobody', async () => {
    const silent = new Set<string>();
    const cluster = await clusterOf(3, { reaches: (_, to) => !silent.has(to) });
    const leader = await cluster.leader();
    silent.add(leader.name);
    leader.crash();
    await cluster.until('another node leads', () => cluster.leaders.length === 1, 5_000);
  });

  it('another node leads as soon where a supervisor has started it again', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const [other] = followersOf(cluster);
    leader.restart();
    await cluster.until('the other one leads', () => other!.isLeading, 2_000);
  });

  it('nobody takes over from one whose announcements are lost for 2 seconds', async () => {
    let areLost = false;
    const cluster = await clusterOf(3, { fate: (kind) => (areLost && kind === 'announcement' ? 'lost' : 0) });
    const leader = await cluster.leader();
    areLost = true;
    await cluster.pass(2_000);
    areLost = false;
    await cluster.pass(5_000);
    assert.deepEqual(cluster.leaders, [leader]);
  });

  it('hands over at once when it stops in order', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    await leader.execute(createFlag('before'));
    const [next] = followersOf(cluster);
    await leader.close();
    await cluster.until('the other one leads', () => next!.isLeading, 300);
    assert.deepEqual(await next!.execute(createFlag('after')), CREATED);
  });

  it('follows again in the same process when it hands over', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const [next] = followersOf(cluster);
    await leader.execute(createFlag('before'));
    void leader.replica!.handOver();
    await cluster.until('the other one leads', () => next!.isLeading, 300);
    await next!.execute(createFlag('after'));
    await cluster.caughtUp();
    assert.deepEqual([leader.place, leader.stops], [next!.place, []]);
  });
});

describe('a leader that is cut off from the log', () => {
  it('says so within 3 seconds, and decides nothing any more', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    await cluster.pass(3_000);
    assert.equal(leader.isLeading, false);
    const { role, lagMs, problem } = leader.replica!.view;
    assert.equal(role, 'cutOff');
    assert(lagMs > 2_500);
    assert.equal(
      problem,
      'This node led, and the replicated log does not answer for 3 s; it decides nothing.',
    );
    const outcome = await leader.execute(createFlag('never'));
    assert(outcome.kind === 'refusal' && outcome.refusal.name === 'ServiceUnavailableError');
  });

  it('follows after 5 seconds, in the same process, and takes over what another leader wrote', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    await cluster.pass(5_500);
    assert.equal(leader.replica!.view.role, 'following');
    await cluster.until('another node leads', () => cluster.leaders.length === 1);
    const next = cluster.leaders[0]!;
    assert.deepEqual(await next.execute(createFlag('instead')), CREATED);
    leader.link!.isCut = false;
    await cluster.caughtUp();
    assert.deepEqual([leader.place, leader.stops], [next.place, []]);
  });

  it('follows once, and does not take itself for the leader, where that comes before it has begun to lead', async () => {
    let begun: (() => void) | null = null;
    let isSlow = false;
    const onLeading = (): Promise<void> =>
      new Promise((resolve) => {
        if (isSlow) begun = resolve;
        else resolve();
      });
    const cluster = await clusterOf(3, { onLeading });
    const first = await cluster.leader();
    isSlow = true;
    first.crash();
    await cluster.until('another node is made the leader', () => begun !== null);
    const slow = cluster.nodes.find(({ replica }) => replica?.view.role === 'leading')!;
    isSlow = false;
    const link = slow.link!;
    const read = link.read.bind(link);
    const positions: number[] = [];
    link.read = (position) => {
      positions.push(position);
      return read(position);
    };
    link.isCut = true;
    await cluster.pass(6_000);
    assert.notEqual(slow.replica!.view.role, 'leading');
    begun!();
    link.isCut = false;
    const next = await cluster.leader();
    await cluster.caughtUp();
    positions.length = 0;
    assert(next !== slow, 'it does not take itself for the leader');
    for (const name of ['a', 'b', 'c']) {
      assert.deepEqual(await next.execute(createFlag(name)), CREATED);
      await cluster.caughtUp();
    }
    assert.deepEqual([slow.place, slow.stops, slow.isLeading], [next.place, [], false]);
    assert.deepEqual(positions, [...new Set(positions)], 'it follows the log once');
    assert(!slow.notes.includes('This node leads now'));
  });

  it('leads on when the log answers in time, and nobody else has stood', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    await cluster.pass(2_900);
    assert.equal(leader.replica!.view.role, 'cutOff');
    leader.link!.isCut = false;
    await cluster.until('it leads again', () => leader.isLeading, 1_000);
    assert.deepEqual(await leader.execute(createFlag('f')), CREATED);
    assert.deepEqual(cluster.leaders, [leader]);
  });

  it('ends when it cannot know within 5 seconds whether its change happened; what it had is cut off', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    const written = leader.submit(createFlag('never'));
    await cluster.pass(100);
    const shown = leader.place.lastId;
    await cluster.until('it has stopped', () => !leader.isRunning, 5_500);
    const [stop] = leader.stops;
    assert(stop instanceof FencedError, String(stop));
    await cluster.until('another node leads', () => cluster.leaders.length === 1);
    const next = cluster.leaders[0]!;
    assert.deepEqual(await next.execute(createFlag('instead')), CREATED);
    assert.match(refusalText(written), /^The change may have happened/);
    leader.begin();
    await cluster.until('it follows', () => leader.replica?.view.role === 'following');
    await cluster.caughtUp();
    assert.equal(next.place.lastId, shown + 1);
    assert.deepEqual(leader.place, next.place);
    assert(
      leader.notes.some((note) => note.startsWith('Events that the replicated log refused are cut off')),
    );
  });

  it('goes on when nobody else took over, and its write succeeds once', async () => {
    const cluster = await clusterOf(1);
    const leader = await cluster.leader();
    leader.link!.isCut = true;
    const written = leader.submit(createFlag('f'));
    await cluster.pass(4_000);
    assert.equal(written.outcome, null);
    const before = cluster.log.last;
    leader.link!.isCut = false;
    await cluster.until('it is acknowledged', () => written.outcome !== null);
    assert.deepEqual(written.outcome, CREATED);
    assert.equal(cluster.log.last, before + 1);
  });

  it('does not lead any more when another one does', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const [other] = followersOf(cluster);
    leader.link!.isCut = true;
    await cluster.until('the other one leads', () => other!.isLeading);
    assert.deepEqual(cluster.leaders, [other]);
  });
});

describe('a log that nobody reaches', () => {
  it('keeps no read waiting: every node shows the last decided state', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    const before = leader.place;
    cluster.log.pause();
    const written = leader.submit(createFlag('f'));
    for (let second = 0; second < 20; second += 1) {
      await cluster.pass(1_000);
      for (const node of cluster.nodes) {
        const { engine } = node.store!;
        assert.deepEqual(node.place, before);
        assert.equal(engine.world.projects.get('default')!.flags.has('f'), false);
        assert.equal(engine.lastId, engine.durableId, 'a read of it is settled');
      }
    }
    assert(cluster.nodes.every(({ isRunning }) => isRunning));
    assert.match(refusalText(written), /^The change may have happened/);
  });

  it('leaves no write without a word: within 5 seconds those under way, at once those that come later', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    cluster.log.pause();
    const written = leader.submit(createFlag('f'));
    await cluster.pass(1_000);
    const again = leader.submit(createFlag('f'));
    await cluster.pass(4_500);
    assert.match(refusalText(written), /^The change may have happened/);
    assert.match(refusalText(again), /^Nothing was done/);
    const late = leader.submit(createFlag('late'));
    await cluster.pass(1);
    assert.match(refusalText(late), /takes the writes/);
  });

  it('has the write in doubt once when it is back, or never, and tells a retry which', async () => {
    for (const isHeard of [true, false]) {
      const cluster = await clusterOf(3);
      const leader = await cluster.leader();
      const retry = {
        key: 'in doubt',
        fingerprint: 'in doubt',
        toRemember: () => ({ status: 200, body: 'made' }),
        fromMemory: ({ body }: { readonly body: string | null }) => body,
      };
      const written = leader.submit(createFlag('f'), { retry });
      if (isHeard) await cluster.pass(1);
      cluster.log.pause();
      await cluster.pass(10_000);
      cluster.log.resume();
      await cluster.until('a node leads', () => cluster.leaders.length === 1);
      await cluster.caughtUp();
      const again = cluster.leaders[0]!.submit(createFlag('f'), { retry });
      await cluster.until('it is told', () => again.outcome !== null && written.outcome !== null);
      assert.equal(again.outcome!.kind, 'response');
      await cluster.caughtUp();
      for (const { store, isRunning } of cluster.nodes) {
        if (!isRunning) continue;
        const { flags } = store!.engine.world.projects.get('default')!;
        assert.equal(flags.has('f'), true);
      }
    }
  });
});

describe('the disk of a leader', () => {
  it('that hangs makes another node lead within 8 seconds, and nothing is lost', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    assert.deepEqual(await leader.execute(createFlag('before')), CREATED);
    leader.disk.beforeCall = () => new Promise(() => undefined);
    leader.submit(createFlag('during'));
    await cluster.until('another node leads', () => cluster.leaders.some((node) => node !== leader), 8_000);
    await cluster.until('it has stopped', () => !leader.isRunning, 5_500);
    const next = await cluster.leader();
    assert.equal((await next.execute(createFlag('before'))).kind, 'refusal');
    assert.deepEqual(await next.execute(createFlag('after')), CREATED);
  });

  it('that is full makes it hand over to a node that has room, and it does not stand again', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    const [other] = followersOf(cluster);
    Object.defineProperty(leader.store!.engine.journal, 'writable', { get: () => false });
    await cluster.until('the other one leads', () => other!.isLeading, 3_000);
    assert.deepEqual(await other!.execute(createFlag('after')), CREATED);
    await cluster.caughtUp();
    other!.crash();
    await cluster.pass(20_000);
    assert.deepEqual(cluster.leaders, []);
    assert.deepEqual(leader.stops, []);
  });
});

describe('a journal and a log that do not agree', () => {
  it('keep a node from starting when the log has lost what was acknowledged', async () => {
    const cluster = await clusterOf(1);
    const leader = await cluster.leader();
    await leader.execute(createFlag('a'));
    await leader.execute(createFlag('b'));
    leader.crash();
    cluster.log.loseTail(2);
    leader.begin();
    await cluster.until('it has refused', () => !leader.isRunning);
    assert.match(leader.stops[0]!.message, /tell different histories/);
  });

  it('keep a node from starting when the log is empty and the journal is not', async () => {
    const cluster = await clusterOf(1);
    const leader = await cluster.leader();
    leader.crash();
    cluster.log.loseTail(cluster.log.last);
    leader.begin();
    await cluster.until('it has refused', () => !leader.isRunning);
    assert.match(
      leader.stops[0]!.message,
      /log of the cluster "test" is empty\. The journal of this node ends with event 5\./,
    );
  });

  it('let a node start where the log has only said for some seconds that it ends earlier', async () => {
    const cluster = await clusterOf(1);
    const node = await cluster.leader();
    await node.execute(createFlag('a'));
    await node.execute(createFlag('b'));
    node.crash();
    const { records } = cluster.log;
    cluster.log.records = records.slice(0, -2);
    node.begin();
    await cluster.pass(6_000);
    assert(node.isRunning);
    cluster.log.records = records;
    assert.deepEqual(await (await cluster.leader()).execute(createFlag('c')), CREATED);
    assert.deepEqual(node.stops, []);
  });

  it('stop nodes under whose feet the log was shortened, once it has said so for 10 seconds', async () => {
    const cluster = await clusterOf(2);
    const leader = await cluster.leader();
    await leader.execute(createFlag('a'));
    await cluster.caughtUp();
    cluster.log.loseTail(1);
    await cluster.pass(9_000);
    assert.deepEqual(cluster.leaders, [], 'nobody decides anything meanwhile');
    for (const { isRunning } of cluster.nodes) assert(isRunning);
    await cluster.pass(2_000);
    for (const { stops } of cluster.nodes)
      assert.match(stops[0]!.message, /ends at position \d+, and position \d+ was acknowledged/);
  });

  it('stop no node where the log has only said for some seconds that it ends earlier', async () => {
    const cluster = await clusterOf(3);
    const leader = await cluster.leader();
    await leader.execute(createFlag('a'));
    await cluster.caughtUp();
    const { records } = cluster.log;
    cluster.log.records = records.slice(0, -1);
    await cluster.pass(6_000);
    cluster.log.records = records;
    const next = await cluster.leader();
    assert.deepEqual(await next.execute(createFlag('b')), CREATED);
    await cluster.caughtUp();
    for (const { stops } of cluster.nodes) assert.deepEqual(stops, []);
  });
});

describe('a log that begins behind a journal', () => {
  it('is followed by the node with that journal and by copies of it, and by no other', async () => {
    const alone = await openTestEngine();
    await alone.execute(createFlag('from-before'));
    alone.manual.runFreely();
    await alone.store.close();
    const cluster = new TestCluster();
    cluster.log.makeAnew();
    const link = cluster.log.connect();
    const end = await readJournalEnd(alone.disk, dataFolder(FOLDER));
    const config = { cluster: CLUSTER, node: 'x' };
    const begun = begin(link, config, { history: HISTORY, end });
    const again = assert.rejects(begin(link, config, { history: HISTORY, end }), /holds records already/);
    await cluster.pass(1);
    await Promise.all([begun, again]);
    cluster.add(await copyOf(alone.disk));
    cluster.add(alone.disk.crash());
    const empty = cluster.add();
    const leader = await cluster.leader();
    assert.deepEqual(await leader.execute(createFlag('from-now-on')), CREATED);
    await cluster.until('the empty node stops', () => empty.stops.length > 0);
    await cluster.caughtUp();
    const [original, copy] = cluster.nodes;
    assert.deepEqual(copy!.stops, []);
    assert.deepEqual(original!.place, copy!.place);
    assert.match(
      empty.stops[0]!.message,
      /log begins after event 0, with which the journal of this node ends/,
    );
  });
});

/** The data folder on another disk. */
async function copyOf(disk: MemoryFileSystem): Promise<MemoryFileSystem> {
  const copy = new MemoryFileSystem();
  const folder = dataFolder(FOLDER);
  await createDataFolder(copy, folder);
  for (const path of [folder.root, folder.journal, folder.snapshots]) {
    for (const name of disk.namesIn(path)) copy.put(join(path, name), disk.bytesOf(join(path, name)));
  }
  return copy;
}

it('a follower that stood still does not take what it finds for news: it is not ready before it shows what it missed', async () => {
  const cluster = await clusterOf(2);
  const leader = await cluster.leader();
  const follower = followersOf(cluster)[0]!;
  follower.freeze();
  for (let passed = 0; passed < 8; passed += 1) await cluster.pass(1_000);
  assert.equal((await leader.execute(createFlag('missed')))?.kind, 'response');
  const missedId = leader.store!.engine.durableId;
  follower.thaw();
  while (follower.store!.engine.durableId < missedId) {
    assert(follower.replica!.view.lagMs > LAG_MS_MAX, 'it says how old its state is');
    await cluster.time.step();
  }
  await cluster.until('it is ready again', () => follower.replica!.view.lagMs < 1_000);
});

it('a node that does not hear the log is not ready after 4 seconds, and says why, though it hears the leader', async () => {
  const cluster = await clusterOf(2);
  const leader = await cluster.leader();
  const follower = followersOf(cluster)[0]!;
  const link = follower.link!;
  const extent = link.extent.bind(link);
  link.extent = () => Promise.reject(new Error('no answer'));
  await cluster.pass(4_500);
  const { warnings, lagMs } = follower.replica!.view;
  assert.deepEqual(warnings, ['The replicated log does not answer (no answer).']);
  assert(lagMs > LAG_MS_MAX, 'the word of the leader does not make up for it');
  assert(leader.isLeading);
  link.extent = extent;
  await cluster.until('it is ready again', () => follower.replica!.view.lagMs < 1_000, 2_000);
});

it('a node whose start took long is not ready before it has what the leader has', async () => {
  let areLost = false;
  const cluster = await clusterOf(2, {
    fate: (kind) => (areLost && kind === 'announcement' ? 'lost' : 0),
  });
  const leader = await cluster.leader();
  const late = followersOf(cluster)[0]!;
  areLost = true;
  late.crash();
  late.begin();
  const { beforeCall } = late.disk;
  late.disk.beforeCall = (call) => {
    // It writes the mark once it has asked the log.
    if (call.kind === 'write' && call.path.includes('durable.mark')) late.hangDisk();
    return beforeCall?.(call);
  };
  await cluster.pass(10_000);
  assert.equal(late.store, null, 'it has asked the log, and starts still');
  late.disk.beforeCall = beforeCall;
  late.healDisk();
  await cluster.until('it has all that the log had then', () => late.replica?.view.role === 'following');
  assert(late.replica!.view.lagMs >= 9_000, 'what it shows may be as old as its question to the log');
  areLost = false;
  await cluster.until('it has heard of the leader', () => late.replica!.view.lagMs < 1_000);
  assert.equal(late.place.lastId, leader.place.lastId);
});
