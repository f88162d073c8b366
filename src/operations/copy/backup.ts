/**
 * Makes a consistent copy of a data folder, even while a server writes to it: everything up to one event and nothing
 * after it, verified to the last byte before it gets its name. A running server only says which event is on disk.
 */
import { askServer } from '../../control/control-client.ts';
import { createDataFolder, type DataFolder, dataFolder } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { decideRecovery } from '../../persistence/recovery/recovery-cases.ts';
import { refusalOf } from '../../persistence/recovery/recovery-refusal.ts';
import { surveyFolder } from '../../persistence/recovery/recovery-survey.ts';
import { listSnapshots } from '../../persistence/snapshots/snapshot-files.ts';
import { OperationError } from '../operation-error.ts';
import { newestEvent } from '../read/journal-reading.ts';
import { boundaryAt, buildFolder, copyUpTo } from './copy-folder.ts';

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
  const lastId = flushed?.durableId ?? (await newestState(fs, from));
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
    await verifyCopy(fs, target, options.onVerified);
    return copied;
  });
  return { to, lastId, bytes, fromRunningServer: flushed !== null };
}

/** When there is no journal, there may still be a snapshot. */
async function newestState(fs: FileSystem, from: DataFolder): Promise<number> {
  const newest = await newestEvent({ fs, folder: from.journal });
  return newest > 0 ? newest : ((await listSnapshots(fs, from.snapshots)).at(-1)?.id ?? 0);
}

/** Reads every byte back and lets recovery check whether it would start on the copy. */
async function verifyCopy(
  fs: FileSystem,
  folder: DataFolder,
  onProgress?: (bytesDone: number) => void,
): Promise<void> {
  await createDataFolder(fs, folder);
  const survey = await surveyFolder(fs, folder, onProgress);
  const { label, outcome } = decideRecovery(survey.facts);
  if (outcome === 'start') return;
  const refusal = refusalOf(label, survey, folder);
  throw new OperationError(
    'unsound',
    `The copy would not start, so it was not kept: ${refusal.message}`,
    refusal,
  );
}
