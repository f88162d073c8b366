/**
 * Repairs a damaged folder. The repaired journal and snapshots are built beside it, a trial start proves that they are good, and then
 * they take the place of the old files. Those are moved aside unchanged and never deleted.
 *
 * `repaired.tmp` in the data folder holds the new files while they are being made. It is complete once its file `ready` is on disk.
 * Exchanging it for the old files may be interrupted anywhere, and the next repair continues it. Until then no server starts
 * (unfinished-work.ts).
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loaderOf } from '../../actors/state/state-loader.ts';
import { stateHash } from '../../actors/state/world-snapshot.ts';
import { copyFile, recordOldest } from '../../operations/copy-folder.ts';
import type { HistoryFiles, Prover } from '../../operations/history-files.ts';
import { OperationError } from '../../operations/operation-error.ts';
import type { FolderVerification } from '../../operations/verify-folder.ts';
import { createDataFolder, type DataFolder, dataFolder } from '../../persistence/disk/data-folder.ts';
import { type FileSystem, withFile } from '../../persistence/disk/file-system.ts';
import { writeFully } from '../../persistence/disk/write-fully.ts';
import { DurableMarkFile } from '../../persistence/journal/durable-mark.ts';
import { LOG_BEGINNING_FILE_NAME } from '../../persistence/journal/log-beginning.ts';
import type { FrameSource } from '../../persistence/journal/mended-segment.ts';
import { recover } from '../../persistence/recovery/recovery.ts';
import { readyFile, repairFolder } from '../../persistence/recovery/unfinished-work.ts';
import { rebuildJournal } from './rebuild.ts';
import type { Way } from './ways.ts';

export interface RepairOptions {
  readonly fs: FileSystem;
  /** The data folder, whose lock the caller holds. */
  readonly folder: string;
  readonly verified: FolderVerification;
  readonly way: Way;
  /** Has what the way keeps and the folder lacks; null where the way keeps only what is there. */
  readonly copy: FrameSource | null;
  readonly historyFiles: readonly HistoryFiles[];
  /** Proofs of the events that the copy gives. */
  readonly provers: readonly Prover[];
  /** The unused name of the folder, within the data folder, to which the old files are moved. */
  readonly asideName: string;
}

export interface Repaired {
  readonly lastId: number;
  readonly stateHash: string;
  /** The folder that holds the old files. */
  readonly aside: string;
}

export async function repair(options: RepairOptions): Promise<Repaired> {
  const { fs, folder, asideName } = options;
  const aside = join(folder, asideName);
  if (await fs.exists(aside)) throw new OperationError('occupied', `${aside} is there already.`);
  const target = dataFolder(repairFolder(folder));
  rmSync(target.root, { recursive: true, force: true });
  await createDataFolder(fs, target);
  // What is refused leaves nothing behind, which may be as large as the folder.
  const started = await build(options, target).catch((error: unknown) => {
    rmSync(target.root, { recursive: true, force: true });
    throw error;
  });
  await declareReady(fs, folder, asideName);
  await exchange(options, aside);
  return { ...started, aside };
}

async function build(options: RepairOptions, to: DataFolder): Promise<Omit<Repaired, 'aside'>> {
  const { fs, way, verified, copy, historyFiles, provers } = options;
  const from = dataFolder(options.folder);
  for (const { path } of way.snapshots)
    await copyFile(fs, { from: path, to: join(to.snapshots, basename(path)), bytes: null });
  const [oldest] = way.parts;
  if (oldest !== undefined) {
    const mark = await rebuildJournal({ fs, from, to, verified, way, copy });
    await recordOldest(fs, to, oldest.from);
    const file = new DurableMarkFile(fs, to.journal);
    await file.write(mark);
    await file.close();
  }
  // What they say reaches back to the beginning of the log.
  if (oldest !== undefined && way.unlisted === null) {
    for (const files of historyFiles) await files.copy({ from: from.root, to: to.root, lastId: way.lastId });
    if (copy !== null) for (const prove of provers) refuseUnproved(await prove(to.root, way.lastId), copy);
  }
  const loader = loaderOf();
  const log = { info: () => undefined, warn: () => undefined };
  const { lastId } = await recover({ fs, folder: to.root, loader, log });
  if (lastId === way.lastId) return { lastId, stateHash: stateHash(loader.world) };
  const message = `The repaired files give the state of event ${lastId} and not of ${way.lastId}; nothing was changed.`;
  throw new OperationError('unsound', message);
}

function refuseUnproved(problem: string | null, copy: FrameSource): void {
  if (problem === null) return;
  throw new OperationError('unsound', `With what ${copy.name} has, ${problem}. Nothing was changed.`);
}

type Exchanged = Pick<RepairOptions, 'fs' | 'folder' | 'historyFiles'>;

/** Finishes a repair that was interrupted after it was ready; false when there is none. */
export async function finishRepair(exchanged: Exchanged): Promise<boolean> {
  const { fs, folder } = exchanged;
  const path = readyFile(folder);
  if (!(await fs.exists(path))) return false;
  const asideName = await withFile(fs, path, async (file) => {
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString();
  });
  await exchange(exchanged, join(folder, asideName));
  return true;
}

async function declareReady(fs: FileSystem, folder: string, asideName: string): Promise<void> {
  const file = await fs.open(readyFile(folder), 'create');
  try {
    await writeFully(file, Buffer.from(asideName), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await fs.syncFolder(repairFolder(folder));
  await fs.syncFolder(folder);
}

/** Skips each step that was done before, so that all of it can be repeated. */
async function exchange({ fs, folder, historyFiles }: Exchanged, aside: string): Promise<void> {
  await fs.makeFolder(aside);
  const besideJournal = [LOG_BEGINNING_FILE_NAME, ...historyFiles.flatMap(({ names }) => names)];
  // What is said of the old journal must not be asked of the new one.
  if (await fs.exists(join(repairFolder(folder), 'journal')))
    for (const name of besideJournal) await moveIfThere(fs, join(folder, name), join(aside, name));
  for (const name of ['snapshots', 'journal']) {
    const [current, repaired] = [join(folder, name), join(repairFolder(folder), name)];
    if (!(await fs.exists(repaired))) continue;
    if (await fs.exists(current)) await fs.rename(current, join(aside, name));
    await fs.rename(repaired, current);
    await fs.syncFolder(aside);
    await fs.syncFolder(folder);
  }
  for (const name of besideJournal)
    await moveIfThere(fs, join(repairFolder(folder), name), join(folder, name));
  await fs.syncFolder(folder);
  await fs.remove(readyFile(folder));
  rmSync(repairFolder(folder), { recursive: true, force: true });
  await fs.syncFolder(folder);
}

async function moveIfThere(fs: FileSystem, from: string, to: string): Promise<void> {
  if (await fs.exists(from)) await fs.rename(from, to);
}
