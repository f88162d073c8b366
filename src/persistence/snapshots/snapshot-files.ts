/** The snapshots of a folder, by their names. */
import { join } from 'node:path';
import type { FileSystem } from '../disk/file-system.ts';
import { idInFileName } from '../journal/segment.ts';
import { SNAPSHOT_SUFFIX } from './snapshot-format.ts';

export interface SnapshotFile {
  /** Id of the last event that the state contains, from the name. */
  readonly id: number;
  readonly path: string;
}

/** Oldest first. Leaves out names that are not those of snapshots. */
export async function listSnapshots(fs: FileSystem, folder: string): Promise<readonly SnapshotFile[]> {
  const files: SnapshotFile[] = [];
  for (const name of await fs.list(folder)) {
    const id = idInFileName(name, SNAPSHOT_SUFFIX);
    if (id !== null) files.push({ id, path: join(folder, name) });
  }
  return files.sort((a, b) => a.id - b.id);
}
