/**
 * A sector that the disk cannot read, in every file and every page of a data folder: what is derived or older elsewhere
 * is replaced, and a journal that lost something is refused with the place.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyJournal } from '../../../src/operations/verify-journal.ts';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import {
  appendFrames,
  diskWithJournal,
  idsUpTo,
  JOURNAL,
  MARK,
  recoverFrom,
  replayedIds,
  SNAPSHOTS,
  snapshotOf,
} from '../../support/journal-fixture.ts';
import type { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { type BadSector, withBadSectors } from './bad-sectors.ts';

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
const FRAMES = 300;

/** Three segments of several pages each, and snapshots of two events. */
async function fullDisk(): Promise<{ disk: MemoryFileSystem; older: string; newer: string }> {
  const segmentBytes = 3 * PAGE_BYTES;
  const disk = await diskWithJournal({ frames: 50, segmentBytes });
  const older = await snapshotOf(disk, (await recoverFrom(disk)).report.tail);
  await appendFrames(disk, { frames: 200, tail: (await recoverFrom(disk)).report.tail, segmentBytes });
  const newer = await snapshotOf(disk, (await recoverFrom(disk)).report.tail);
  await appendFrames(disk, { frames: 50, tail: (await recoverFrom(disk)).report.tail, segmentBytes });
  return { disk, older, newer };
}

function sectorsOf(disk: MemoryFileSystem, path: string): BadSector[] {
  const { length } = disk.bytesOf(path);
  const sectors: BadSector[] = [];
  for (let offset = 0; offset < length; offset += SECTOR_BYTES)
    sectors.push({ path, offset, bytes: SECTOR_BYTES });
  return sectors;
}

const segmentsOf = (disk: MemoryFileSystem): string[] =>
  disk
    .namesIn(JOURNAL)
    .filter((name) => name.endsWith('.journal'))
    .map((name) => `${JOURNAL}/${name}`);

test('in a segment: the start is refused with file, offset and last good event, and nothing is changed', async () => {
  const { disk } = await fullDisk();
  const segments = segmentsOf(disk);
  assert(segments.length > 2);
  for (const path of segments) {
    const whole: BadSector = { path, offset: 0, bytes: Number.POSITIVE_INFINITY };
    for (const sector of [...sectorsOf(disk, path), whole]) {
      const copy = disk.copy();
      const where = `${path}, offset ${sector.offset}`;
      await assert.rejects(recoverFrom(withBadSectors(copy, [sector])), (error) => {
        assert(error instanceof DataFolderError, `${where}: ${error}`);
        assert.equal(error.file, path);
        assert(error.offset !== null && error.offset <= sector.offset, where);
        assert(sector.offset - error.offset < 2 * PAGE_BYTES, where);
        assert(error.lastGoodEventId !== null && error.lastGoodEventId < FRAMES, where);
        return true;
      });
      for (const name of segments) assert.deepEqual(copy.bytesOf(name), disk.bytesOf(name), where);
    }
  }
});

test('in a segment: verifying names every one of several places, and reads on behind them', async () => {
  const { disk } = await fullDisk();
  const bad = segmentsOf(disk).map((path) => ({ path, offset: PAGE_BYTES, bytes: SECTOR_BYTES }));
  const fs = withBadSectors(disk, bad);
  const verified = await verifyJournal({ fs, folder: JOURNAL, wantedIds: new Set() });
  for (const { path } of bad) {
    const own = verified.damages.filter(({ file }) => file === path);
    assert.equal(own.length, 1, path);
    assert.match(own[0]?.what ?? '', /the disk cannot read it at offset 4096/);
  }
  assert.equal(verified.runs.at(-1)?.lastId, FRAMES);
  assert.equal(verified.runs.length, bad.length + 1);
});

test('in the newest snapshot: an older one is used, and the unreadable one is set aside', async () => {
  const { disk, newer } = await fullDisk();
  const whole: BadSector = { path: newer, offset: 0, bytes: Number.POSITIVE_INFINITY };
  for (const sector of [...sectorsOf(disk, newer), whole]) {
    const copy = disk.copy();
    const recovered = await recoverFrom(withBadSectors(copy, [sector]));
    assert.deepEqual([recovered.report.snapshotId, recovered.report.setAside], [50, [newer]]);
    assert.deepEqual(replayedIds(recovered), idsUpTo(FRAMES, 51));
    assert(copy.namesIn(SNAPSHOTS).some((name) => name.endsWith('.damaged')));
  }
});

test('in every snapshot: the whole journal is replayed', async () => {
  const { disk, older, newer } = await fullDisk();
  const fs = withBadSectors(disk, [
    { path: older, offset: 0, bytes: 1 },
    { path: newer, offset: 100, bytes: 1 },
  ]);
  const recovered = await recoverFrom(fs);
  assert.equal(recovered.report.label, 'journal-instead-of-snapshots');
  assert.deepEqual(replayedIds(recovered), idsUpTo(FRAMES));
});

test('in the durable mark: one slot is enough, and without any the start says so', async () => {
  const { disk } = await fullDisk();
  const first = { path: MARK, offset: 0, bytes: 52 };
  const second = { path: MARK, offset: 4096, bytes: 52 };
  const whole: BadSector = { path: MARK, offset: 0, bytes: Number.POSITIVE_INFINITY };
  const warnsOf = async (bad: BadSector[]): Promise<boolean> => {
    const { warnings, report } = await recoverFrom(withBadSectors(disk.copy(), bad));
    assert.equal(report.lastId, FRAMES);
    return warnings.some((warning) => warning.startsWith('The durable mark cannot be read'));
  };
  assert.equal(await warnsOf([first, second]), true);
  assert.equal(await warnsOf([whole]), true);
  assert.deepEqual([await warnsOf([first]), await warnsOf([second])], [false, false]);
});
