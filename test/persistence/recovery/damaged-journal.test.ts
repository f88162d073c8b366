/**
 * Damage in a journal that was on disk: every flipped bit, and frames or segments dropped, doubled, swapped, zeroed.
 * All of it must be refused, naming file, offset and last good event; never may a smaller state pass for the whole.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import { frameEnd } from '../../../src/persistence/journal/frame-format.ts';
import { SEGMENT_HEADER_BYTES } from '../../../src/persistence/journal/segment.ts';
import {
  diskWithJournal,
  FIRST_SEGMENT,
  idsUpTo,
  JOURNAL,
  MARK,
  recoverFrom,
  replayedIds,
} from '../../support/journal-fixture.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { places } from '../../support/runs.ts';
import { framesIn } from '../../support/segment-bytes.ts';

const FRAMES = 40;

interface Expected {
  readonly file?: string;
  readonly offset?: number;
  readonly lastGoodEventId?: number;
  readonly message?: RegExp;
}

/** Recovery refuses, and leaves the folder as it was. */
async function refuses(disk: MemoryFileSystem, what: string, expected: Expected = {}): Promise<void> {
  const before = disk.namesIn(JOURNAL).map((name) => [name, disk.bytesOf(`${JOURNAL}/${name}`)]);
  await assert.rejects(recoverFrom(disk), (error) => {
    assert(error instanceof DataFolderError, `${what}: ${error}`);
    assert.equal(error.file, expected.file ?? FIRST_SEGMENT, what);
    if (expected.offset !== undefined) assert.equal(error.offset, expected.offset, what);
    if (expected.lastGoodEventId !== undefined)
      assert.equal(error.lastGoodEventId, expected.lastGoodEventId, what);
    if (expected.message !== undefined) assert.match(error.message, expected.message, what);
    assert.match(error.advice, /Nothing was changed/);
    return true;
  });
  assert.deepEqual(
    disk.namesIn(JOURNAL).map((name) => [name, disk.bytesOf(`${JOURNAL}/${name}`)]),
    before,
    what,
  );
}

/** The frames of a segment's bytes, header and payload each. */
const frameBytesIn = (bytes: Buffer): Buffer[] =>
  framesIn(bytes).map((frame) => bytes.subarray(frame.offset, frameEnd(frame)));

const withFrames = (bytes: Buffer, frames: readonly Buffer[]): Buffer =>
  Buffer.concat([bytes.subarray(0, SEGMENT_HEADER_BYTES), ...frames]);

test('the journal that the tests below damage is whole', async () => {
  const disk = await diskWithJournal({ frames: FRAMES, batch: 8 });
  assert.deepEqual(replayedIds(await recoverFrom(disk)), idsUpTo(FRAMES));
});

test('every single bit flip in a cleanly closed journal is refused, naming file, offset and last good event', async () => {
  const disk = await diskWithJournal({ frames: FRAMES, batch: 8 });
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  const starts = frameBytesIn(bytes).map((frame) => frame.byteOffset - bytes.byteOffset);
  const { first, step } = places(11);
  for (let bit = first; bit < bytes.length * 8; bit += step) {
    const damaged = disk.copy();
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    damaged.put(FIRST_SEGMENT, flipped);
    const lastGoodEventId = starts.filter((start) => start <= bit >> 3).length - 1;
    const inHeader = bit >> 3 < SEGMENT_HEADER_BYTES;
    const place = inHeader ? { offset: 0 } : { offset: starts[lastGoodEventId]!, lastGoodEventId };
    await refuses(damaged, `bit ${bit}`, place);
  }
});

test('a frame dropped, doubled, zeroed or swapped with the next is refused, whichever it is, mark or no mark', async () => {
  for (const batch of [1, 8, FRAMES]) {
    const disk = await diskWithJournal({ frames: FRAMES, batch });
    const unmarked = disk.copy();
    unmarked.take(MARK);
    const bytes = disk.bytesOf(FIRST_SEGMENT);
    const frames = frameBytesIn(bytes);
    for (let k = 0; k < FRAMES - 1; k += 1) {
      const rest = frames.slice(k + 1);
      const before = frames.slice(0, k);
      const frame = frames[k]!;
      const changes: Record<string, Buffer[]> = {
        dropped: [...before, ...rest],
        doubled: [...before, frame, frame, ...rest],
        swapped: [...before, rest[0]!, frame, ...rest.slice(1)],
      };
      for (const [name, changed] of Object.entries(changes)) {
        for (const on of [disk, unmarked]) {
          const damaged = on.copy();
          damaged.put(FIRST_SEGMENT, withFrames(bytes, changed));
          await refuses(damaged, `frame ${k} ${name}, batches of ${batch}`);
        }
      }
      const zeroed = disk.copy();
      zeroed.put(FIRST_SEGMENT, withFrames(bytes, [...before, Buffer.alloc(frame.length), ...rest]));
      await refuses(zeroed, `frame ${k} zeroed, batches of ${batch}`, { lastGoodEventId: k });
    }
  }
});

test('a zeroed frame with good batches after it is damage even when there is no mark', async () => {
  const disk = await diskWithJournal({ frames: FRAMES, batch: 1 });
  disk.take(MARK);
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  const frames = frameBytesIn(bytes);
  for (let k = 0; k < FRAMES - 1; k += 1) {
    const damaged = disk.copy();
    const zeroed = frames.with(k, Buffer.alloc(frames[k]!.length));
    damaged.put(FIRST_SEGMENT, withFrames(bytes, zeroed));
    await refuses(damaged, `frame ${k}`, { lastGoodEventId: k, message: /a good frame follows at \d+/ });
  }
});

test('a cleanly closed journal cut at any byte is refused, even between two frames', async () => {
  const disk = await diskWithJournal({ frames: FRAMES, batch: 8 });
  const bytes = disk.bytesOf(FIRST_SEGMENT);
  const { first, step } = places(7);
  for (let length = SEGMENT_HEADER_BYTES + first; length < bytes.length; length += step) {
    const damaged = disk.copy();
    damaged.put(FIRST_SEGMENT, bytes.subarray(0, length));
    const message = /intact only up to event \d+, and events up to 40 had been on disk/;
    await refuses(damaged, `cut to ${length}`, { message });
  }
});

const SEGMENTED = { frames: FRAMES, batch: 4, segmentBytes: 1_000 };

async function segmentsOf(disk: MemoryFileSystem): Promise<string[]> {
  const names = (await disk.list(JOURNAL)).filter((name) => name.endsWith('.journal'));
  assert(names.length >= 4, 'the journal has several segments');
  return names.map((name) => `${JOURNAL}/${name}`);
}

test('a segment taken away is refused, the first, any in the middle, and the last', async () => {
  const disk = await diskWithJournal(SEGMENTED);
  const paths = await segmentsOf(disk);
  for (const [index, path] of paths.entries()) {
    const damaged = disk.copy();
    damaged.take(path);
    const last = index === paths.length - 1;
    await refuses(damaged, path, { file: last ? paths[index - 1]! : paths[index + 1]! });
  }
});

test('two segments that swapped their names are refused', async () => {
  const disk = await diskWithJournal(SEGMENTED);
  const paths = await segmentsOf(disk);
  for (let index = 0; index + 1 < paths.length; index += 1) {
    const damaged = disk.copy();
    damaged.put(paths[index]!, disk.bytesOf(paths[index + 1]!));
    damaged.put(paths[index + 1]!, disk.bytesOf(paths[index]!));
    await refuses(damaged, paths[index]!, {
      file: paths[index]!,
      message: /the file says that it begins with event/,
    });
  }
});

test('a segment of another journal is refused by its link, though every checksum in it holds', async () => {
  const disk = await diskWithJournal(SEGMENTED);
  const foreign = await diskWithJournal({ ...SEGMENTED, by: 'b' });
  const [, second] = await segmentsOf(disk);
  const foreignPaths = await segmentsOf(foreign);
  assert(second !== undefined && foreignPaths.includes(second), 'both journals have a segment of that name');
  disk.put(second, foreign.bytesOf(second));
  await refuses(disk, second, { file: second, message: /does not follow the one before it/ });
});

test('a cut at the end of a segment that another one follows is refused', async () => {
  const disk = await diskWithJournal(SEGMENTED);
  const [first] = await segmentsOf(disk);
  const bytes = disk.bytesOf(first!);
  for (const length of [0, 10, SEGMENT_HEADER_BYTES, bytes.length - 1]) {
    const damaged = disk.copy();
    damaged.put(first!, bytes.subarray(0, length));
    await assert.rejects(recoverFrom(damaged), DataFolderError, `cut to ${length}`);
  }
});
