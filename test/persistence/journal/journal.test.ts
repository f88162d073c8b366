import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { FileJournal, PENDING_BYTES_MAX } from '../../../src/persistence/journal/file-journal.ts';
import type { CommitObservation } from '../../../src/persistence/journal/journal.ts';
import { JournalFailure } from '../../../src/persistence/journal/journal-failure.ts';
import { MARK_DELAY_MS } from '../../../src/persistence/journal/mark-keeper.ts';
import { recover } from '../../../src/persistence/recovery/recovery.ts';
import {
  FIRST_SEGMENT,
  frameOf,
  idsUpTo,
  JOURNAL,
  MARK,
  openJournal,
  recoverFrom,
  replayedIds,
  SNAPSHOTS,
} from '../../support/journal-fixture.ts';
import { type Call, type CallKind, ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { framesIn } from '../../support/segment-bytes.ts';
import { temporaryFolder } from '../../support/server.ts';

async function emptyDisk(): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  await fs.makeFolder(SNAPSHOTS);
  return fs;
}

/** Holds calls of one kind to segments back until they are let through, one by one. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  readonly #kind: CallKind;
  #arrivals: (() => void)[] = [];

  constructor(fs: MemoryFileSystem, kind: CallKind) {
    this.#kind = kind;
    fs.beforeCall = (call) => this.#hold(call);
  }

  #hold({ kind, path }: Call): Promise<void> | undefined {
    if (kind !== this.#kind || !path.endsWith('.journal')) return undefined;
    const held = new Promise<void>((resolve) => this.#waiting.push(resolve));
    for (const arrived of this.#arrivals.splice(0)) arrived();
    return held;
  }

  /** Resolves once a call is being held back. */
  async held(): Promise<void> {
    if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  letThrough(): void {
    this.#waiting.shift()?.();
  }
}

test('nothing is durable before its sync returned, and then all of its batch is, in order', async () => {
  const fs = await emptyDisk();
  const { journal, acknowledged } = await openJournal(fs);
  const gate = new Gate(fs, 'datasync');
  for (const id of [1, 2, 3]) journal.append(frameOf(id));
  journal.commit();
  await gate.held();
  assert.equal(journal.appendedId, 3);
  assert.equal(journal.durableId, 0);
  assert.deepEqual(acknowledged, []);
  assert.equal(journal.pendingFrames, 3);
  const flushed = journal.flush();
  gate.letThrough();
  await flushed;
  assert.equal(journal.durableId, 3);
  assert.deepEqual(acknowledged, [3]);
  assert.equal(journal.pendingFrames + journal.pendingBytes, 0);
});

test('what is appended while a sync is in flight is the next batch, written by one write and one sync', async () => {
  const fs = await emptyDisk();
  const observations: CommitObservation[] = [];
  const { journal, acknowledged } = await openJournal(fs, { onCommit: (seen) => observations.push(seen) });
  const gate = new Gate(fs, 'datasync');
  journal.append(frameOf(1));
  journal.commit();
  await gate.held();
  for (let id = 2; id <= 100; id += 1) {
    journal.append(frameOf(id));
    journal.commit();
  }
  gate.letThrough();
  await gate.held();
  assert.deepEqual(acknowledged, [1]);
  const flushed = journal.flush();
  gate.letThrough();
  await flushed;
  assert.deepEqual(acknowledged, [1, 100]);
  assert.deepEqual(
    observations.map(({ frames }) => frames),
    [1, 99],
  );
  assert.equal(journal.stats().batches, 2);
  assert.equal(journal.stats().frames, 100);
});

test('behind a slow commit log, a batch that waits gathers what those send next who have a response, for a moment', async () => {
  const fs = await emptyDisk();
  const written: number[] = [];
  let due: (() => void)[] = [];
  const { journal } = await openJournal(fs, {
    commitLog: { gatherMs: 7, append: async ({ lastId }) => lastId },
    onCommit: ({ frames }) => written.push(frames),
    timer: (delayMs, run) => {
      if (delayMs === 7) due = [...due, run];
      return () => {
        due = due.filter((other) => other !== run);
      };
    },
  });
  const gate = new Gate(fs, 'datasync');
  const append = (...ids: readonly number[]): void => {
    for (const id of ids) journal.append(frameOf(id));
    journal.commit();
  };
  const endBatch = async (): Promise<void> => {
    gate.letThrough();
    await settled();
  };
  append(1);
  await gate.held();
  append(2, 3);
  await endBatch();
  assert.deepEqual([journal.durableId, due.length], [1, 1], 'the batch gathers');
  append(4);
  assert.equal(due.length, 0, 'as many came as have a response');
  await gate.held();
  append(5);
  await endBatch();
  due[0]!();
  await gate.held();
  append(6);
  await endBatch();
  const flushed = journal.flush();
  await gate.held();
  gate.letThrough();
  await flushed;
  assert.deepEqual(written, [1, 3, 1, 1]);
});

test('a frame records where its batch began, so that recovery knows what had been synced before it', async () => {
  const fs = await emptyDisk();
  const { journal } = await openJournal(fs);
  const first = journal.append(frameOf(1));
  await journal.flush();
  const second = journal.append(frameOf(2));
  const third = journal.append(frameOf(3, 5));
  await journal.close();
  const bytes = fs.bytesOf(FIRST_SEGMENT);
  assert.deepEqual(
    framesIn(bytes).map(({ batchStart }) => batchStart),
    [first.offset, second.offset, second.offset],
  );
  assert.equal(third.offset + third.length, bytes.length);
});

test('the positions that append returns are where recovery finds the frames, across segments', async () => {
  const fs = await emptyDisk();
  const { journal } = await openJournal(fs, { segmentBytes: 300 });
  const positions: unknown[] = [];
  for (const id of idsUpTo(20)) {
    positions.push(journal.append(frameOf(id)));
    if (id % 2 === 0) await journal.flush();
  }
  await journal.close();
  const { replayed } = await recoverFrom(fs);
  assert.equal(replayed.length, 20);
  assert(fs.namesIn(JOURNAL).length > 4);
  assert.deepEqual((await recoverFrom(fs)).positions, positions);
});

test('a new segment has its header and its name on disk before its first frame is written', async () => {
  const fs = await emptyDisk();
  const { journal } = await openJournal(fs, { segmentBytes: 100 });
  journal.append(frameOf(1));
  await journal.flush();
  const calls: string[] = [];
  fs.beforeCall = ({ kind, path }) => {
    calls.push(`${kind} ${path.slice(-10)}`);
  };
  journal.append(frameOf(2));
  await journal.flush();
  const expected = ['isAt', 'open', 'write', 'sync', 'syncFolder', 'close', 'write', 'datasync'];
  assert.deepEqual(calls.map((call) => call.split(' ')[0]).slice(0, 8), expected);
});

for (const kind of ['write', 'datasync'] as const) {
  test(`a failed ${kind} ends the journal: no acknowledgement, no retry, one failure that says what and where`, async () => {
    const fs = await emptyDisk();
    const { journal, acknowledged, failures } = await openJournal(fs);
    journal.append(frameOf(1));
    await journal.flush();
    let failed = 0;
    fs.beforeCall = (call) => {
      if (call.kind !== kind || failed++ > 0) return;
      throw ioError('EIO', 'the disk is gone');
    };
    const { offset } = journal.append(frameOf(2));
    const flushed = journal.flush();
    journal.append(frameOf(3));
    await assert.rejects(flushed, JournalFailure);
    const calls = fs.calls;
    journal.commit();
    await assert.rejects(journal.flush(), JournalFailure);
    assert.equal(fs.calls, calls, 'the disk, which would succeed now, is not asked again');
    assert.deepEqual(acknowledged, [1]);
    assert.equal(failures.length, 1);
    const message = `The journal could not be written at offset ${offset} of ${FIRST_SEGMENT}: EIO: the disk is gone`;
    assert.match(failures[0]!.message, new RegExp(message));
    assert.equal(journal.writable, false);
    assert.throws(() => journal.append(frameOf(4)), /takes no frames/);
    await assert.rejects(journal.close(), JournalFailure);
  });
}

test('a short write, the first sign of a full disk, ends the journal though no error was reported', async () => {
  const fs = await emptyDisk();
  const { journal, acknowledged, failures } = await openJournal(fs);
  journal.append(frameOf(1));
  await journal.flush();
  fs.capacityBytes = fs.bytesOf(FIRST_SEGMENT).length + 50;
  journal.append(frameOf(2));
  await assert.rejects(journal.flush(), /only 50 of \d+ bytes were written/);
  assert.deepEqual(acknowledged, [1]);
  assert.equal(failures.length, 1);
  const recovered = await recoverFrom(fs.crash());
  assert.deepEqual(replayedIds(recovered), [1]);
  assert.equal(recovered.report.tornBytesCut, 50);
});

test('what was written since the last look at the disk counts: a burst within a second is refused before it is full', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 10_000 });
  await fs.makeFolder(JOURNAL);
  const { journal } = await openJournal(fs, { reserveBytes: 5_000, monotonicMs: () => 0 });
  let lastId = 0;
  while (journal.writable) {
    lastId += 1;
    journal.append(frameOf(lastId));
    await journal.flush();
    assert(fs.roomLeft() > 4_000, 'the reserve is not written to');
  }
  assert.match(journal.refusalReason ?? '', /almost full/);
  assert(lastId > 20);
});

test('below the reserve writes are refused with a reason, and accepted again when space is back', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 10_000 });
  await fs.makeFolder(JOURNAL);
  let now = 0;
  const { journal } = await openJournal(fs, { reserveBytes: 5_000, monotonicMs: () => now });
  assert.equal(journal.writable, true);
  fs.put('/data/ballast', Buffer.alloc(6_000));
  journal.append(frameOf(1));
  await journal.flush();
  assert.equal(journal.writable, true, 'within a second nobody looks');
  now = 1_500;
  journal.append(frameOf(2));
  await journal.flush();
  await settled();
  assert.equal(journal.writable, false);
  assert.match(journal.refusalReason ?? '', /almost full/);
  fs.take('/data/ballast');
  assert.equal(journal.writable, false);
  await settled();
  assert.equal(journal.writable, false, 'refused writes look once a second, too');
  now = 3_000;
  assert.equal(journal.writable, false, 'this refusal started the look');
  await settled();
  assert.equal(journal.writable, true);
});

/** Lets everything that a simulated disk does without delay happen. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a journal that is opened on a disk below the reserve refuses from the start', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 100 });
  await fs.makeFolder(JOURNAL);
  const { journal } = await openJournal(fs, { reserveBytes: 5_000 });
  assert.equal(journal.writable, false);
});

test('without a reserve writes go on until one finds the disk full, although free blocks end before that', async () => {
  const fs = new MemoryFileSystem({ capacityBytes: 10_000 });
  await fs.makeFolder(JOURNAL);
  // A disk counts whole blocks, and the last block of a file takes more bytes when no block is free.
  fs.freeBytes = async () => Math.floor(fs.roomLeft() / 4_096) * 4_096;
  const failures: Error[] = [];
  const onFailure = (failure: Error): unknown => failures.push(failure);
  let now = 0;
  const { journal } = await openJournal(fs, { reserveBytes: 0, monotonicMs: () => now, onFailure });
  for (let id = 1; failures.length === 0 && id < 1_000; id += 1) {
    if (fs.roomLeft() < 3_000) now = 2_000;
    assert.equal(journal.refusalReason, null, `before event ${id}`);
    journal.append(frameOf(id));
    await journal.flush().catch(() => undefined);
  }
  assert.equal(failures.length, 1);
});

test('a disk that hangs fills the pending bytes to their limit, and then writes are refused', async () => {
  const fs = await emptyDisk();
  const { journal } = await openJournal(fs);
  const gate = new Gate(fs, 'datasync');
  const big = { ...frameOf(1), answer: 'x'.repeat(PENDING_BYTES_MAX / 4) };
  for (const id of [1, 2, 3]) journal.append({ ...big, id });
  journal.commit();
  await gate.held();
  assert.equal(journal.writable, true);
  journal.append({ ...big, id: 4 });
  assert.equal(journal.writable, false);
  assert.match(journal.refusalReason ?? '', /does not keep up/);
  gate.letThrough();
  await gate.held();
  gate.letThrough();
  await journal.flush();
  assert.equal(journal.writable, true);
});

test('ids that do not follow each other are refused before anything is written', async () => {
  const { journal } = await openJournal(await emptyDisk());
  journal.append(frameOf(1, 3));
  assert.throws(() => journal.append(frameOf(3)), /event 3 does not follow 3/);
  assert.throws(() => journal.append(frameOf(5)), /event 5 does not follow 3/);
  journal.append(frameOf(4));
  assert.equal(journal.appendedId, 4);
});

test('syncs within a moment share one durable mark, written after them and never before', async () => {
  const fs = await emptyDisk();
  const due: { delayMs: number; run: () => void }[] = [];
  const timer = (delayMs: number, run: () => void): (() => void) => {
    due.push({ delayMs, run });
    return () => undefined;
  };
  const { journal } = await openJournal(fs, { timer });
  for (const id of [1, 2, 3]) {
    journal.append(frameOf(id));
    await journal.flush();
  }
  assert.deepEqual(
    due.map(({ delayMs }) => delayMs),
    [MARK_DELAY_MS],
  );
  assert(!(await fs.exists(MARK)));
  due[0]!.run();
  await settled();
  assert(await fs.exists(MARK));
  const damaged = fs.copy();
  const bytes = fs.bytesOf(FIRST_SEGMENT);
  damaged.put(FIRST_SEGMENT, bytes.subarray(0, bytes.length - 1));
  await assert.rejects(recoverFrom(damaged), /events up to 3 had been on disk/);
});

test('a mark that cannot be written ends the journal too', async () => {
  const fs = await emptyDisk();
  const due: (() => void)[] = [];
  const { journal, failures } = await openJournal(fs, {
    timer: (_, run) => {
      due.push(run);
      return () => undefined;
    },
  });
  journal.append(frameOf(1));
  await journal.flush();
  fs.beforeCall = ({ path }) => {
    if (path === MARK) throw ioError('EIO', 'the disk is gone');
  };
  due[0]!();
  await settled();
  assert.equal(failures.length, 1);
  assert.match(failures[0]!.message, /durable\.mark/);
  assert.equal(journal.writable, false);
});

test('closing writes what was appended, and an empty journal leaves no file behind', async () => {
  const fs = await emptyDisk();
  const { journal, acknowledged } = await openJournal(fs);
  journal.append(frameOf(1));
  await journal.close();
  assert.deepEqual(acknowledged, [1]);
  assert.throws(() => journal.append(frameOf(2)), /takes no frames/);
  const empty = await emptyDisk();
  await (await openJournal(empty)).journal.close();
  assert.deepEqual(empty.namesIn(JOURNAL), []);
});

test('on the real file system a journal is written, torn, recovered and written on', async (context) => {
  const folder = temporaryFolder();
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const seen: number[] = [];
  const loader = {
    reset: () => seen.splice(0),
    load: () => undefined,
    replay: ({ id }: { id: number }) => seen.push(id),
  };
  const log = { info: () => undefined, warn: () => undefined };
  for (const life of [1, 2, 3]) {
    const { tail, tornBytesCut } = await recover({ fs: realFileSystem, folder, loader, log });
    assert.deepEqual(seen, idsUpTo((life - 1) * 20));
    assert.equal(tornBytesCut, life === 1 ? 0 : 5);
    const journal = await FileJournal.open({
      fs: realFileSystem,
      folder: join(folder, 'journal'),
      tail,
      segmentBytes: 1_000,
      reserveBytes: 0,
      onDurable: () => undefined,
      onFailure: assert.fail,
    });
    for (let count = 1; count <= 20; count += 1) {
      journal.append(frameOf(tail.lastId + count));
      if (count % 4 === 0) await journal.flush();
    }
    await journal.close();
    const names = await realFileSystem.list(join(folder, 'journal'));
    const last = join(folder, 'journal', names.findLast((name) => name.endsWith('.journal'))!);
    writeFileSync(last, Buffer.concat([readFileSync(last), Buffer.from('torn!')]));
  }
});
