/**
 * One life of a process, as far as storage goes: recover, append in batches across segments, take a snapshot, close.
 * It can be cut short anywhere; what it has promised until then is kept outside of it, as a client would.
 */
import assert from 'node:assert/strict';
import type { FileSystem } from '../../src/persistence/disk/file-system.ts';
import { EMPTY_TAIL } from '../../src/persistence/journal/journal.ts';
import { frameOf, openJournal, recoverFrom, replayedIds, snapshotOf } from './journal-fixture.ts';

/** The memory of a client across restarts. */
export interface Promises {
  /** Last event that was acknowledged, or read after a restart. */
  acknowledged: number;
  /** Last event that was submitted at all. */
  submitted: number;
}

export const noPromises = (): Promises => ({ acknowledged: 0, submitted: 0 });

export interface Workload {
  readonly batches: number;
  readonly batchFrames: number;
  readonly segmentBytes: number;
}

/** Small enough to cut at every call, large enough to roll twice and to end in a torn batch of several frames. */
export const SMALL_WORKLOAD: Workload = { batches: 6, batchFrames: 3, segmentBytes: 700 };

/** Slices of zeros that are shorter than a segment and longer than most batches. */
const PREALLOCATED_BYTES = 2_400;

/** Recovers and checks the oracle: a prefix without a hole, with all that was acknowledged, nothing made up. */
export async function recoverAndCheck(fs: FileSystem, promises: Promises, what: string): Promise<number> {
  const recovered = await recoverFrom(fs);
  const ids = [...recovered.loaded.map(([, record]) => record), ...replayedIds(recovered)];
  const last = recovered.report.lastId;
  assert.deepEqual(
    ids,
    Array.from({ length: last }, (_, index) => index + 1),
    `${what}: a prefix without a hole`,
  );
  assert(
    last >= promises.acknowledged,
    `${what}: ${promises.acknowledged} was acknowledged, ${last} is left`,
  );
  assert(last <= promises.submitted, `${what}: ${last} was never submitted`);
  return last;
}

export async function liveOnce(fs: FileSystem, promises: Promises, workload = SMALL_WORKLOAD): Promise<void> {
  const { report } = await recoverFrom(fs);
  // Whoever reads after the restart has seen these events: no later crash may take them back.
  promises.acknowledged = report.lastId;
  const { journal, failures } = await openJournal(fs, {
    tail: report.tail,
    segmentBytes: workload.segmentBytes,
    preallocatedBytes: PREALLOCATED_BYTES,
    onDurable: (id) => {
      promises.acknowledged = id;
    },
  });
  for (let batch = 1; batch <= workload.batches; batch += 1) {
    for (let count = 0; count < workload.batchFrames; count += 1) {
      promises.submitted = Math.max(promises.submitted, journal.appendedId + 1);
      journal.append(frameOf(journal.appendedId + 1));
      journal.commit();
    }
    await journal.flush();
    if (batch === Math.ceil(workload.batches / 2)) {
      const { appendedId: lastId, appendedChain: chain } = journal;
      await snapshotOf(fs, { ...EMPTY_TAIL, lastId, lastAt: 1_000 + lastId, chain });
    }
  }
  await journal.close();
  assert.deepEqual(failures, []);
}
