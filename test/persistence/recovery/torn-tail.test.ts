/**
 * Torn writes: a crash cut the last write short, at any byte, and left zeros, ones or noise behind it.
 * The state must be an exact prefix, appending must work, and a second restart must find the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameEnd } from '../../../src/persistence/journal/frame-format.ts';
import {
  appendFrames,
  diskWithJournal,
  FIRST_SEGMENT,
  idsUpTo,
  MARK,
  recoverFrom,
  replayedIds,
} from '../../support/journal-fixture.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { places } from '../../support/runs.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { framesIn } from '../../support/segment-bytes.ts';

const FRAMES = 40;
const SEED = 20_240_611;

/** The journal as its process left it when it was killed: in one batch, or rather, with no mark to say more. */
async function unfinished(): Promise<{ disk: MemoryFileSystem; bytes: Buffer; ends: readonly number[] }> {
  const disk = await diskWithJournal({ frames: FRAMES, batch: FRAMES });
  disk.take(MARK);
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  return { disk, bytes, ends: framesIn(bytes).map(frameEnd) };
}

async function checkPrefix(disk: MemoryFileSystem, survivors: number, what: string): Promise<void> {
  const first = await recoverFrom(disk);
  assert.deepEqual(replayedIds(first), idsUpTo(survivors), what);
  assert.equal(first.report.lastId, survivors, what);
  await appendFrames(disk, { frames: 2, tail: first.report.tail });
  const second = await recoverFrom(disk);
  assert.deepEqual(replayedIds(second), idsUpTo(survivors + 2), `${what}, appended to`);
  assert.equal(second.report.tornBytesCut, 0, what);
  assert.deepEqual(await recoverFrom(disk), second, `${what}, restarted again`);
}

test('a journal cut at any byte recovers to the exact prefix, takes appends, and restarts the same', async () => {
  const { disk, bytes, ends } = await unfinished();
  const { first, step } = places(7);
  for (let length = first; length <= bytes.length; length += step) {
    const torn = disk.copy();
    torn.put(FIRST_SEGMENT, bytes.subarray(0, length));
    await checkPrefix(torn, ends.filter((end) => end <= length).length, `cut to ${length} bytes`);
  }
});

const FILLS: readonly [name: string, fill: (length: number) => Buffer][] = [
  ['zeros', (length) => Buffer.alloc(length)],
  ['0xFF', (length) => Buffer.alloc(length, 0xff)],
  [`noise of seed ${SEED}`, (length) => noise(length)],
];

const random = seededRandom(SEED);
const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)));

for (const [name, fill] of FILLS) {
  test(`a journal cut at any byte and filled up with ${name} recovers to the exact prefix`, async () => {
    const { disk, bytes, ends } = await unfinished();
    const { first, step } = places(7);
    for (let length = first; length < bytes.length; length += step) {
      const torn = disk.copy();
      const filled = Buffer.concat([bytes.subarray(0, length), fill(bytes.length - length)]);
      // A fill that begins as the frame would have gone on leaves more of it whole than the cut did.
      let same = length;
      while (filled[same] === bytes[same] && same < bytes.length) same += 1;
      torn.put(FIRST_SEGMENT, filled);
      const { report, replayed } = await recoverFrom(torn);
      const survivors = ends.filter((end) => end <= same).length;
      assert.deepEqual(
        replayed.map(({ id }) => id),
        idsUpTo(survivors),
        `filled from byte ${length}`,
      );
      assert.equal(report.lastId, survivors);
    }
  });
}

test('a torn tail is cut off, said so with its size, and gone from the file', async () => {
  const { disk, bytes, ends } = await unfinished();
  disk.put(FIRST_SEGMENT, bytes.subarray(0, ends[9]! + 7));
  const { report, warnings } = await recoverFrom(disk);
  assert.equal(report.tornBytesCut, 7);
  assert.deepEqual(warnings, ['A crash left a torn tail at the end of the journal, which is now cut off.']);
  assert.equal(disk.bytesOf(FIRST_SEGMENT).length, ends[9]);
});

test('a segment whose header a crash left unfinished is begun again', async () => {
  const disk = await diskWithJournal({ frames: 10, batch: 5, segmentBytes: 200 });
  const last = '/data/journal/00000000000000000011.journal';
  const { report } = await recoverFrom(disk);
  for (const size of [0, 1, 63]) {
    const torn = disk.copy();
    torn.put(last, Buffer.alloc(size, 'x'));
    const recovered = await recoverFrom(torn);
    assert.equal(recovered.report.tornBytesCut, size);
    assert.deepEqual(recovered.report.tail, report.tail);
    assert(!(await torn.exists(last)));
    await appendFrames(torn, { frames: 3, tail: recovered.report.tail, segmentBytes: 200 });
    assert.deepEqual(replayedIds(await recoverFrom(torn)), idsUpTo(13));
  }
});

test('a batch torn page by page, its last part on disk and its first part not, is cut as a whole', async () => {
  const disk = await diskWithJournal({ frames: 20, batch: 20 });
  const before = await recoverFrom(disk);
  await appendFrames(disk, { frames: 20, batch: 20, tail: before.report.tail });
  disk.take(MARK);
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  bytes.fill(0, before.report.tail.offset, before.report.tail.offset + 30);
  disk.put(FIRST_SEGMENT, bytes);
  assert.deepEqual(replayedIds(await recoverFrom(disk)), idsUpTo(20));
});
