/** `flagstaff backup`: make a consistent, verified copy of a data folder. */
import { resolve } from 'node:path';
import { askServer } from '../control/control-client.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { bytesText, secondsText } from '../host/format.ts';
import { progressOn } from '../host/progress.ts';
import { buildFolder, copyUpTo } from '../operations/copy-folder.ts';
import type { HistoryFiles } from '../operations/history-files.ts';
import { boundaryAt, newestOfStopped } from '../operations/journal-reading.ts';
import { OperationError } from '../operations/operation-error.ts';
import { type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';

interface BackupCommandOptions extends CommonOptions {
  readonly to: string;
}

export const addBackup: AddCommand = (program, context) => {
  withCommonOptions(program.command('backup'))
    .description('Copy the data folder, even while a server writes to it, and verify the copy.')
    .requiredOption('--to <folder>', 'the folder to create; existing files are never overwritten')
    .addHelpText(
      'after',
      `
The copy has every change acknowledged before the command started. It is a normal data folder.

Examples:
  flagstaff backup --to /backups/$(date +%F)
  flagstaff verify --deep --data-dir /backups/2025-06-01`,
    )
    .action(async (options: BackupCommandOptions) => {
      const bar = progressOn(context.terminal, 'bytes', context.monotonicMs);
      const startedAt = context.monotonicMs();
      const backup = await backUp({
        fs: context.fs,
        folder: dataDirectory(context, options),
        historyFiles: await context.historyFiles(),
        to: resolve(options.to),
        onCopied: (bytes) => bar.show('copying', bytes, null),
        onVerified: (bytes) => bar.show('verifying', bytes, null),
      }).finally(() => bar.end());
      printResult(context, options, backup, backupText(backup, context.monotonicMs() - startedAt));
    });
};

function backupText({ to, lastId, bytes, fromRunningServer }: Backup, durationMs: number): string {
  const source = fromRunningServer ? 'a running server' : 'a stopped server';
  return `Copied the data folder of ${source} up to event ${lastId} into ${to}: ${bytesText(bytes)} in ${secondsText(durationMs)}, verified.`;
}

// Makes a consistent copy of a data folder, even while a server writes to it: everything up to one event and nothing
// after it, verified to the last byte before it gets its name. A running server only says which event is on disk.

interface BackupOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  readonly to: string;
  /** Copied with the journal; none unless given. */
  readonly historyFiles?: readonly HistoryFiles[];
  onCopied?(bytesDone: number): void;
  onVerified?(bytesDone: number): void;
  /** For tests. */
  readonly ask?: typeof askServer;
}

type Backup = Awaited<ReturnType<typeof backUp>>;

export async function backUp(options: BackupOptions) {
  const { fs, to, historyFiles = [], ask = askServer } = options;
  const from = dataFolder(options.folder);
  const flushed = await ask(options.folder, 'flush');
  const lastId = flushed?.durableId ?? (await newestOfStopped(fs, options.folder));
  if (lastId === 0)
    throw new OperationError('missing', `There is nothing to copy: ${options.folder} holds no event.`);
  const bytes = await buildFolder(fs, to, async (target) => {
    const end = await boundaryAt({ fs, folder: from.journal }, lastId);
    const copied = await copyUpTo({
      ...{ fs, from, to: target, lastId, end, historyFiles },
      ...(options.onCopied && { onProgress: options.onCopied }),
    });
    await verifyCopy(target, lastId, options);
    return copied;
  });
  return { to, lastId, bytes, fromRunningServer: flushed !== null };
}

/** Reads every byte back: a start has to find the very event that the copy was made for. */
async function verifyCopy(
  { root: folder }: DataFolder,
  lastId: number,
  { fs, onVerified }: BackupOptions,
): Promise<void> {
  const check = await checkStart({ fs, folder, ...(onVerified && { onProgress: onVerified }) });
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
