/**
 * Makes the journal of a node longer from the archive, before its store is opened: of a node with an empty folder, and of one
 * that was away for so long that the log has forgotten what it lacks.
 *
 * The segments come one at a time and in order. Each is verified, by its digest and as a start verifies it, and then gets
 * its name at once, so a crash leaves a journal that is shorter and whole, and the next start goes on behind it. A snapshot
 * gets its name only when the journal reaches as far, and only saves replaying.
 */
import { join } from 'node:path';
import { type DataFolder, TEMPORARY_SUFFIX } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { replaceFile, writeFully } from '../../persistence/disk/write-fully.ts';
import { writeLogBeginning } from '../../persistence/journal/log-beginning.ts';
import { segmentFileName } from '../../persistence/journal/segment.ts';
import { listSegments } from '../../persistence/journal/segment-file.ts';
import { cutJournal, type JournalEnd, type JournalPlace } from '../../persistence/recovery/journal-end.ts';
import { listSnapshots, snapshotPath } from '../../persistence/snapshots/snapshot-files.ts';
import { verifySnapshotFile } from '../../persistence/snapshots/snapshot-reader.ts';
import {
  type ArchivedRun,
  type ArchivedSnapshot,
  type ArchiveIndex,
  firstRun,
  readArchiveIndex,
} from './archive-index.ts';
import {
  ArchiveDamageError,
  chainsOf,
  contentBehind,
  doesNotFollow,
  framesOf,
  SegmentReader,
  type UseSegment,
} from './archived-frames.ts';
import type { FileArchive } from './file-archive.ts';

export interface JoinOptions {
  readonly fs: FileSystem;
  readonly folder: DataFolder;
  readonly archive: FileArchive;
  /** The end of the journal before it joins. */
  readonly end: JournalEnd;
  /** The history of the log; null where it has no name. */
  readonly history: string | null;
  /** Told which event the journal will reach, before anything is fetched: the log has to keep what follows. */
  reserve(id: number): void;
}

export interface Fetched {
  /** The last event kept of the journal as it was, and the last one that it holds now. */
  readonly keptId: number;
  readonly lastId: number;
}

/** Null where the archive has nothing for the journal, and nothing was changed. */
export async function fetchFromArchive(options: JoinOptions): Promise<Fetched | null> {
  const { archive, fs, folder, end, history, reserve } = options;
  const index = readArchiveIndex(await archive.list());
  if (history !== null && index.history !== null && index.history !== history)
    throw new ArchiveDamageError(`the archive belongs to the history ${index.history}, not ${history}`);
  const run = firstRun(index);
  if (run === null) return null;
  const snapshots = index.snapshots.filter(({ id }) => id <= run.lastId);
  const newest = end.places.at(-1)!;
  const isEmpty = newest.id === 0;
  // Without the events before it, a start needs a snapshot.
  if (isEmpty && run.firstId > 1 && (snapshots.at(-1)?.id ?? 0) < run.firstId - 1) return null;
  const reader = readerOf(options, index, run);
  const place = isEmpty ? null : await commonPlace(options, reader, run);
  if (!isEmpty && place === null) return null;
  const from = place?.id ?? run.firstId - 1;
  if (run.lastId > from) {
    reserve(run.lastId);
    // What the log refused goes, and so do zeros behind the end.
    if (place !== null && place.boundary !== null) await cutJournal(fs, folder, place);
    await fetchSegments(options, reader, { from, to: run.lastId, chain: place?.chain ?? null });
  }
  const isSnapshotNew = await fetchNewest(options, snapshots);
  return run.lastId > from || isSnapshotNew ? { keptId: from, lastId: Math.max(run.lastId, from) } : null;
}

/** Reads the run. Other files take the place of damaged ones. */
function readerOf({ archive }: JoinOptions, { segments }: ArchiveIndex, run: ArchivedRun): SegmentReader {
  const others = segments.filter(
    (segment) => segment.lastId <= run.lastId && !run.segments.includes(segment),
  );
  return new SegmentReader(archive, [...run.segments, ...others]);
}

async function tryOne(reader: SegmentReader, id: number, use: UseSegment): Promise<void> {
  if (!(await reader.tryOne(id, use))) throw isGone(`that holds event ${id}`);
}

/** The last place of the journal's end at which the archive has the same checksum; null where none is, or it is older than what was decided. */
async function commonPlace(
  { end }: JoinOptions,
  reader: SegmentReader,
  run: ArchivedRun,
): Promise<JournalPlace | null> {
  const [earliest] = end.places;
  const newest = end.places.at(-1)!;
  const chains = new Map<number, number>();
  const toId = Math.min(newest.id + 1, run.lastId);
  let reached = Math.max(earliest.id, run.firstId) - 1;
  const look: UseSegment = (bytes, segment) => {
    for (const [id, chain] of chainsOf(framesOf(bytes, segment), segment)) chains.set(id, chain);
    reached = segment.lastId;
  };
  while (reached < toId) await tryOne(reader, reached + 1, look);
  const common = end.places.findLast(({ id, chain }) => chains.get(id) === chain) ?? null;
  return common !== null && common.id >= end.committedId ? common : null;
}

/** `chain`: of the frame before, where the journal has one. */
async function fetchSegments(
  { fs, folder }: JoinOptions,
  reader: SegmentReader,
  {
    from,
    to,
    chain: ownChain,
  }: { readonly from: number; readonly to: number; readonly chain: number | null },
): Promise<void> {
  let reached = from;
  let reachedChain = ownChain;
  const take: UseSegment = async (bytes, segment) => {
    const frames = framesOf(bytes, segment);
    const chain = chainsOf(frames, segment).get(reached);
    if (chain === undefined || (reachedChain !== null && chain !== reachedChain))
      throw doesNotFollow(segment, reached);
    const content =
      segment.firstId === reached + 1 ? bytes : contentBehind(bytes, frames, { id: reached, chain });
    if (ownChain === null && reached === from)
      await writeLogBeginning(fs, folder.root, { firstId: from + 1, chain });
    const path = join(folder.journal, segmentFileName(reached + 1));
    await replaceFile(fs, path, content, { durable: true });
    reached = segment.lastId;
    reachedChain = segment.chain;
  };
  while (reached < to) await tryOne(reader, reached + 1, take);
}

/** Fetches the newest that is not damaged; whether it is there now and was not before. */
async function fetchNewest(options: JoinOptions, snapshots: readonly ArchivedSnapshot[]): Promise<boolean> {
  for (const snapshot of snapshots.toReversed()) if (await fetchSnapshot(options, snapshot)) return true;
  return false;
}

/** Whether it is there now and was not before. One that is damaged is done without. */
async function fetchSnapshot(
  { fs, folder, archive }: JoinOptions,
  { id, parts }: ArchivedSnapshot,
): Promise<boolean> {
  if ((await listSnapshots(fs, folder.snapshots)).some((own) => own.id >= id)) return false;
  const path = snapshotPath(folder.snapshots, id);
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  const file = await fs.open(temporary, 'create');
  let isDamaged = false;
  try {
    let at = 0;
    for (const { name } of parts) {
      const bytes = await fetched(archive, name);
      await writeFully(file, bytes, at);
      at += bytes.length;
    }
    await file.sync();
  } catch (error) {
    if (!(error instanceof ArchiveDamageError)) throw error;
    isDamaged = true;
  } finally {
    await file.close();
  }
  if (isDamaged || (await verifySnapshotFile({ fs, path: temporary })).problem !== null) {
    await fs.remove(temporary);
    return false;
  }
  await fs.rename(temporary, path);
  await fs.syncFolder(folder.snapshots);
  return true;
}

async function fetched(archive: FileArchive, name: string): Promise<Buffer> {
  const bytes = await archive.get(name);
  if (bytes === null) throw isGone(name);
  return bytes;
}

const isGone = (which: string): Error => new Error(`the archived file ${which} is gone; trying again`);

/** Whether a folder cannot be opened without what the archive has: it has nothing, or a join was cut off before its snapshot. */
export async function lacksBeginning(fs: FileSystem, folder: DataFolder, end: JournalEnd): Promise<boolean> {
  if (end.places.at(-1)!.id === 0) return true;
  const [oldest] = await listSegments({ fs, folder: folder.journal });
  return oldest !== undefined && oldest > 1 && (await listSnapshots(fs, folder.snapshots)).length === 0;
}
