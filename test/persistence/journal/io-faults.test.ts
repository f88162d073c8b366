/**
 * The n-th call to the disk fails, once or from then on, for every n: while writing, while taking a snapshot, while
 * recovering. The process may stop, must not acknowledge what it could not keep, and must start again afterwards.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import { FIRST_SEGMENT, frameOf, JOURNAL, openJournal, SNAPSHOTS } from '../../support/journal-fixture.ts';
import { type Call, ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { liveOnce, noPromises, recoverAndCheck } from '../../support/storage-workload.ts';

const SEED = 4_711;

interface Fault {
  readonly name: string;
  readonly hits: (call: Call, n: number) => boolean;
}

const FAULTS: readonly Fault[] = [
  { name: 'once', hits: ({ number }, n) => number === n },
  { name: 'from then on', hits: ({ number }, n) => number >= n },
];

async function callsOfTwoLives(): Promise<number> {
  const fs = new MemoryFileSystem();
  const promises = noPromises();
  await liveOnce(fs, promises);
  await liveOnce(fs, promises);
  return fs.calls;
}

for (const { name, hits } of FAULTS) {
  test(`an I/O error at any call, ${name}, acknowledges nothing that a power cut then takes back`, async () => {
    const random = seededRandom(SEED);
    const calls = await callsOfTwoLives();
    for (let n = 1; n <= calls; n += 1) {
      const fs = new MemoryFileSystem();
      fs.beforeCall = (call) => {
        if (hits(call, n)) throw ioError('EIO', 'a bad sector');
      };
      const promises = noPromises();
      for (let life = 0; life < 2; life += 1) {
        const failed = await liveOnce(fs, promises).then(
          () => false,
          (error: Error) => {
            const isDamage = error instanceof DataFolderError && !/the disk cannot read/i.test(error.message);
            assert(!isDamage, `call ${n}: an I/O error is not damage: ${error}`);
            return true;
          },
        );
        // A process that failed is gone; the next one may not even begin before the disk is well again.
        if (failed) break;
      }
      fs.beforeCall = null;
      const disk = fs.powerCut('any', random);
      const what = `seed ${SEED}, call ${n} ${name}`;
      promises.acknowledged = await recoverAndCheck(disk, promises, what);
      await liveOnce(disk, promises);
      await recoverAndCheck(disk, promises, `${what}, and lived on`);
    }
  });
}

test('a sync that fails once and would succeed the next time acknowledges nothing, then or later', async () => {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  await fs.makeFolder(SNAPSHOTS);
  const { journal, acknowledged, failures } = await openJournal(fs);
  journal.append(frameOf(1));
  await journal.flush();
  let syncs = 0;
  fs.beforeCall = ({ kind }) => {
    if (kind === 'datasync' && syncs++ === 0) throw ioError('EIO', 'writeback failed');
  };
  journal.append(frameOf(2));
  await assert.rejects(journal.flush(), /writeback failed/);
  await assert.rejects(journal.close());
  assert.equal(syncs, 1, 'the sync was not tried again');
  assert.deepEqual(acknowledged, [1]);
  assert.equal(failures.length, 1);
  // The kernel has marked the pages clean: they are still readable, and the power cut takes them.
  const disk = fs.powerCut('kept', seededRandom(SEED));
  assert.equal(await recoverAndCheck(disk, { acknowledged: 1, submitted: 2 }, 'after the power cut'), 1);
});

test('a disk of any size that fills up never acknowledges falsely, and all is there when it has room again', async () => {
  for (let capacityBytes = 0; capacityBytes < 9_000; capacityBytes += 97) {
    const fs = new MemoryFileSystem({ capacityBytes });
    const promises = noPromises();
    await liveOnce(fs, promises).catch((error: Error) =>
      assert.match(error.message, /bytes were written|ENOSPC/),
    );
    const disk = fs.crash();
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    const what = `${capacityBytes} bytes`;
    promises.acknowledged = await recoverAndCheck(disk, promises, what);
    await liveOnce(disk, promises);
    await recoverAndCheck(disk, promises, `${what}, and lived on`);
  }
});

test('a folder that is refused stays refused and unchanged, however often one tries', async () => {
  const fs = new MemoryFileSystem();
  const promises = noPromises();
  await liveOnce(fs, promises);
  const bytes = fs.bytesOf(FIRST_SEGMENT);
  bytes[80]! ^= 1;
  fs.put(FIRST_SEGMENT, bytes);
  const files = [JOURNAL, SNAPSHOTS].flatMap((folder) => fs.namesIn(folder));
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await assert.rejects(recoverAndCheck(fs, promises, 'damaged'), DataFolderError);
    assert.deepEqual(
      [JOURNAL, SNAPSHOTS].flatMap((folder) => fs.namesIn(folder)),
      files,
    );
  }
});
