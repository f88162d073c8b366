/** Tells the errors that a simulation has brought about itself: any other is a fault of the engine. */
import { DataFolderError } from '../../src/persistence/disk/data-folder.ts';
import { UNREADABLE } from '../../src/persistence/disk/file-system.ts';
import { ShortWriteError } from '../../src/persistence/disk/write-fully.ts';

const CODES = new Set(['EIO', 'ENOSPC']);

export function isInjected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ShortWriteError) return true;
  if ('code' in error && CODES.has(String(error.code))) return true;
  if (error instanceof DataFolderError && error.problem.includes(UNREADABLE)) return true;
  if (error.message === 'the power is off') return true;
  return error.cause !== undefined && isInjected(error.cause);
}
