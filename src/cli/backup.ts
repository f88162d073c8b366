/** `flagstaff backup`: make a consistent, verified copy of a data folder. */
import { resolve } from 'node:path';
import { type Backup, backUp } from '../operations/backup.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from './command.ts';
import { bytesText, secondsText } from './format.ts';
import { progressOn } from './progress.ts';

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
The copy holds every change that had been acknowledged when the command began. It is a data folder like any other.

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
