/**
 * The store of a cluster for what its log forgets: files by name, which every node can fetch.
 *
 * Guarantees of an adapter, which the contract suite (test/addons/replication/archive-contract.ts) checks:
 * - A file that `list` names is whole: one that was being put when the process died is not there.
 * - `get` gives back the bytes that were put, or rejects; the digest of a file is checked on the way.
 * - To put a name again replaces the file, and to delete one that is not there does nothing.
 * - `list` may miss what was put or deleted a moment ago on another link.
 */

/** Files are put and fetched in one piece, so both ends hold one in memory. A file may be larger by one frame. */
export const ARCHIVE_FILE_BYTES = 16 * 1024 * 1024;

export interface ArchivedFile {
  readonly name: string;
  readonly bytes: number;
}

export interface FileArchive {
  put(name: string, bytes: Uint8Array): Promise<void>;
  list(): Promise<readonly ArchivedFile[]>;
  /** Null where there is no such file. Rejects when what was stored is damaged. */
  get(name: string): Promise<Buffer | null>;
  delete(name: string): Promise<void>;
}

/** An archive from which only is read. */
export type ReadArchive = Pick<FileArchive, 'list' | 'get'>;

/** Opens something when it is used first, and again after that failed. */
export function lazily<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

/** An archive that may be away: a server runs without one. */
export function lazyArchive(open: () => Promise<FileArchive>): FileArchive {
  const archive = lazily(open);
  return {
    put: async (name, bytes) => (await archive()).put(name, bytes),
    list: async () => (await archive()).list(),
    get: async (name) => (await archive()).get(name),
    delete: async (name) => (await archive()).delete(name),
  };
}
