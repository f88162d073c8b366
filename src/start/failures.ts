/**
 * How a process ends that cannot go on: one line for what an operator can mend, and an exit code by which a supervisor can tell what is
 * worth a restart (src/process/exit-codes.ts).
 */
import { ListenError } from '../http/transport/transport.ts';
import { DamagedHistoryError, DataFolderError } from '../persistence/disk/data-folder.ts';
import { FolderLockedError } from '../persistence/disk/folder-lock.ts';
import { ShortWriteError } from '../persistence/disk/write-fully.ts';
import { FencedError, LogLostError } from '../persistence/journal/commit-log.ts';
import { JournalFailure } from '../persistence/journal/journal-failure.ts';
import { EXIT, type ExitCode } from '../process/exit-codes.ts';
import { ExitError } from '../process/exit-error.ts';
import { isFileFault, wordedFault } from '../process/file-faults.ts';
import { ConfigError } from '../process/settings.ts';

/** Prints one clear line for what an operator can fix, and the stack only for what they cannot. */
export function fail(error: unknown): never {
  if (error instanceof ConfigError) exitWith(EXIT.badConfig, error.message);
  if (error instanceof ListenError) exitWith(error.isBusy ? EXIT.unavailable : EXIT.badConfig, error.message);
  if (error instanceof FolderLockedError) exitWith(EXIT.folderLocked, error.message);
  if (error instanceof ExitError) exitWith(error.exitCode, error.message);
  if (error instanceof FencedError) exitWith(EXIT.deposed, error.message);
  if (error instanceof LogLostError) exitWith(EXIT.damagedData, error.message);
  if (error instanceof DataFolderError) exitWith(EXIT.damagedData, error.message);
  if (error instanceof ShortWriteError) exitWith(EXIT.journalFailed, `${error.message}. Look at DATA_DIR.`);
  if (isFileFault(error))
    exitWith(EXIT.journalFailed, `${wordedFault(error)}. Look at DATA_DIR, its permissions and its disk.`);
  exitWith(EXIT.fault, error instanceof Error ? (error.stack ?? error.message) : String(error));
}

export function exitWith(code: number, message: string): never {
  process.stderr.write(`flagstaff: ${message}\n`);
  process.exit(code);
}

/** The exit code for an error that stops a running server. */
export function exitCodeOf(error: Error): ExitCode {
  const causes = [error, error.cause];
  if (causes.some((cause) => cause instanceof FencedError)) return EXIT.deposed;
  if (causes.some((cause) => cause instanceof LogLostError)) return EXIT.damagedData;
  if (error instanceof DamagedHistoryError) return EXIT.damagedData;
  return error instanceof JournalFailure ? EXIT.journalFailed : EXIT.fault;
}
