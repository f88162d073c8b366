/**
 * Makes a consistent copy of a data folder, even while a server writes to it: everything up to one event and nothing
 * after it, verified to the last byte before it gets its name. A running server only says which event is on disk.
 */
import { askServer } from '../control/control-client.ts';
import { type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';
import { buildFolder, copyUpTo } from './copy-folder.ts';
import { boundaryAt } from './journal-reading.ts';
import { newestOfStopped } from './newest-event.ts';
import { OperationError } from './operation-error.ts';

export interface BackupOptions {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
  readonly to: string;
  onCopied?(bytesDone: number): void;
  onVerified?(bytesDone: number): void;
  /** For tests. */
  readonly ask?: typeof askServer;
}

export interface Backup {
  readonly to: string;
  readonly lastId: number;
  readonly bytes: number;
  /** Whether a server had the folder open. */
  readonly fromRunningServer: boolean;
}

export async function backUp(options: BackupOptions): Promise<Backup> {
  const { fs, to, ask = askServer } = options;
  const from = dataFolder(options.folder);
  const flushed = await ask(options.folder, 'flush');
  const lastId = flushed?.durableId ?? (await newestOfStopped(fs, options.folder));
  if (lastId === 0)
    throw new OperationError('missing', `There is nothing to copy: ${options.folder} holds no event.`);
  const bytes = await buildFolder(fs, to, async (target) => {
    const end = await boundaryAt({ fs, folder: from.journal }, lastId);
    const copied = await copyUpTo({
      fs,
      from,
      to: target,
      lastId,
      end,
      ...(options.onCopied === undefined ? {} : { onProgress: options.onCopied }),
    });
    await verifyCopy(fs, target, { lastId, onVerified: options.onVerified });
    return copied;
  });
  return { to, lastId, bytes, fromRunningServer: flushed !== null };
}

/** Reads every byte back: a start has to find the very event that the copy was made for. */
async function verifyCopy(
  fs: FileSystem,
  folder: DataFolder,
  { lastId, onVerified }: { lastId: number; onVerified: BackupOptions['onVerified'] },
): Promise<void> {
  const check = await checkStart({
    fs,
    folder: folder.root,
    ...(onVerified === undefined ? {} : { onProgress: onVerified }),
  });
  const { refusal } = check;
  if (refusal !== null) {
    const message = `The copy would not start, so it was not kept: ${refusal.message}`;
    throw new OperationError('unsound', message, refusal);
  }
  if (check.lastId !== lastId) {
    const message = `The copy ends with event ${check.lastId} instead of event ${lastId}, so it was not kept. Run "flagstaff verify".`;
    throw new OperationError('unsound', message);
  }
}
