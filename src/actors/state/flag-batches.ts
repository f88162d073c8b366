/** The flags of a snapshot in batches, which are written into blocks of their own: what has not changed stands in the same bytes as before. */
import type { ShelvedFlags } from '../../domain/state/flag-record.ts';
import type { RecordBatch } from '../../persistence/snapshots/snapshot-writer.ts';
import type { FlagSnapshotRecord } from './flag-outlines.ts';

/** Shelves with fewer flags are written together, so that many small projects do not make as many small blocks. */
const BATCH_FLAGS_MIN = 64;

/** The key of a batch is its first shelf. Flags that are not decoded yet are decoded on the way. Can be read again. */
export const flagBatches = (shelves: readonly ShelvedFlags[]): Iterable<RecordBatch> => ({
  *[Symbol.iterator]() {
    let batch: ShelvedFlags[] = [];
    let count = 0;
    for (const shelved of shelves) {
      batch.push(shelved);
      count += shelved.records.length;
      if (count < BATCH_FLAGS_MIN) continue;
      yield { key: batch[0]!.shelf, records: flagRecords(batch) };
      batch = [];
      count = 0;
    }
    if (count > 0) yield { key: batch[0]!.shelf, records: flagRecords(batch) };
  },
});

export const flagRecords = (shelves: readonly ShelvedFlags[]): Iterable<FlagSnapshotRecord> => ({
  *[Symbol.iterator]() {
    for (const shelved of shelves) {
      for (const [at, { createdBy }] of shelved.records.entries())
        yield { flag: shelved.flagAt(at), revision: shelved.revisionAt(at), createdBy };
    }
  },
});
