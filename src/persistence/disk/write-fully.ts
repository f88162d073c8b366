/**
 * Writing everything or failing, the one rule about writes.
 */
import { dirname } from 'node:path';
import { TEMPORARY_SUFFIX } from './data-folder.ts';
import type { FileSystem, OpenFile } from './file-system.ts';

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

/** Writes all bytes, which are on disk when it returns. */
export async function writeFullyDurably(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  assertWhole(await file.writeDurably(bytes, 0, bytes.length, position), bytes.length);
}

function assertWhole(written: number, wanted: number): void {
  if (written !== wanted) throw new ShortWriteError(written, wanted);
}

// Replaces a small file as a whole. A reader finds the old content or the new one, never a half-written file.

/** `durable`: the new content outlasts a power cut once this resolves, and until then the old one does. `content` may come in pieces, one of which is in memory at a time. */
export async function replaceFile(
  fs: FileSystem,
  path: string,
  content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  const file = await fs.open(temporary, 'create');
  try {
    let end = 0;
    for await (const piece of content instanceof Uint8Array ? [content] : content) {
      await writeFully(file, piece, end);
      end += piece.length;
    }
    if (durable) await file.sync();
  } catch (error) {
    await fs.remove(temporary).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  await fs.rename(temporary, path);
  if (durable) await fs.syncFolder(dirname(path));
}
