/** Copies one file, or the beginning of it, and makes the copy durable. */
import { ADVICE_DAMAGED, DataFolderError } from '../persistence/disk/data-folder-error.ts';
import { type FileSystem, readLeniently, UNREADABLE, withFile } from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import { OperationError } from './operation-error.ts';

const PIECE_BYTES = 1024 * 1024;

export interface CopyFileOptions {
  readonly from: string;
  /** Must not exist. */
  readonly to: string;
  /** How many bytes from the beginning; null for all of them. */
  readonly bytes: number | null;
  onProgress?(bytesDone: number): void;
}

/** Returns the bytes copied. */
export function copyFile(fs: FileSystem, options: CopyFileOptions): Promise<number> {
  const { from, to, bytes, onProgress } = options;
  return withFile(fs, from, async (source) => {
    const size = bytes ?? (await source.size());
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(size, 1)));
    const target = await fs.open(to, 'create');
    try {
      for (let at = 0; at < size; ) {
        const wanted = Math.min(piece.length, size - at);
        const { count, unreadableAt } = await readLeniently(source, piece, wanted, at);
        if (unreadableAt !== null) throw unreadable(from, unreadableAt);
        if (count === 0) throw new OperationError('unsound', `${from} became shorter while it was copied.`);
        await writeFully(target, piece.subarray(0, count), at);
        at += count;
        onProgress?.(at);
      }
      await target.sync();
    } finally {
      await target.close();
    }
    return size;
  });
}

const unreadable = (file: string, offset: number): DataFolderError =>
  new DataFolderError(`A file cannot be copied: ${UNREADABLE}`, { file, offset, advice: ADVICE_DAMAGED });
