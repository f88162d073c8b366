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
import { createDataFolder, type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing } from '../persistence/disk/file-system.ts';
import { DurableMarkFile } from '../persistence/journal/durable-mark.ts';
import type { Boundary } from '../persistence/journal/frame.ts';
import { readLogBeginning, writeLogBeginning } from '../persistence/journal/log-beginning.ts';
import { paddedId, segmentFileName } from '../persistence/journal/segment.ts';
import { listSegments, withSegment } from '../persistence/journal/segment-file.ts';
import { missingBeginning } from '../persistence/recovery/recovery-refusal.ts';
import { listSnapshots } from '../persistence/snapshots/snapshot-files.ts';
import { SNAPSHOT_SUFFIX } from '../persistence/snapshots/snapshot-format.ts';
import { copyFile } from './copy-file.ts';
import { tryState } from './lone-snapshot.ts';
import { OperationError } from './operation-error.ts';

/** Of what is being written, and gets its name when it is complete. */
export const PARTIAL_SUFFIX = '.partial';

export interface CopyOptions {
  readonly fs: FileSystem;
  readonly from: DataFolder;
  readonly to: DataFolder;
  /** The last event to copy. */
  readonly lastId: number;
  /** Behind that event's frame; null where no journal is to be copied. */
  readonly end: Boundary | null;
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
  const { fs, from, to, end, lastId } = options;
  assert(
    end === null || end.segment <= lastId + 1,
    'the last copied segment holds or follows the last event',
  );
  const copy = new Copy(options);
  for (const { id, path } of await listSnapshots(fs, from.snapshots)) {
    if (id > lastId || !(await isGood(fs, path))) continue;
    await copy.file(path, join(to.snapshots, `${paddedId(id)}${SNAPSHOT_SUFFIX}`), null);
  }
  if (end !== null) await copyJournal(options, copy, end);
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

/** A snapshot that retention removes meanwhile counts as absent. */
async function isGood(fs: FileSystem, path: string): Promise<boolean> {
  try {
    return (await tryState(fs, path)).problem === null;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
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
      assert(bytes === null || copied === bytes, `${to} has ${copied} bytes, and ${bytes} were to be copied`);
      this.bytesDone = before + copied;
      return true;
    } catch (error) {
      if (isMissing(error) && !(await fs.exists(from))) return false;
      throw error;
    }
  }
}
