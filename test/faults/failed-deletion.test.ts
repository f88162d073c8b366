/** Retention on a disk that fails: what is left of the journal never has a hole. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { dataFolder } from '../../src/persistence/disk/data-folder.ts';
import { dropOldEvents } from '../../src/persistence/event-log/retention.ts';
import { idInFileName, paddedId, SEGMENT_SUFFIX } from '../../src/persistence/journal/segment.ts';
import { encodeSnapshotHeader, SNAPSHOT_SUFFIX } from '../../src/persistence/snapshots/snapshot-format.ts';
import { EventJournal, FOLDER } from '../support/event-journal.ts';
import { ioError } from '../support/memory-file-system.ts';

const { snapshots: SNAPSHOTS } = dataFolder('/data');
const EVENTS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Nothing that a second day confirms is young enough to be kept. */
const NOTHING_KEPT = { keptMs: -1, now: Number.MAX_SAFE_INTEGER, durableId: EVENTS + 1 };

it('a segment whose deletion failed is the first to go the next time, whichever it was', async () => {
  for (let failing = 1; ; failing += 1) {
    const written = await EventJournal.create({ segmentBytes: 300 });
    const { disk } = written;
    for (let count = 0; count < EVENTS; count += 1)
      await written.write({ events: [{ data: 'x'.repeat(60) }] });
    await written.write({ at: EVENTS * 1000 + DAY_MS, events: [{ data: 'a day later' }] });
    const segments = (): number[] =>
      disk
        .namesIn(FOLDER)
        .map((name) => idInFileName(name, SEGMENT_SUFFIX))
        .filter((id) => id !== null);
    const all = segments();
    const eventLog = await written.openLog();
    const retire = () => dropOldEvents({ fs: disk, folder: dataFolder('/data'), eventLog }, NOTHING_KEPT);
    const snapshotAt = (id: number): string => `${SNAPSHOTS}/${paddedId(id)}${SNAPSHOT_SUFFIX}`;

    disk.put(snapshotAt(EVENTS / 2), encodeSnapshotHeader({ id: EVENTS / 2, at: 0, chain: 0 }));
    let removals = 0;
    disk.beforeCall = ({ kind, path }) => {
      if (kind !== 'remove' || !path.endsWith(SEGMENT_SUFFIX)) return;
      removals += 1;
      if (removals === failing) throw ioError('EIO', `remove ${path}`);
    };
    const failed = await retire().then(
      () => false,
      () => true,
    );
    if (!failed) {
      assert(failing > 2, 'several deletions were failed in turn');
      return;
    }
    assertTail(segments(), all);

    disk.take(snapshotAt(EVENTS / 2));
    disk.put(snapshotAt(EVENTS), encodeSnapshotHeader({ id: EVENTS, at: 0, chain: 0 }));
    await retire();
    assertTail(segments(), all);
    assert.equal(segments()[0], eventLog.firstId, 'all that the index forgot is gone');
  }
});

/** Asserts that the newest ones are left, without a gap. */
function assertTail(left: readonly number[], all: readonly number[]): void {
  assert(left.length > 0);
  assert.deepEqual(left, all.slice(-left.length));
}
