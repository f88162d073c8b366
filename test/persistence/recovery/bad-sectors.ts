/** A disk on which some sectors can no longer be read: reads that touch them fail as node:fs reports it. */
import type { FileSystem, OpenFile } from '../../../src/persistence/disk/file-system.ts';
import { ioError } from '../../support/memory-file-system.ts';

export interface BadSector {
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
}

/** The file cannot even be opened when `bytes` is infinite. */
export function withBadSectors(disk: FileSystem, bad: readonly BadSector[]): FileSystem {
  return {
    open: async (path, mode) => {
      const own = bad.filter((sector) => sector.path === path);
      if (own.some(({ bytes }) => bytes === Number.POSITIVE_INFINITY)) throw ioError('EIO', `open ${path}`);
      const file = await disk.open(path, mode);
      return own.length === 0 ? file : failingReads(file, own);
    },
    exists: (path) => disk.exists(path),
    list: (folder) => disk.list(folder),
    makeFolder: (folder) => disk.makeFolder(folder),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncFolder: (folder) => disk.syncFolder(folder),
    freeBytes: (folder) => disk.freeBytes(folder),
  };
}

function failingReads(file: OpenFile, bad: readonly BadSector[]): OpenFile {
  return {
    read: async (target, targetOffset, length, position) => {
      const hit = bad.find(({ offset, bytes }) => offset < position + length && position < offset + bytes);
      if (hit !== undefined) throw ioError('EIO', 'read');
      return file.read(target, targetOffset, length, position);
    },
    write: (...args) => file.write(...args),
    writeDurably: (...args) => file.writeDurably(...args),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    truncate: (size) => file.truncate(size),
    size: () => file.size(),
    isAt: (path) => file.isAt(path),
    close: () => file.close(),
  };
}
