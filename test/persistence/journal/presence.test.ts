/** Writes to a file that nobody will find again, or to a folder that is no longer this process's, are not acknowledged. */
import assert from 'node:assert/strict';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { lockFolder } from '../../../src/persistence/disk/folder-lock.ts';
import { PRESENCE_INTERVAL_MS } from '../../../src/persistence/journal/journal-failure.ts';
import { FIRST_SEGMENT, frameOf, JOURNAL, openJournal } from '../../support/journal-fixture.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { temporaryFolder } from '../../support/server.ts';

/** A journal of one event, on a clock that only the test moves. */
async function begun(segmentBytes = 1_000_000) {
  const disk = new MemoryFileSystem();
  await disk.makeFolder(JOURNAL);
  const world = { nowMs: 0, isLocked: true };
  const opened = await openJournal(disk, {
    segmentBytes,
    monotonicMs: () => world.nowMs,
    holdsLock: async () => world.isLocked,
  });
  opened.journal.append(frameOf(1));
  await opened.journal.flush();
  return { disk, world, ...opened };
}

type Begun = Awaited<ReturnType<typeof begun>>;

const LOSSES: Readonly<Record<string, { harm: (begun: Begun) => void | Promise<void>; words: RegExp }>> = {
  'the open segment is deleted': {
    harm: ({ disk }) => disk.take(FIRST_SEGMENT),
    words: /0{19}1\.journal was deleted, moved or replaced while the server was writing it/,
  },
  'the open segment is moved': {
    harm: ({ disk }) => disk.rename(FIRST_SEGMENT, `${JOURNAL}/elsewhere`),
    words: /was deleted, moved or replaced/,
  },
  'the open segment is replaced by a copy': {
    harm: ({ disk }) => disk.put(FIRST_SEGMENT, disk.bytesOf(FIRST_SEGMENT)),
    words: /was deleted, moved or replaced/,
  },
  'the lock is lost': {
    harm: ({ world }) => {
      world.isLocked = false;
    },
    words: /another server may have opened the folder/,
  },
};

for (const [loss, { harm, words }] of Object.entries(LOSSES)) {
  test(`when ${loss}, the first write after a second is not acknowledged, and the journal ends`, async () => {
    const journalBegun = await begun();
    const { journal, world, acknowledged, failures } = journalBegun;
    await harm(journalBegun);
    world.nowMs = PRESENCE_INTERVAL_MS;
    journal.append(frameOf(2));
    await assert.rejects(journal.flush(), words);
    assert.deepEqual(acknowledged, [1]);
    assert.equal(failures.length, 1);
    assert.equal(journal.writable, false);
  });
}

test('a segment that is gone is noticed when the next one begins, however soon', async () => {
  const { disk, journal, acknowledged } = await begun(100);
  disk.take(FIRST_SEGMENT);
  journal.append(frameOf(2));
  await assert.rejects(journal.flush(), /was deleted, moved or replaced/);
  assert.deepEqual(acknowledged, [1]);
});

test('a busy journal is looked after once a second, not with each batch', async () => {
  const { disk, journal, world } = await begun();
  let looks = 0;
  disk.beforeCall = ({ kind }) => {
    if (kind === 'isAt') looks += 1;
  };
  for (let id = 2; id <= 21; id += 1) {
    world.nowMs += PRESENCE_INTERVAL_MS / 5;
    journal.append(frameOf(id));
    await journal.flush();
  }
  assert.equal(looks, 4);
});

describe('a real file', () => {
  it('is at its path until it is deleted, moved or replaced, whatever other names it has', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'file');
    const other = join(folder, 'other');
    writeFileSync(path, '');
    const file = await realFileSystem.open(path, 'write');
    assert.equal(await file.isAt(path), true);
    linkSync(path, other);
    rmSync(path);
    assert.equal(await file.isAt(path), false);
    renameSync(other, path);
    assert.equal(await file.isAt(path), true);
    writeFileSync(other, '');
    renameSync(other, path);
    assert.equal(await file.isAt(path), false);
    await file.close();
  });

  it('holds the lock of a folder until the lock file is deleted', async () => {
    const folder = temporaryFolder();
    const lock = lockFolder(folder);
    assert.equal(await lock.isHeld(), true);
    rmSync(join(folder, 'flagstaff.lock'));
    assert.equal(await lock.isHeld(), false);
    const second = lockFolder(folder);
    assert.deepEqual([await lock.isHeld(), await second.isHeld()], [false, true]);
    second.release();
    lock.release();
  });
});
