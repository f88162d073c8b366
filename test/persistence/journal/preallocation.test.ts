/** Zeros ahead of the end of the journal: what writes them, what batches do with them, and what a kill leaves of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import { frameEnd } from '../../../src/persistence/journal/frame-format.ts';
import { judgeScanEnd } from '../../../src/persistence/journal/segment-end.ts';
import { withSegment } from '../../../src/persistence/journal/segment-file.ts';
import { scanFrames, scanStartOf } from '../../../src/persistence/journal/segment-scan.ts';
import {
  FIRST_SEGMENT,
  frameOf,
  idsUpTo,
  JOURNAL,
  MARK,
  type OpenedJournal,
  openJournal,
  recoverFrom,
  replayedIds,
  SNAPSHOTS,
} from '../../support/journal-fixture.ts';
import { ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { framesIn } from '../../support/segment-bytes.ts';

/** Slices of 500 bytes. */
const AHEAD = { preallocatedBytes: 4_000 } as const;

interface Running extends OpenedJournal {
  readonly fs: MemoryFileSystem;
}

async function running(options: Parameters<typeof openJournal>[1] = AHEAD): Promise<Running> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  await fs.makeFolder(SNAPSHOTS);
  return { fs, ...(await openJournal(fs, options)) };
}

/** Lets everything that a simulated disk does without delay happen. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Appends these frames, a batch each, and lets the zeros be written that they call for. */
async function write({ journal }: Running, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    journal.append(frameOf(id));
    await journal.flush();
    await settled();
  }
}

const tailOf = (bytes: Buffer): Buffer => bytes.subarray(endOf(bytes));
const endOf = (bytes: Buffer): number => framesIn(bytes).map(frameEnd).at(-1) ?? 0;
const isZeros = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

test('zeros lie ahead of the end, and batches overwrite them, so that few make the file longer', async () => {
  const life = await running();
  await write(life, idsUpTo(9));
  const tail = tailOf(life.fs.bytesOf(FIRST_SEGMENT));
  assert(isZeros(tail) && tail.length > 3_000 && tail.length <= 4_000, `${tail.length} bytes ahead`);
  const lengths = new Set<number>();
  for (const id of idsUpTo(60, 10)) {
    await write(life, [id]);
    lengths.add(life.fs.bytesOf(FIRST_SEGMENT).length);
  }
  assert(lengths.size < 15, `${lengths.size} lengths after 51 batches`);
  assert.deepEqual(replayedIds(await recoverFrom(life.fs.crash())), idsUpTo(60));
});

test('a journal that is closed has no zeros behind its last frame, and that is on disk', async () => {
  const life = await running();
  await write(life, idsUpTo(5));
  assert(tailOf(life.fs.bytesOf(FIRST_SEGMENT)).length > 0);
  let syncedAtSize = 0;
  life.fs.beforeCall = ({ kind }) => {
    if (kind === 'sync') syncedAtSize = life.fs.bytesOf(FIRST_SEGMENT).length;
  };
  await life.journal.close();
  const bytes = life.fs.bytesOf(FIRST_SEGMENT);
  assert.equal(bytes.length, endOf(bytes));
  assert.equal(syncedAtSize, bytes.length);
});

test('a segment that is full ends with its last frame', async () => {
  const life = await running({ ...AHEAD, segmentBytes: 1_300 });
  await write(life, idsUpTo(40));
  const segments = life.fs.namesIn(JOURNAL).filter((name) => name.endsWith('.journal'));
  assert(segments.length > 3);
  for (const name of segments.slice(0, -1)) {
    const bytes = life.fs.bytesOf(`${JOURNAL}/${name}`);
    assert.equal(bytes.length, endOf(bytes), name);
  }
});

test('a killed process leaves zeros, which the next start cuts off and does not call torn', async () => {
  const life = await running();
  await write(life, idsUpTo(5));
  const disk = life.fs.crash();
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  assert(isZeros(tailOf(bytes)) && tailOf(bytes).length > 0);
  const { report, warnings, replayed } = await recoverFrom(disk);
  assert.equal(replayed.length, 5);
  assert.equal(report.tornBytesCut, 0);
  assert.deepEqual(warnings, []);
  assert.equal(disk.bytesOf(FIRST_SEGMENT).length, endOf(bytes));
});

test('zeros whose cut did not reach the disk are cut again by the next start, before a segment follows them', async () => {
  const life = await running();
  await write(life, idsUpTo(8));
  const disk = life.fs.crash();
  disk.beforeCall = ({ kind }) => {
    if (kind === 'sync') throw ioError('EIO', 'the cut is lost');
  };
  await assert.rejects(recoverFrom(disk), /the cut is lost/);
  disk.beforeCall = null;
  const { report } = await recoverFrom(disk);
  const opened = await openJournal(disk, { tail: report.tail, segmentBytes: 300 });
  await write({ fs: disk, ...opened }, [9]);
  const later = disk.powerCut('lost', seededRandom(1));
  assert.equal(later.namesIn(JOURNAL).filter((name) => name.endsWith('.journal')).length, 2);
  assert.deepEqual(replayedIds(await recoverFrom(later)), idsUpTo(9));
});

test('of a batch that a crash cut off among zeros, the start says how long it was, without the zeros', async () => {
  const life = await running();
  await write(life, idsUpTo(5));
  const disk = life.fs.crash();
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  const frame = bytes.subarray(framesIn(bytes)[4]!.offset, endOf(bytes));
  // The first bytes of the frame name its batch and are not zeros, so they are torn wherever they are cut.
  const at = endOf(bytes);
  frame.copy(bytes, at, 0, 10);
  disk.put(FIRST_SEGMENT, bytes);
  const { report, warnings } = await recoverFrom(disk);
  assert.equal(report.tornBytesCut, 10);
  assert.equal(warnings.length, 1);
  assert.equal(report.tail.offset, at);
});

test('a bit that flips in the zeros loses nothing, whichever it is', async () => {
  const life = await running({ ...AHEAD, segmentBytes: 1_200 });
  await write(life, idsUpTo(4));
  const disk = life.fs.crash();
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  assert(tailOf(bytes).length > 300);
  for (let bit = endOf(bytes) * 8; bit < bytes.length * 8; bit += 1) {
    const damaged = disk.copy();
    const flipped = Buffer.from(bytes);
    flipped[bit >>> 3]! ^= 1 << (bit & 7);
    damaged.put(FIRST_SEGMENT, flipped);
    assert.deepEqual(replayedIds(await recoverFrom(damaged)), idsUpTo(4), `bit ${bit}`);
  }
});

test('zeros over what had been on disk are damage, be it by the mark or by a later batch', async () => {
  const life = await running();
  await write(life, idsUpTo(5));
  await life.journal.close();
  const bytes = life.fs.bytesOf(FIRST_SEGMENT);
  const frames = framesIn(bytes);
  for (const [k, from] of frames.map(({ offset }) => offset).entries()) {
    const behind = life.fs.copy();
    behind.put(FIRST_SEGMENT, Buffer.from(bytes).fill(0, from));
    await assert.rejects(recoverFrom(behind), DataFolderError, `zeros from frame ${k} on, short of the mark`);
    if (k === frames.length - 1) continue;
    const between = life.fs.copy();
    between.take(MARK);
    between.put(FIRST_SEGMENT, Buffer.from(bytes).fill(0, from, frameEnd(frames[k]!)));
    await assert.rejects(recoverFrom(between), /a good frame follows/, `zeros in place of frame ${k}`);
  }
});

test('zeros at the end of a segment that another one follows are damage', async () => {
  const life = await running({ ...AHEAD, segmentBytes: 1_300 });
  await write(life, idsUpTo(20));
  await life.journal.close();
  const bytes = life.fs.bytesOf(FIRST_SEGMENT);
  life.fs.put(FIRST_SEGMENT, Buffer.concat([bytes, Buffer.alloc(50)]));
  await assert.rejects(recoverFrom(life.fs), /a frame header is damaged/);
});

test('a batch that reaches into zeros being written waits for them, and one that does not goes ahead', async () => {
  const life = await running();
  await write(life, idsUpTo(2));
  const held: (() => void)[] = [];
  let writes = 0;
  life.fs.beforeCall = ({ kind }) => {
    if (kind !== 'write') return undefined;
    writes += 1;
    // The first write is that of event 3, the second that of the zeros it calls for.
    return writes === 2 ? new Promise((resolve) => held.push(resolve)) : undefined;
  };
  await write(life, [3]);
  assert.equal(held.length, 1);
  await write(life, [4]);
  assert.deepEqual(life.acknowledged, idsUpTo(4), 'a batch before the zeros does not wait for them');
  life.journal.append(frameOf(5, 60));
  const flushed = life.journal.flush();
  await settled();
  assert.equal(life.journal.durableId, 4);
  held[0]?.();
  await flushed;
  assert.equal(life.journal.durableId, 64);
  assert.equal((await recoverFrom(life.fs.crash())).report.lastId, 64);
});

test('a disk close to its reserve is left alone: no zeros take its room', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 12_000 });
  await fs.makeFolder(JOURNAL);
  const opened = await openJournal(fs, { ...AHEAD, reserveBytes: 5_000 });
  await write({ fs, ...opened }, idsUpTo(3));
  assert.equal(tailOf(fs.bytesOf(FIRST_SEGMENT)).length, 0);
  assert(opened.journal.writable);
});

test('zeros that find the disk full are no failure, and batches go on upon what was written of them', async () => {
  const life = await running();
  life.journal.append(frameOf(1));
  await life.journal.flush();
  const size = life.fs.bytesOf(FIRST_SEGMENT).length;
  life.fs.capacityBytes = size + 1_000;
  await settled();
  await write(life, [2, 3]);
  assert.deepEqual(life.failures, []);
  assert.equal(life.fs.roomLeft(), 0);
  await write(life, [4, 5]);
  assert.deepEqual(life.acknowledged, idsUpTo(5));
});

test('a failed sync of zeros ends the journal, since it tells nothing of the batches beside them', async () => {
  const life = await running();
  await write(life, [1]);
  let syncs = 0;
  life.fs.beforeCall = ({ kind }) => {
    // The first sync is that of event 2, the second that of the zeros it calls for.
    if (kind === 'datasync' && ++syncs === 2) throw ioError('EIO', 'a bad sector');
  };
  await write(life, [2]);
  assert.equal(life.failures.length, 1);
  assert.match(life.failures[0]!.message, /a bad sector/);
  assert.equal(life.journal.writable, false);
  await assert.rejects(life.journal.close(), /a bad sector/);
});

test('a reader that met zeros which are overwritten before it judges them finds no damage', async () => {
  const life = await running();
  await write(life, idsUpTo(3));
  await withSegment({ fs: life.fs, folder: JOURNAL }, 1, async (segment) => {
    const end = await scanFrames(segment, scanStartOf(segment.header!), () => true);
    assert.equal(end.frames, 3);
    assert.deepEqual(await judgeScanEnd(segment, end, true), { kind: 'unwritten', offset: end.offset });
    await write(life, [4, 5]);
    assert.deepEqual(await judgeScanEnd(segment, end, true), { kind: 'unwritten', offset: end.offset });
  });
});
