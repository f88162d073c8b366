/**
 * Writing everything or failing, the one rule about writes.
 */
import type { OpenFile } from './file-system.ts';

/** A write that took fewer bytes than it was given. On a full disk this comes before any error does. */
export class ShortWriteError extends Error {
  override readonly name = 'ShortWriteError';

  constructor(written: number, wanted: number) {
    super(`only ${written} of ${wanted} bytes were written; the disk is probably full`);
  }
}

/**
 * Writes all bytes or throws. The rest of a short write is not tried again: the call that would report why it was
 * short may succeed when space has come back meanwhile, and then a disk at its limit would go unnoticed.
 */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  assertWhole(await file.write(bytes, 0, bytes.length, position), bytes.length);
}

/** The same; on disk when it returns. */
export async function writeFullyDurably(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  assertWhole(await file.writeDurably(bytes, 0, bytes.length, position), bytes.length);
}

function assertWhole(written: number, wanted: number): void {
  if (written !== wanted) throw new ShortWriteError(written, wanted);
}
