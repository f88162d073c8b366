/** Journals to damage: small frames, written through the real journal on a simulated disk, and recovered again. */

import type { FileSystem } from '../../src/persistence/disk/file-system.ts';
import { FileJournal, type FileJournalOptions } from '../../src/persistence/journal/file-journal.ts';
import type { Frame, FramePosition, RecordedFrame } from '../../src/persistence/journal/frame.ts';
import { EMPTY_TAIL, type JournalTail } from '../../src/persistence/journal/journal.ts';
import { type RecoveryReport, recover } from '../../src/persistence/recovery/recovery.ts';
import { type SnapshotSection, writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

export const FOLDER = '/data';
export const JOURNAL = `${FOLDER}/journal`;
export const SNAPSHOTS = `${FOLDER}/snapshots`;
export const FIRST_SEGMENT = `${JOURNAL}/00000000000000000001.journal`;
export const BEGINNING = `${FOLDER}/log.beginning`;
export const MARK = `${JOURNAL}/durable.mark`;

export function frameOf(id: number, events = 1): Frame {
  const event = { type: 't', project: null, featureName: null, environment: null, preData: null };
  return {
    id,
    at: 1_000 + id,
    by: 'a',
    userId: 1,
    events: Array.from({ length: events }, (_, index) => ({ ...event, data: id + index })),
  };
}

export interface OpenedJournal {
  readonly journal: FileJournal;
  readonly acknowledged: number[];
  readonly failures: Error[];
}

/** Marks are never due by a timer here, and no zeros are written ahead, so that every call to the disk is the test's. */
export async function openJournal(
  fs: FileSystem,
  options: Partial<FileJournalOptions> = {},
): Promise<OpenedJournal> {
  const acknowledged: number[] = [];
  const failures: Error[] = [];
  const journal = await FileJournal.open({
    fs,
    folder: JOURNAL,
    tail: EMPTY_TAIL,
    reserveBytes: 0,
    preallocatedBytes: 0,
    onDurable: (id) => acknowledged.push(id),
    onFailure: (failure) => failures.push(failure),
    timer: () => () => undefined,
    ...options,
  });
  return { journal, acknowledged, failures };
}

export interface WrittenJournal {
  readonly frames: number;
  /** Frames in a write batch. */
  readonly batch?: number;
  readonly segmentBytes?: number;
  /** Author of every frame: sets apart journals that are alike otherwise. */
  readonly by?: string;
  /** The place to go on from; an empty journal unless given. */
  readonly tail?: JournalTail;
}

/** Appends frames of one event each and closes the journal cleanly. */
export async function appendFrames(fs: FileSystem, written: WrittenJournal): Promise<void> {
  const { frames, batch = 1, segmentBytes, by = 'a', tail = EMPTY_TAIL } = written;
  const { journal } = await openJournal(fs, {
    tail,
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  });
  for (let count = 1; count <= frames; count += 1) {
    journal.append({ ...frameOf(tail.lastId + count), by });
    if (count % batch === 0) await journal.flush();
  }
  await journal.close();
}

/** A disk with a cleanly closed journal. */
export async function diskWithJournal(written: WrittenJournal): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeFolder(JOURNAL);
  await fs.makeFolder(SNAPSHOTS);
  await appendFrames(fs, written);
  return fs;
}

export interface Recovered {
  readonly report: RecoveryReport;
  readonly replayed: readonly RecordedFrame[];
  readonly positions: readonly FramePosition[];
  readonly loaded: readonly (readonly [section: string, record: unknown])[];
  readonly warnings: readonly string[];
}

export async function recoverFrom(fs: FileSystem): Promise<Recovered> {
  const replayed: RecordedFrame[] = [];
  const positions: FramePosition[] = [];
  let loaded: (readonly [string, unknown])[] = [];
  const warnings: string[] = [];
  const loader = {
    reset: () => {
      loaded = [];
    },
    load: (section: string, record: unknown) => loaded.push([section, record]),
    replay: (frame: RecordedFrame, position: FramePosition) => {
      replayed.push(frame);
      positions.push(position);
    },
  };
  const log = { info: () => undefined, warn: (_: object, message: string) => warnings.push(message) };
  const report = await recover({ fs, folder: FOLDER, loader, log });
  return { report, replayed, positions, loaded, warnings };
}

/** The ids that a recovered state consists of: those of a loaded snapshot, then those replayed. */
export const replayedIds = ({ replayed }: Recovered): number[] => replayed.map((frame) => frame.id);

export const idsUpTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** A snapshot of the journal as it lies on the disk, whose state is the list of its event ids. */
export async function snapshotOf(fs: FileSystem, { lastId, lastAt, chain }: JournalTail): Promise<string> {
  const sections: SnapshotSection[] = [{ name: 'ids', records: idsUpTo(lastId) }];
  const durable = (): Promise<void> => Promise.resolve();
  const written = await writeSnapshot({
    fs,
    folder: SNAPSHOTS,
    id: lastId,
    at: lastAt,
    chain,
    sections,
    durable,
  });
  return written.path;
}
