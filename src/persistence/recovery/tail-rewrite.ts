/**
 * Makes the end of the journal durable before anybody sees it, even after a failed sync. What lies behind it, a torn
 * tail or zeros that no batch has overwritten, is cut off.
 *
 * After a failed sync the kernel may have marked the pages clean without their being on disk. A process started next
 * on the same machine reads them all the same, from memory, and its own sync succeeds without writing anything: the
 * next power cut would take back what was shown. So the last batch, the only one whose sync may be missing, is
 * written once more, over itself with the same bytes, which makes its pages dirty again; then it is synced. The length
 * is set for the same reason even where the file seems to have it: a cut whose sync failed would come undone behind
 * the next segment, and pass for damage.
 */
import assert from 'node:assert/strict';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';

/** Bounds the memory that a large last batch takes. */
const PIECE_BYTES = 1024 * 1024;

export interface Tail {
  readonly path: string;
  /** Offsets in the file: what lies before `from` is known to be on disk, and `to` is to be the end. */
  readonly from: number;
  readonly to: number;
}

export async function rewriteTail(fs: FileSystem, { path, from, to }: Tail): Promise<void> {
  assert(from <= to, 'the last batch begins before it ends');
  const file = await fs.open(path, 'write');
  try {
    await file.truncate(to);
    for (let at = from; at < to; at += PIECE_BYTES) {
      await rewrite(file, at, Math.min(PIECE_BYTES, to - at));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function rewrite(file: OpenFile, at: number, length: number): Promise<void> {
  const bytes = Buffer.allocUnsafe(length);
  const count = await file.read(bytes, 0, length, at);
  assert(count === length, 'what was verified is still there');
  await writeFully(file, bytes, at);
}
