/** Old history that a start leaves unread: what is wrong in it is found after the start, and what the state depends on before. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stateHash } from '../../src/actors/state/world-snapshot.ts';
import { DataFolderError } from '../../src/persistence/disk/data-folder.ts';
import { createFlag, FOLDER, openTestEngine, type TestEngine } from '../support/engine.ts';
import type { MemoryFileSystem } from '../support/memory-file-system.ts';
import { seededRandom } from '../support/seeded-random.ts';

const JOURNAL = `${FOLDER}/journal`;
const FLIPS = 120;
const SEGMENT_BYTES = 1_500;

const open = (
  disk?: MemoryFileSystem,
  deferredBytesMin = 0,
  segmentBytes = SEGMENT_BYTES,
): Promise<TestEngine> =>
  openTestEngine({
    ...(disk !== undefined && { disk }),
    segmentBytes,
    deferredBytesMin,
    timer: (_, run) => {
      const turn = setImmediate(run);
      return () => clearImmediate(turn);
    },
  });

interface Stopped {
  readonly disk: MemoryFileSystem;
  readonly hash: string;
  readonly lastId: number;
  /** The names of the segments, oldest first. */
  readonly segments: readonly string[];
}

/** A folder of several segments, closed cleanly: the snapshot holds all of it. */
async function stopped({ flags = 30, segmentBytes = SEGMENT_BYTES } = {}): Promise<Stopped> {
  const first = await open(undefined, 0, segmentBytes);
  for (let number = 0; number < flags; number += 1) await first.execute(createFlag(`flag-${number}`));
  first.manual.runFreely();
  await first.store.close();
  const { disk } = first;
  const { engine } = first.store;
  const names = disk.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  const segments = names.map((name) => `${JOURNAL}/${name}`).sort();
  assert(segments.length >= 4, 'the journal has several segments');
  return { disk, hash: stateHash(engine.world), lastId: engine.lastId, segments };
}

/** A start on the disk whose check is done. */
async function check(disk: MemoryFileSystem, deferredBytesMin = 0): Promise<TestEngine> {
  const engine = await open(disk, deferredBytesMin);
  engine.manual.runFreely();
  await engine.store.historyCheck.run();
  assert.deepEqual(engine.stops, []);
  return engine;
}

function flipped(disk: MemoryFileSystem, path: string, at: number, bit: number): MemoryFileSystem {
  const copy = disk.copy();
  const bytes = Buffer.from(copy.bytesOf(path));
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  copy.put(path, bytes);
  return copy;
}

const bytesReadOf = (disk: MemoryFileSystem, path: string): number => disk.bytesRead.get(path) ?? 0;

describe('old history that the snapshot holds', () => {
  it('is not read by the start, but for its ends, and wholly read by the check after it', async () => {
    const { disk, hash, lastId, segments } = await stopped({ flags: 200, segmentBytes: 18_000 });
    const copy = disk.copy();
    const engine = await open(copy);
    const { store } = engine;
    assert.equal(store.recovery.deferred.length, segments.length);
    const bytes = segments.reduce((sum, path) => sum + disk.bytesOf(path).length, 0);
    const readBefore = segments.reduce((sum, path) => sum + bytesReadOf(copy, path), 0);
    assert(readBefore < bytes, `${readBefore} bytes read of ${bytes}`);
    assert.equal(store.historyCheck.bytesLeft, bytes);
    assert.equal(stateHash(store.engine.world), hash);
    assert.equal(store.engine.lastId, lastId);
    engine.manual.runFreely();
    await store.historyCheck.run();
    assert.equal(store.historyCheck.bytesLeft, 0);
    assert.deepEqual(engine.stops, []);
    for (const path of segments) {
      assert(bytesReadOf(copy, path) >= disk.bytesOf(path).length, `${path} is read to its end`);
    }
  });

  it('is served on where a bit has flipped, and the check names the place, after each start', async () => {
    const { disk, segments, hash } = await stopped();
    const random = seededRandom(14);
    let later = 0;
    for (let count = 0; count < FLIPS; count += 1) {
      const path = segments[random.below(segments.length)]!;
      const at = random.below(disk.bytesOf(path).length);
      const damaged = flipped(disk, path, at, random.below(8));
      const place = `${path}, byte ${at}`;
      const started = await check(damaged).catch((error: unknown) => error);
      if (started instanceof DataFolderError) continue;
      later += 1;
      const { store } = started as TestEngine;
      const [damage, ...more] = store.historyCheck.damages;
      assert(damage !== undefined && more.length === 0, place);
      assert.equal(damage.file, path);
      assert(damage.offset !== null && damage.offset <= at, place);
      assert.equal(stateHash(store.engine.world), hash, place);
      assert.deepEqual(
        (await check(damaged)).store.historyCheck.damages,
        [damage],
        'the next start finds the same',
      );
    }
    assert(later > FLIPS / 2, `${later} of ${FLIPS} found by the check`);
  });

  it('is served on too where the start has read a short file, and found it damaged', async () => {
    const { disk, segments, hash, lastId } = await stopped();
    const random = seededRandom(15);
    let served = 0;
    for (let count = 0; count < FLIPS; count += 1) {
      const path = segments[random.below(segments.length)]!;
      const at = random.below(disk.bytesOf(path).length);
      const damaged = flipped(disk, path, at, random.below(8));
      const started = await check(damaged, 1024 * 1024).catch((error: unknown) => error);
      if (started instanceof DataFolderError) continue;
      served += 1;
      const { store } = started as TestEngine;
      assert.deepEqual(
        store.historyCheck.damages.map(({ file }) => file),
        [path],
      );
      assert.deepEqual([stateHash(store.engine.world), store.engine.lastId], [hash, lastId]);
    }
    assert(served > FLIPS / 2, `${served} of ${FLIPS} served`);
  });

  it('is searched where it is whole, and the events of a damaged file are named as left out', async () => {
    const { disk, segments } = await stopped();
    const path = segments[1]!;
    const at = disk.bytesOf(path).indexOf('flag-');
    const damaged = flipped(disk, path, at, 0);
    const engine = await open(damaged);
    const { eventLog, durableId } = engine.store.engine;
    const parts = eventLog.parts(durableId);
    const { segment: from, lastId: to } = parts[1]!;
    const searches = () =>
      Promise.all(
        [{ query: 'flag-' }, { type: 'feature-created' }, {}].map((condition) =>
          eventLog.search({ ...condition, limit: durableId, offset: 0 }, durableId),
        ),
      );
    const whole = async () => (await searches()).map(({ totalEvents }) => totalEvents);
    engine.manual.runFreely();
    await engine.store.historyCheck.run();
    for (const { leftOut, json, totalEvents } of await searches()) {
      assert.deepEqual(leftOut, [{ from, to }]);
      const listed = JSON.parse(Buffer.from(json).toString()) as { readonly id: number }[];
      assert(listed.length > 0 && listed.length <= totalEvents);
      assert(listed.every(({ id }) => id < from || id > to));
    }
    const before = await whole();
    damaged.put(path, disk.bytesOf(path));
    await engine.store.historyCheck.pass();
    assert.deepEqual(engine.store.historyCheck.damages, [], 'the file is whole again');
    const after = await searches();
    assert(after.every(({ leftOut }) => leftOut.length === 0));
    assert.equal(after[2]!.totalEvents, durableId);
    for (const [at, { totalEvents }] of after.entries()) assert(totalEvents > before[at]!);
  });

  it('is read again at each interval, and says what has gone bad or missing since the start', async () => {
    const { disk, segments } = await stopped();
    const first = await open(disk);
    first.manual.runFreely();
    const { historyCheck } = first.store;
    await historyCheck.run();
    assert.deepEqual(historyCheck.damages, []);
    const [path, other] = segments as [string, string];
    const bytes = Buffer.from(disk.bytesOf(path));
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 4, bytes.length - 1);
    disk.put(path, bytes);
    disk.take(other);
    await historyCheck.pass();
    assert.deepEqual(
      historyCheck.damages.map(({ file }) => file),
      [path, other],
    );
    assert.deepEqual(first.stops, [], 'the server goes on');
  });

  it('keeps the server from starting where a file is missing, cut, or another one', async () => {
    const { disk, segments } = await stopped();
    const [first, second, third] = segments as [string, string, string];
    const cut = (copy: MemoryFileSystem): void =>
      copy.put(second, disk.bytesOf(second).subarray(0, disk.bytesOf(second).length - 1));
    const mutations: Record<string, (copy: MemoryFileSystem) => void> = {
      'the first is missing': (copy) => copy.take(first),
      'one in the middle is missing': (copy) => copy.take(second),
      'one is cut': cut,
      'two are swapped': (copy) => {
        copy.put(second, disk.bytesOf(third));
        copy.put(third, disk.bytesOf(second));
      },
    };
    for (const [name, mutate] of Object.entries(mutations)) {
      const copy = disk.copy();
      mutate(copy);
      await assert.rejects(open(copy), DataFolderError, name);
    }
  });

  it('does not reach behind the snapshot: damage there keeps the server from starting', async () => {
    const first = await open();
    for (let number = 0; number < 10; number += 1) await first.execute(createFlag(`flag-${number}`));
    first.manual.runFreely();
    await first.store.keeper.take();
    first.manual.holdTurns();
    for (let number = 10; number < 30; number += 1) await first.execute(createFlag(`flag-${number}`));
    first.manual.runFreely();
    const disk = first.disk.crash();
    const { store } = await open(disk.copy());
    const snapshotId = store.recovery.snapshotId ?? 0;
    assert(store.recovery.deferred.length > 0 && store.recovery.replayedEvents > 0);
    assert(store.recovery.deferred.every(({ lastId }) => lastId <= snapshotId));
    const { segment, offset } = store.recovery.tail;
    const last = `${JOURNAL}/${String(segment).padStart(20, '0')}.journal`;
    await assert.rejects(open(flipped(disk, last, offset - 5, 0)), DataFolderError);
  });
});
