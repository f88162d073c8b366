/**
 * Copies a data folder up to an event into a folder that appears only when the copy is complete and verified.
 *
 * Everything is written below `<target>.partial`, synced, verified by reading it back, and then renamed, so a folder
 * with the target's name is always good. The source is only read, and may belong to a running server: segments
 * only grow, and snapshots appear whole. Copied bytes are never decoded and written anew, so checksums, chain and
 * batches stay what they were.
 */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loaderOf } from '../actors/state/state-loader.ts';
import type { World } from '../domain/state/world.ts';
import {
  ADVICE_DAMAGED,
  createDataFolder,
  type DataFolder,
  DataFolderError,
  dataFolder,
} from '../persistence/disk/data-folder.ts';
import {
  type FileSystem,
  isMissing,
  readLeniently,
  UNREADABLE,
  unlessMissing,
  withFile,
} from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import { DurableMarkFile } from '../persistence/journal/durable-mark.ts';
import type { Boundary } from '../persistence/journal/frame.ts';
import { readLogBeginning, writeLogBeginning } from '../persistence/journal/log-beginning.ts';
import { segmentFileName } from '../persistence/journal/segment.ts';
import { listSegments, withSegment } from '../persistence/journal/segment-file.ts';
import { missingBeginning } from '../persistence/recovery/recovery-refusal.ts';
import { loadSnapshot } from '../persistence/recovery/recovery-survey.ts';
import { listSnapshots, type SnapshotFile, snapshotPath } from '../persistence/snapshots/snapshot-files.ts';
import type { SnapshotHeader } from '../persistence/snapshots/snapshot-format.ts';
import type { HistoryFiles } from './history-files.ts';
import { OperationError } from './operation-error.ts';
import type { StateProgress } from './state-at.ts';

/** The suffix of an incomplete copy. It is renamed when it is complete. */
const PARTIAL_SUFFIX = '.partial';

export interface CopyOptions {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly to: DataFolder;
  /** The last event to copy. */
  readonly lastId: number;
  /** The boundary after that event's frame; null where no journal is to be copied. */
  readonly end: Boundary | null;
  /** Copied with the journal; none unless given. */
  readonly historyFiles?: readonly HistoryFiles[];
  onProgress?(bytesDone: number): void;
}

/** Refuses a target that is not empty. */
export function refuseOccupied(target: string): void {
  const names = namesIn(target);
  if (names === null || names.length === 0) return;
  throw new OperationError(
    'occupied',
    `${target} is there already and not empty; nothing is ever overwritten.`,
  );
}

function namesIn(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return null;
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return ['(a file)'];
    throw error;
  }
}

/** Runs `fill` on a folder with another name, which is renamed to the target's name afterwards. */
export async function buildFolder<T>(
  fs: FileSystem,
  target: string,
  fill: (folder: DataFolder) => Promise<T>,
): Promise<T> {
  const path = resolve(target);
  refuseOccupied(path);
  const partial = `${path}${PARTIAL_SUFFIX}`;
  if (namesIn(partial) !== null) {
    const message = `${partial} is there: another command is writing it, or was interrupted. Remove it if none is running.`;
    throw new OperationError('occupied', message);
  }
  const folder = dataFolder(partial);
  try {
    await createDataFolder(fs, folder);
    const result = await fill(folder);
    await fs.rename(partial, path);
    await fs.syncFolder(dirname(path));
    return result;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Copies the journal up to the boundary, and the good snapshots that are not newer. Returns the bytes copied. */
export async function copyUpTo(options: CopyOptions): Promise<number> {
  const { fs, from, to, end, lastId, historyFiles = [] } = options;
  assert(
    end === null || end.segment <= lastId + 1,
    'the last copied segment holds or follows the last event',
  );
  const copy = new Copy(options);
  for (const file of await listSnapshots(fs, from.snapshots)) {
    if (file.id > lastId || !(await isGood(fs, file))) continue;
    await copy.file(file.path, snapshotPath(to.snapshots, file.id), null);
  }
  if (end !== null) {
    await copyJournal(options, copy, end);
    for (const files of historyFiles) await files.copy({ from: from.root, to: to.root, lastId });
  }
  await fs.syncFolder(to.snapshots);
  await fs.syncFolder(to.journal);
  return copy.bytesDone;
}

/**
 * The newest segment first: where retention of a running server deletes the oldest ones meanwhile, what was copied has no
 * hole.
 */
async function copyJournal(options: CopyOptions, copy: Copy, end: Boundary): Promise<void> {
  const { fs, from, to, lastId } = options;
  const segments = await listSegments({ fs, folder: from.journal });
  let oldest = end.segment;
  for (const firstId of segments.filter((id) => id <= end.segment).toReversed()) {
    const name = segmentFileName(firstId);
    const bytes = firstId === end.segment ? end.offset : null;
    if (!(await copy.file(join(from.journal, name), join(to.journal, name), bytes))) break;
    oldest = firstId;
  }
  assert(oldest <= end.segment, 'the copied segments end with that of the last event');
  await copyBeginning(options, oldest);
  const mark = new DurableMarkFile(fs, to.journal);
  await mark.write({ lastId, ...end });
  await mark.close();
}

/** Records where the copied log begins, which must not be later than where the original does. */
async function copyBeginning({ fs, from, to }: CopyOptions, oldest: number): Promise<void> {
  const recorded = await readLogBeginning(fs, from.root);
  if (recorded.state === 'good' && oldest > recorded.beginning.firstId) {
    throw missingBeginning(from, recorded.beginning.firstId, oldest);
  }
  await recordOldest(fs, to, oldest);
}

/** Records that the log of the folder begins with its segment of event `oldest`. */
export async function recordOldest(fs: FileSystem, to: DataFolder, oldest: number): Promise<void> {
  const header = await withSegment({ fs, folder: to.journal }, oldest, async (segment) => segment.header);
  // Where the header is damaged, no start succeeds on the copy, and it is not kept.
  if (header !== null) await writeLogBeginning(fs, to.root, header);
}

/** Whether a start could use it. A snapshot that retention removes meanwhile counts as absent. */
async function isGood(fs: FileSystem, file: SnapshotFile): Promise<boolean> {
  const reading = await unlessMissing(loadSnapshot(fs, file, loaderOf()), null);
  return reading?.problem === null;
}

/** Adds up the bytes of several files. */
class Copy {
  readonly #options: CopyOptions;
  bytesDone = 0;

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  /** False when the file is gone, as a running server deletes old ones. */
  async file(from: string, to: string, bytes: number | null): Promise<boolean> {
    const { fs, onProgress } = this.#options;
    const before = this.bytesDone;
    const onCopied = (done: number): void => onProgress?.(before + done);
    try {
      const copied = await copyFile(fs, { from, to, bytes, onProgress: onCopied });
      assert(bytes === null || copied === bytes, `${to} has all ${bytes} bytes, and not ${copied}`);
      this.bytesDone = before + copied;
      return true;
    } catch (error) {
      if (isMissing(error) && !(await fs.exists(from))) return false;
      throw error;
    }
  }
}

// Copies one file, or the beginning of it, and makes the copy durable.

const PIECE_BYTES = 1024 * 1024;

interface CopyFileOptions {
  readonly from: string;
  /** Must not exist. */
  readonly to: string;
  /** How many bytes from the beginning; null for all of them. */
  readonly bytes: number | null;
  onProgress?(bytesDone: number): void;
}

/** Returns the bytes copied. */
export function copyFile(fs: FileSystem, options: CopyFileOptions): Promise<number> {
  const { from, to, bytes, onProgress } = options;
  return withFile(fs, from, async (source) => {
    const size = bytes ?? (await source.size());
    const target = await fs.open(to, 'create');
    try {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(size, 1)));
      for (let at = 0; at < size; ) {
        const { count, unreadableAt } = await readLeniently(
          source,
          piece,
          Math.min(piece.length, size - at),
          at,
        );
        if (unreadableAt !== null) throw unreadable(from, unreadableAt);
        if (count === 0) throw new OperationError('unsound', `${from} became shorter while it was copied.`);
        await writeFully(target, piece.subarray(0, count), at);
        at += count;
        onProgress?.(at);
      }
      await target.sync();
    } finally {
      await target.close();
    }
    return size;
  });
}

const unreadable = (file: string, offset: number): DataFolderError =>
  new DataFolderError(`A file cannot be copied: ${UNREADABLE}`, { file, offset, advice: ADVICE_DAMAGED });

interface LoadSnapshotOptions {
  readonly fs: FileSystem;
  /** The file. */
  readonly from: string;
  onProgress?(progress: StateProgress): void;
}

interface LoadedSnapshot {
  readonly header: SnapshotHeader;
  readonly world: World;
}

/** Loads a snapshot under any name. Throws `DataFolderError` when the file is not a whole snapshot. */
export async function loadSnapshotFile(options: LoadSnapshotOptions): Promise<LoadedSnapshot> {
  const { fs, from, onProgress } = options;
  const loader = loaderOf();
  const reading = await loadSnapshot(fs, { id: null, path: from }, loader, (done, total) =>
    onProgress?.({ phase: 'load', done, total }),
  );
  if (reading.problem === null) return { header: reading.header, world: loader.world };
  const details = { file: from, offset: reading.offset, advice: ADVICE_DAMAGED };
  throw new DataFolderError(`The file is not a whole snapshot: ${reading.problem}`, details);
}
