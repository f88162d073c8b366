/** Journals in format 1, that of release 0.1.0, opened and gone on with. Golden folders of it are in test/golden. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import { frameFormatOf, sealFrame } from '../../../src/persistence/journal/frame-format.ts';
import { encodePayload } from '../../../src/persistence/journal/frame-payload.ts';
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import {
  appendFrames,
  diskWithJournal,
  FIRST_SEGMENT,
  frameOf,
  idsUpTo,
  JOURNAL,
  MARK,
  recoverFrom,
  replayedIds,
  SNAPSHOTS,
} from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { framesIn } from '../../support/segment-bytes.ts';

const OLD = frameFormatOf(1);
const FRAMES = 12;
const NEXT_SEGMENT = `${JOURNAL}/${String(FRAMES + 1).padStart(20, '0')}.journal`;

/** A frame in format 1, whose batch began at `batchStart`. */
function oldFrame(id: number, previous: number, batchStart: number): { bytes: Buffer; checksum: number } {
  const payload = encodePayload(frameOf(id));
  const bytes = Buffer.concat([Buffer.alloc(OLD.headerBytes), payload]);
  bytes.writeUInt32LE(payload.length, 0);
  bytes.writeUInt32LE(previous, 8);
  bytes.writeUInt32LE(batchStart, 12);
  const checksum = OLD.checksum(bytes, 0, payload.length);
  bytes.writeUInt32LE(checksum, 4);
  return { bytes, checksum };
}

interface OldJournal {
  readonly disk: MemoryFileSystem;
  readonly bytes: Buffer;
  readonly chain: number;
}

/** One segment; each batch has three frames. */
async function oldJournal(frames = FRAMES): Promise<OldJournal> {
  const parts = [encodeSegmentHeader({ firstId: 1, chain: 0 }, 1)];
  let offset = SEGMENT_HEADER_BYTES;
  let batchStart = offset;
  let chain = 0;
  for (let id = 1; id <= frames; id += 1) {
    if (id % 3 === 1) batchStart = offset;
    const frame = oldFrame(id, chain, batchStart);
    parts.push(frame.bytes);
    offset += frame.bytes.length;
    chain = frame.checksum;
  }
  const disk = new MemoryFileSystem();
  await disk.makeFolder(SNAPSHOTS);
  const bytes = Buffer.concat(parts);
  disk.put(FIRST_SEGMENT, bytes);
  return { disk, bytes, chain };
}

test('an older journal is replayed by rule 1, and the next frames begin a segment that goes on with its chain', async () => {
  const { disk, bytes, chain } = await oldJournal();
  const { report, replayed } = await recoverFrom(disk);
  assert.deepEqual(
    replayed.map(({ id, rules }) => [id, rules]),
    idsUpTo(FRAMES).map((id) => [id, 1]),
  );
  await appendFrames(disk, { frames: 4, tail: report.tail });
  assert.deepEqual(disk.bytesOf(FIRST_SEGMENT), bytes, 'the older segment is as it was');
  assert.equal(framesIn(disk.bytesOf(NEXT_SEGMENT))[0]?.previous, chain);
  assert.deepEqual(replayedIds(await recoverFrom(disk)), idsUpTo(FRAMES + 4));
});

test('an older last segment without frames is replaced by one of the format that is written', async () => {
  const { disk, chain } = await oldJournal();
  disk.put(NEXT_SEGMENT, encodeSegmentHeader({ firstId: FRAMES + 1, chain }, 1));
  const { report } = await recoverFrom(disk);
  await appendFrames(disk, { frames: 2, tail: report.tail });
  assert.equal(framesIn(disk.bytesOf(NEXT_SEGMENT)).length, 2);
  assert.deepEqual(replayedIds(await recoverFrom(disk)), idsUpTo(FRAMES + 2));
});

test('an older journal cut at any byte recovers to the exact prefix and takes appends', async () => {
  const { disk, bytes } = await oldJournal();
  const ends = framesIn(bytes).map(({ offset, payloadBytes }) => offset + OLD.headerBytes + payloadBytes);
  for (let length = 0; length <= bytes.length; length += 1) {
    const torn = disk.copy();
    torn.put(FIRST_SEGMENT, bytes.subarray(0, length));
    const survivors = ends.filter((end) => end <= length).length;
    const { report, replayed } = await recoverFrom(torn);
    assert.equal(replayed.length, survivors, `cut to ${length} bytes`);
    await appendFrames(torn, { frames: 2, tail: report.tail });
    assert.deepEqual(replayedIds(await recoverFrom(torn)), idsUpTo(survivors + 2), `cut to ${length} bytes`);
  }
});

test('any bit flipped in an older journal is refused once a newer segment follows it', async () => {
  const { disk, bytes } = await oldJournal();
  await appendFrames(disk, { frames: 2, tail: (await recoverFrom(disk)).report.tail });
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const damaged = disk.copy();
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    damaged.put(FIRST_SEGMENT, flipped);
    await assert.rejects(recoverFrom(damaged), DataFolderError, `bit ${bit}`);
  }
});

for (const [what, change, offset] of [
  ['content version', { contentVersion: 999 }, 20],
  ['replay rule', { rules: 999 }, 22],
] as const) {
  test(`a frame with a newer ${what} is refused in words, and nothing is changed`, async () => {
    const disk = await diskWithJournal({ frames: 3 });
    disk.take(MARK);
    const bytes = disk.bytesOf(FIRST_SEGMENT);
    const last = framesIn(bytes).at(-1)!;
    sealFrame(bytes, last.offset, { ...last, ...change });
    disk.put(FIRST_SEGMENT, bytes);
    await assert.rejects(recoverFrom(disk), (error) => {
      assert(error instanceof DataFolderError);
      assert.deepEqual([error.file, error.offset], [FIRST_SEGMENT, last.offset + offset]);
      assert.match(error.message, new RegExp(`An event has ${what} 999, this server knows \\d+`));
      assert.match(error.message, /Nothing was changed. Start the version of the server that wrote it/);
      return true;
    });
    assert.deepEqual(disk.bytesOf(FIRST_SEGMENT), bytes);
  });
}
