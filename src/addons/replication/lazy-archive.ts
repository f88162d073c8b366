/** An archive that is opened when it is used first, and again after that failed: a server runs without one. */
import type { FileArchive } from './file-archive.ts';

export function lazyArchive(open: () => Promise<FileArchive>): FileArchive {
  let opened: Promise<FileArchive> | null = null;
  const archive = (): Promise<FileArchive> => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    put: async (name, bytes) => (await archive()).put(name, bytes),
    list: async () => (await archive()).list(),
    get: async (name) => (await archive()).get(name),
    delete: async (name) => (await archive()).delete(name),
  };
}
