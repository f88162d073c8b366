/** The snapshots of a folder, by their names. */
import { join } from 'node:path';
import { type FileSystem, isMissing } from '../disk/file-system.ts';
import { idInFileName } from '../journal/segment.ts';
import { SNAPSHOT_SUFFIX } from './snapshot-format.ts';

export interface SnapshotFile {
  /** Id of the last event that the state contains, from the name. */
  readonly id: number;
  readonly path: string;
}

/** Oldest first; empty when there is no such folder. Leaves out names that are not those of snapshots. */
export async function listSnapshots(fs: FileSystem, folder: string): Promise<readonly SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  const names = await fs.list(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const name of names) {
    const id = idInFileName(name, SNAPSHOT_SUFFIX);
    if (id !== null) files.push({ id, path: join(folder, name) });
  }
  return files.sort((a, b) => a.id - b.id);
}
