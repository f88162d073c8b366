/** Which errors a simulation has brought about itself: any other is a fault of the engine. */
import { ShortWriteError } from '../../src/persistence/disk/write-fully.ts';

const CODES = new Set(['EIO', 'ENOSPC']);

export function isInjected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ShortWriteError) return true;
  if ('code' in error && CODES.has(String(error.code))) return true;
  return error.cause !== undefined && isInjected(error.cause);
}
