/** Maps an error to an exit code and a message of one line. */
import { ControlError } from '../control/control-client.ts';
import { ListenError } from '../http/transport/transport.ts';
import { OperationError, type OperationErrorKind } from '../operations/operation-error.ts';
import { DataFolderError } from '../persistence/disk/data-folder.ts';
import { FolderLockedError } from '../persistence/disk/folder-lock.ts';
import { ShortWriteError } from '../persistence/disk/write-fully.ts';
import { EXIT, type ExitCode } from '../process/exit-codes.ts';
import { ExitError } from '../process/exit-error.ts';
import { wordedFault } from '../process/file-faults.ts';
import { ConfigError } from '../process/settings.ts';

const OPERATION_EXITS: Readonly<Record<OperationErrorKind, ExitCode>> = {
  missing: EXIT.noInput,
  occupied: EXIT.cannotCreate,
  unsound: EXIT.damagedData,
};

const DISK_FAULTS = new Set(['EIO', 'ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG']);

export interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
}

/** Includes the stack only for unexpected errors. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { exitCode: EXIT.fault, message: String(error) };
  const { message } = error;
  if (error instanceof ExitError) return { exitCode: error.exitCode, message };
  if (error instanceof OperationError) return { exitCode: OPERATION_EXITS[error.kind], message };
  if (error instanceof DataFolderError) return { exitCode: EXIT.damagedData, message };
  if (error instanceof FolderLockedError) return { exitCode: EXIT.folderLocked, message };
  if (error instanceof ListenError)
    return { exitCode: error.isBusy ? EXIT.unavailable : EXIT.badConfig, message };
  if (error instanceof ConfigError) return { exitCode: EXIT.badConfig, message };
  if (error instanceof ControlError) return { exitCode: EXIT.unavailable, message };
  if (error instanceof ShortWriteError) return { exitCode: EXIT.journalFailed, message };
  return systemFailure(error) ?? { exitCode: EXIT.fault, message: error.stack ?? message };
}

/** The failure for an error of the operating system; null for any other error. */
function systemFailure(error: Error): Failure | null {
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { exitCode: EXIT.noInput, message: `${wordedFault(error)}.` };
  if (code === 'EEXIST' || code === 'EACCES' || code === 'EPERM' || code === 'EBUSY') {
    return { exitCode: EXIT.cannotCreate, message: `${wordedFault(error)}.` };
  }
  return DISK_FAULTS.has(code) ? { exitCode: EXIT.journalFailed, message: `${wordedFault(error)}.` } : null;
}
