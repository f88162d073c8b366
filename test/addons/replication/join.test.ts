/** Nodes that join from the archive, a log that forgets, and crashes in the middle of both. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { align, recordBefore } from '../../../src/addons/replication/alignment.ts';
import {
  archivedSegmentName,
  firstRun,
  readArchiveIndex,
} from '../../../src/addons/replication/archive-index.ts';
import { framesIn, payloadOf, SegmentBuilder } from '../../../src/addons/replication/archived-frames.ts';
import { JournalGatherer } from '../../../src/addons/replication/journal-gatherer.ts';
import { NodeHistory } from '../../../src/addons/replication/node-history.ts';
import { LogDamageError } from '../../../src/addons/replication/record-format.ts';
import { dataFolder } from '../../../src/persistence/disk/data-folder.ts';
import { FRAME_FORMAT, frameEnd } from '../../../src/persistence/journal/frame-format.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import { readJournalEnd } from '../../../src/persistence/recovery/journal-end.ts';
import { createFlag, FOLDER } from '../../support/engine.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import type { ArchiveCall } from './memory-archive.ts';
import { CLUSTER, TestCluster, type TestClusterOptions, type TestNode } from './test-cluster.ts';

const FILE_BYTES = 8 * 1024;

async function clusterOf(count: number, options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = new TestCluster({ archiveFileBytes: FILE_BYTES, ...options });
  for (let added = 0; added < count; added += 1) cluster.add();
  await cluster.leader();
  return cluster;
}

let flags = 0;

/** Changes enough for several archived files. */
async function write(cluster: TestCluster, count = 150): Promise<void> {
  const leader = await cluster.leader();
  for (let at = 0; at < count; at += 1) {
    flags += 1;
    leader.submit({ ...createFlag(`flag-${flags}`), metadata: { description: 'x'.repeat(200) } } as never);
    if (at % 20 === 0) await cluster.pass(20);
  }
  await cluster.pass(100);
}

const indexOf = ({ archive }: TestCluster) =>
  readArchiveIndex([...archive.files].map(([name, { length: bytes }]) => ({ name, bytes })));

const archived = (cluster: TestCluster) => firstRun(indexOf(cluster));

const hasForgotten = (cluster: TestCluster): boolean => cluster.log.first > 1;

/** A cluster of two whose follower is away for longer than the log keeps what it lacks. */
async function clusterWithoutOne(): Promise<{ cluster: TestCluster; leader: TestNode; away: TestNode }> {
  const cluster = await clusterOf(2);
  await write(cluster, 50);
  await cluster.caughtUp();
  const leader = await cluster.leader();
  const away = cluster.nodes.find((node) => node !== leader)!;
  const before = away.place.lastId;
  away.crash();
  await cluster.pass(15_000);
  for (let round = 0; round < 3; round += 1) await write(cluster);
  await cluster.until(
    'the log has forgotten what it lacks',
    () => leader.archivist!.view!.forgottenId > before,
  );
  return { cluster, leader, away };
}

async function isLike(node: TestNode, cluster: TestCluster): Promise<void> {
  await cluster.until(`${node.name} runs`, () => node.store !== null);
  await cluster.caughtUp();
  assert.deepEqual(node.place, (await cluster.leader()).place);
  assert.deepEqual(node.stops, []);
}

const journalOf = (): string => dataFolder(FOLDER).journal;

/** The files of a node's journal but for the newest one, which is not mended. */
const sealedOf = ({ disk }: TestNode): readonly string[] =>
  disk
    .namesIn(journalOf())
    .filter((name) => name.endsWith('.journal'))
    .slice(0, -1)
    .map((name) => join(journalOf(), name));

/** Offset and checksum of each frame. */
function framesOf(bytes: Buffer): readonly (readonly [number, number])[] {
  const frames: (readonly [number, number])[] = [];
  for (let at = SEGMENT_HEADER_BYTES; at < bytes.length; at = frameEnd(FRAME_FORMAT.readHeader(bytes, at)!))
    frames.push([at, FRAME_FORMAT.readHeader(bytes, at)!.checksum]);
  return frames;
}

function flipBit({ disk }: TestNode, path: string, at: number): void {
  const bytes = disk.bytesOf(path);
  bytes[at]! ^= 1;
  disk.put(path, bytes);
}

/** A follower with several files of journal, all of them archived but the newest. */
async function followerWithFiles(cluster: TestCluster): Promise<TestNode> {
  await write(cluster);
  await cluster.pass(10_000);
  await cluster.caughtUp();
  const follower = cluster.nodes.find((node) => !node.isLeading)!;
  assert(sealedOf(follower).length >= 2 && archived(cluster) !== null);
  return follower;
}

/** Reads all of a node's journal again; the files in which it finds damage that stays. */
async function damagedFiles(cluster: TestCluster, { store }: TestNode): Promise<readonly string[]> {
  const { historyCheck } = store!;
  let isRead = false;
  void historyCheck.pass().then(() => {
    isRead = true;
  });
  await cluster.until('the journal was read again', () => isRead);
  return historyCheck.damages.map(({ file }) => file);
}

describe('a damaged file of the journal', () => {
  const SIZES = { segmentBytes: 4 * 1024 };

  it('is made anew from the archive while the node serves, with the same frames in the same places', async () => {
    const cluster = await clusterOf(2, SIZES);
    const follower = await followerWithFiles(cluster);
    const damaged = sealedOf(follower)[0]!;
    const before = framesOf(follower.disk.bytesOf(damaged));
    flipBit(follower, damaged, 700);
    assert.deepEqual(await damagedFiles(cluster, follower), []);
    assert.deepEqual(framesOf(follower.disk.bytesOf(damaged)), before);
    assert(follower.notes.some((note) => note.includes('was restored from the archive')));
    follower.restart();
    await isLike(follower, cluster);
  });

  it('is made anew at a start that has to read it', async () => {
    const cluster = await clusterOf(2, SIZES);
    const follower = await followerWithFiles(cluster);
    const [, damaged] = sealedOf(follower);
    follower.crash();
    flipBit(follower, damaged!, 300);
    follower.begin();
    await isLike(follower, cluster);
    assert(follower.notes.some((note) => note.includes('was restored from the archive')));
  });

  it('stays as it is where the archive has other events, is damaged, or does not have them all', async () => {
    const other = await clusterOf(1, SIZES);
    await write(other);
    await other.pass(10_000);
    const cluster = await clusterOf(2, SIZES);
    const follower = await followerWithFiles(cluster);
    const damaged = sealedOf(follower)[0]!;
    flipBit(follower, damaged, 700);
    const files = new Map(cluster.archive.files);
    damageFiles(cluster, [...files.keys()]);
    assert.deepEqual(await damagedFiles(cluster, follower), [damaged]);
    assert(follower.notes.some((note) => note.includes('is damaged, and so is the archive')));
    for (const others of [other.archive.files, new Map<string, Buffer>()]) {
      cluster.archive.files.clear();
      for (const [name, bytes] of others) cluster.archive.files.set(name, bytes);
      follower.notes.length = 0;
      assert.deepEqual(await damagedFiles(cluster, follower), [damaged]);
      assert(follower.notes.some((note) => note.includes('does not have all that a damaged file')));
    }
    cluster.archive.files.clear();
    for (const [name, bytes] of files) cluster.archive.files.set(name, bytes);
    assert.deepEqual(await damagedFiles(cluster, follower), []);
  });
});

const segmentNames = ({ archive }: TestCluster): readonly string[] =>
  [...archive.files.keys()].filter((name) => name.startsWith('segment'));

/** Flips a bit in the last frame of each. */
function damageFiles({ archive: { files } }: TestCluster, names: readonly string[]): void {
  for (const name of names) {
    const bytes = Buffer.from(files.get(name)!);
    bytes[bytes.length - 20]! ^= 1;
    files.set(name, bytes);
  }
}

describe('a cluster with an archive', () => {
  it('archives the journal and the newest two snapshots, and has the log forget what is archived', async () => {
    const cluster = await clusterOf(2);
    for (let round = 0; round < 4; round += 1) {
      await write(cluster);
      const leader = await cluster.leader();
      void leader.store!.keeper.take();
      await cluster.pass(10_000);
    }
    await cluster.until('the log has forgotten something', () => hasForgotten(cluster));
    const index = indexOf(cluster);
    const run = firstRun(index)!;
    assert.equal(run.firstId, 1);
    assert.equal(run.segments.length, index.segments.length, 'nothing twice');
    assert.equal(index.snapshots.length, 2);
    assert(index.snapshots.every(({ id }) => id <= run.lastId));
    const leader = await cluster.leader();
    const { archivedId, forgottenId, firstPosition, problem } = leader.archivist!.view!;
    assert.deepEqual([archivedId, firstPosition, problem], [run.lastId, cluster.log.first, null]);
    assert(forgottenId < run.segments.at(-1)!.firstId, 'a margin stays');
  });

  it('goes on with the archive after another node has taken over', async () => {
    const cluster = await clusterOf(2);
    await write(cluster);
    await cluster.pass(10_000);
    const first = await cluster.leader();
    const before = archived(cluster)!;
    void first.replica!.handOver();
    await cluster.until('another node leads', () => cluster.leaders.some((node) => node !== first));
    await write(cluster);
    await cluster.pass(10_000);
    const run = archived(cluster)!;
    assert(run.lastId > before.lastId);
    assert.deepEqual(run.segments.slice(0, before.segments.length), before.segments);
  });

  it('gives an empty node all events, though the log has forgotten the first ones', async () => {
    const cluster = await clusterOf(1);
    await write(cluster);
    void (await cluster.leader()).store!.keeper.take();
    await cluster.pass(10_000);
    await write(cluster);
    await cluster.pass(10_000);
    assert(hasForgotten(cluster));
    const late = cluster.add();
    await isLike(late, cluster);
    assert(late.notes.some((note) => note.includes('came from the archive')));
    assert(late.disk.namesIn(dataFolder(FOLDER).snapshots).length > 0, 'it need not replay everything');
    late.restart();
    await isLike(late, cluster);
  });

  it('gives an empty node the snapshot before the newest one, where that is damaged', async () => {
    const cluster = await clusterOf(1);
    for (let round = 0; round < 4; round += 1) {
      await write(cluster);
      void (await cluster.leader()).store!.keeper.take();
      await cluster.pass(10_000);
    }
    const [older, newest] = indexOf(cluster).snapshots;
    assert(older !== undefined && newest !== undefined, 'two snapshots are archived');
    const { files } = cluster.archive;
    for (const { name } of newest.parts) {
      const bytes = Buffer.from(files.get(name)!);
      bytes[100]! ^= 1;
      files.set(name, bytes);
    }
    const late = cluster.add();
    await isLike(late, cluster);
    const names = late.disk.namesIn(dataFolder(FOLDER).snapshots);
    assert(
      names.some((name) => name.includes(String(older.id))),
      names.join(),
    );
  });

  it('gives what is whole where two leaders archived the same, and says what it tried where neither is', async () => {
    const { cluster, leader, away } = await clusterWithoutOne();
    const { files } = cluster.archive;
    const names = segmentNames(cluster);
    const { lastId: id, chain } = archived(cluster)!;
    const source = { fs: leader.disk, folder: journalOf() };
    const gatherer = (await JournalGatherer.at(source, 1.6 * FILE_BYTES, { id: 0, chain: 0 }))!;
    let reached = { id: 0, chain: 0 };
    for (let file = await gatherer.next(id); file !== null; file = await gatherer.next(id)) {
      files.set(archivedSegmentName(file), file.content);
      reached = { id: file.lastId, chain: file.chain };
    }
    // The journal has no more for a whole file.
    const rest = new SegmentBuilder(reached.id + 1, reached.chain);
    for (const segment of archived(cluster)!.segments.filter(({ lastId }) => lastId > reached.id)) {
      const bytes = Buffer.from(files.get(segment.name)!);
      for (const frame of framesIn(bytes, segment))
        if (frame.id > reached.id) rest.add({ ...frame, payload: payloadOf(bytes, frame) });
    }
    files.set(archivedSegmentName({ firstId: rest.firstId, lastId: id, chain }), rest.content());
    assert.equal(rest.chain, chain);
    const others = segmentNames(cluster).filter((name) => !names.includes(name));
    damageFiles(cluster, names);
    const late = cluster.add();
    away.begin();
    for (const node of [late, away]) {
      await isLike(node, cluster);
      assert(node.notes.some((note) => note.includes('came from the archive')));
    }
    damageFiles(cluster, others.slice(-1));
    late.crash();
    late.disk = new MemoryFileSystem();
    late.begin();
    await cluster.until('it has ended', () => late.stops.length > 0);
    const { message } = late.stops[0]!;
    assert.match(message, /lacks what the log has forgotten, and no archived file has event \d+ whole: /);
    for (const tried of [names, others])
      assert(
        tried.some((name) => message.includes(name)),
        message,
      );
  });

  it('gives a node that was away what the log has forgotten meanwhile, and no more', async () => {
    const { cluster, away } = await clusterWithoutOne();
    away.begin();
    await isLike(away, cluster);
    assert(away.notes.some((note) => note.includes('came from the archive')));
  });

  it('keeps what a node that was heard of lately has not read', async () => {
    const cluster = await clusterOf(2);
    await cluster.caughtUp();
    const leader = await cluster.leader();
    const slow = cluster.nodes.find((node) => node !== leader)!;
    const { lastId } = slow.place;
    // It says that it is there, and its disk stands still.
    slow.disk.beforeCall = ({ kind }) =>
      kind === 'write' || kind === 'sync' ? new Promise(() => undefined) : undefined;
    for (let round = 0; round < 3; round += 1) await write(cluster);
    await cluster.pass(20_000);
    const { archivedId, forgottenId } = leader.archivist!.view!;
    assert(archivedId > lastId + 100);
    assert(forgottenId <= lastId + 1, `${forgottenId} was forgotten, and it has ${lastId}`);
  });

  it('ends a follower whose next record was forgotten, and it comes back from the archive', async () => {
    const cluster = await clusterOf(2);
    await cluster.caughtUp();
    const leader = await cluster.leader();
    const cut = cluster.nodes.find((node) => node !== leader)!;
    cut.link!.isCut = true;
    await cluster.pass(15_000);
    for (let round = 0; round < 3; round += 1) await write(cluster);
    await cluster.until('the log has forgotten something', () => hasForgotten(cluster));
    cut.link!.isCut = false;
    await cluster.until('it has ended', () => !cut.isRunning);
    assert.match(String(cut.stops[0]!.message), /the log begins with position/);
    cut.stops.length = 0;
    cut.begin();
    await isLike(cut, cluster);
  });

  it('does not start an empty node on an empty log while the archive holds another history', async () => {
    const cluster = await clusterOf(1);
    await write(cluster);
    await cluster.pass(10_000);
    const other = new TestCluster({ archiveFileBytes: FILE_BYTES });
    for (const [name, bytes] of cluster.archive.files) other.archive.files.set(name, bytes);
    other.log.makeAnew();
    const node = other.add();
    await other.until('it has ended', () => node.stops.length > 0);
    assert.match(
      node.stops[0]!.message,
      /The log of the cluster "test" is empty\. The journal of this node ends with event/,
    );
  });

  it('takes nothing from the archive of another history than that of the log', async () => {
    const cluster = await clusterOf(1);
    await write(cluster);
    await cluster.pass(10_000);
    cluster.log.makeAnew();
    cluster.log.begin(CLUSTER, 'd'.repeat(32));
    const late = cluster.add();
    await cluster.until('it has ended', () => late.stops.length > 0);
    assert.match(late.stops[0]!.message, /the archive belongs to the history c+, not d+/);
    assert.deepEqual(late.disk.namesIn(dataFolder(FOLDER).journal), []);
  });

  it('deletes from the archive what retention removed, when a snapshot in it makes up for that', async () => {
    const cluster = await clusterOf(1, { hasRetention: true, segmentBytes: FILE_BYTES });
    const leader = await cluster.leader();
    await write(cluster);
    await cluster.pass(10_000);
    const remove = async (count: number): Promise<void> => {
      const { journal } = dataFolder(FOLDER);
      const names = leader.disk.namesIn(journal).filter((name) => name.endsWith('.journal'));
      for (const name of names.slice(0, count)) leader.disk.take(join(journal, name));
      await write(cluster, 60);
      await cluster.pass(70_000);
    };
    await remove(2);
    assert.equal(archived(cluster)!.firstId, 1, 'nothing makes up for it yet');
    void leader.store!.keeper.take();
    await remove(0);
    const { firstId } = archived(cluster)!;
    assert(firstId > 1 && firstId <= leader.archivist!.view!.snapshotId + 1);
    const late = cluster.add();
    await isLike(late, cluster);
  });

  it('does not take for damage what the log forgets while a node compares its journal with it', async () => {
    const end = { places: [{ id: 0, chain: 0, boundary: null }], committedId: 0 } as const;
    for (const [firstThen, isDamage] of [
      [1, true],
      [9, false],
    ] as const) {
      const extents = [{ first: 1, last: 9 }];
      const extent = async () => extents.pop() ?? { first: firstThen, last: 9 };
      const fails = align({ extent, read: async () => null } as never, new NodeHistory(CLUSTER, null), end);
      await assert.rejects(fails, (error) => error instanceof LogDamageError === isDamage);
    }
  });

  it('begins to read where the leader lets the log begin for a node that is so far', async () => {
    const cluster = await clusterOf(2);
    const [follower] = cluster.nodes.filter((node) => !node.isLeading);
    await write(cluster);
    await cluster.caughtUp();
    follower!.crash();
    await write(cluster);
    const end = await readJournalEnd(follower!.disk, dataFolder(FOLDER));
    assert(end.places.length > 1, 'the last batch can be looked into');
    const link = cluster.log.connect();
    const outcome = Promise.all([align(link, new NodeHistory(CLUSTER, null), end), link.extent()]);
    await cluster.pass(1_000);
    const [{ place, from }, extent] = await outcome;
    const kept = recordBefore(link, extent, place.id);
    await cluster.pass(1_000);
    assert.equal(from, await kept);
    assert(from > extent.first);
  });

  it('archives and forgets nothing where the archive tells another history', async () => {
    const cluster = await clusterOf(1);
    await write(cluster);
    await cluster.pass(10_000);
    const other = await clusterOf(1);
    const [name, bytes] = [...cluster.archive.files].find(([one]) => one.startsWith('segment'))!;
    other.archive.files.clear();
    other.archive.files.set(name.replace(/[0-9a-f]{8}$/, 'deadbeef'), bytes);
    await write(other);
    await other.pass(20_000);
    assert.match((await other.leader()).archivist!.view!.problem ?? '', /another history/);
    const archived = [...other.archive.files.keys()].filter((one) => !one.startsWith('history'));
    assert.deepEqual([archived.length, other.log.first], [1, 1]);
  });

  it('archives and forgets nothing where the archive belongs to a history of another name', async () => {
    const cluster = await clusterOf(1);
    cluster.archive.files.clear();
    cluster.archive.files.set(`history.${'d'.repeat(32)}`, Buffer.alloc(0));
    await write(cluster);
    await cluster.pass(20_000);
    assert.match((await cluster.leader()).archivist!.view!.problem ?? '', /another history, d+$/);
    assert.deepEqual([cluster.archive.files.size, cluster.log.first], [1, 1]);
  });
});

describe('a crash in the middle', () => {
  const CALLS: readonly ArchiveCall[] = ['put', 'list', 'delete'];

  for (const kind of CALLS) {
    it(`of ${kind} by the leader leaves an archive that the next leader completes`, async () => {
      let hangsAt = Number.POSITIVE_INFINITY;
      let calls = 0;
      const cluster = await clusterOf(2, {
        archiveTakesMs: (call) => {
          if (call !== kind) return 1;
          calls += 1;
          return calls === hangsAt ? Number.POSITIVE_INFINITY : 1;
        },
      });
      for (let crash = 1; crash <= 4; crash += 1) {
        // Each call passes twice, before and after it happens.
        hangsAt = calls + crash;
        await write(cluster, 60);
        void (await cluster.leader()).store!.keeper.take();
        await cluster.pass(8_000);
        const leader = await cluster.leader();
        leader.crash();
        hangsAt = Number.POSITIVE_INFINITY;
        await cluster.leader();
        leader.begin();
        await isLike(leader, cluster);
      }
      await cluster.pass(20_000);
      const late = cluster.add();
      await isLike(late, cluster);
    });
  }

  it('of a joining node, at each of its calls to the disk, leaves what the next start completes', async () => {
    const cluster = await clusterOf(1);
    await write(cluster);
    void (await cluster.leader()).store!.keeper.take();
    await cluster.pass(10_000);
    await write(cluster);
    await cluster.until('the log has forgotten something', () => hasForgotten(cluster));
    await joinsAfterCrashes(cluster);
  });
});

/** An empty node crashes at one call to its disk, joins at the next start, and so on for the next calls. */
async function joinsAfterCrashes(cluster: TestCluster): Promise<void> {
  let crashes = 0;
  for (let at = 1; at < 400; at += 5) {
    let isCrashed = false;
    const disk = new MemoryFileSystem({
      beforeCall: ({ number }) => {
        if (number !== at) return undefined;
        isCrashed = true;
        return new Promise(() => undefined);
      },
    });
    const late = cluster.nodes[1] ?? cluster.add(disk);
    if (late.disk !== disk) {
      late.disk = disk;
      late.begin();
    }
    await cluster.until('it runs or hangs', () => isCrashed || late.store !== null);
    if (isCrashed) {
      crashes += 1;
      late.restart();
    }
    await isLike(late, cluster);
    late.crash();
    if (!isCrashed) break;
  }
  assert(crashes >= 10, `${crashes} crashes`);
}
