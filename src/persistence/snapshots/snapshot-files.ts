/** The snapshots of a folder, by their names. */
import { join } from 'node:path';
import { type FileSystem, readLeniently, unlessMissing, withFile } from '../disk/file-system.ts';
import { idInFileName, paddedId } from '../journal/segment.ts';
import {
  decodeSnapshotHeader,
  SNAPSHOT_HEADER_BYTES,
  SNAPSHOT_SUFFIX,
  type SnapshotHeader,
} from './snapshot-format.ts';

/** The path of the snapshot of the state as of that event. */
export const snapshotPath = (folder: string, id: number): string =>
  join(folder, `${paddedId(id)}${SNAPSHOT_SUFFIX}`);

export interface SnapshotFile {
  /** Id of the last event that the state contains, from the name. */
  readonly id: number;
  readonly path: string;
}

/** Oldest first; empty when there is no such folder. Leaves out names that are not those of snapshots. */
export async function listSnapshots(fs: FileSystem, folder: string): Promise<readonly SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  const names = await unlessMissing(fs.list(folder), []);
  for (const name of names) {
    const id = idInFileName(name, SNAPSHOT_SUFFIX);
    if (id !== null) files.push({ id, path: join(folder, name) });
  }
  return files.sort((a, b) => a.id - b.id);
}

/** Null when the file has no whole header. Throws when a newer version wrote it. */
export const readSnapshotHeader = (fs: FileSystem, path: string): Promise<SnapshotHeader | null> =>
  withFile(fs, path, async (file) => {
    const head = Buffer.alloc(SNAPSHOT_HEADER_BYTES);
    await readLeniently(file, head, head.length, 0);
    return decodeSnapshotHeader(head, path);
  });
