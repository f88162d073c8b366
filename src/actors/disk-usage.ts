/**
 * Disk usage for the instance statistics. It is read from the folder itself, so it is right whatever happened to
 * the folder.
 */
import { join } from 'node:path';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, unlessMissing, withFile } from '../persistence/disk/file-system.ts';
import { segmentFileName } from '../persistence/journal/segment.ts';
import { listSegments } from '../persistence/journal/segment-file.ts';
import { listSnapshots, readSnapshotHeader } from '../persistence/snapshots/snapshot-files.ts';

export interface DiskUsage {
  readonly journalBytes: number;
  readonly journalSegments: number;
  readonly snapshots: number;
  /** Null without one. */
  readonly newestSnapshot: {
    /** Id of the last event that it contains. */
    readonly id: number;
    /** Time of that event, milliseconds since 1970. */
    readonly at: number;
    readonly bytes: number;
  } | null;
}

export interface StorageSource {
  readonly fs: FileSystem;
  /** The data folder. */
  readonly folder: string;
}

export async function readDiskUsage({ fs, folder }: StorageSource): Promise<DiskUsage> {
  const { journal, snapshots: snapshotFolder } = dataFolder(folder);
  const segments = await listSegments({ fs, folder: journal });
  const snapshots = await listSnapshots(fs, snapshotFolder);
  const newest = snapshots.at(-1);
  let journalBytes = 0;
  for (const firstId of segments) {
    const path = join(journal, segmentFileName(firstId));
    journalBytes += await unlessMissing(
      withFile(fs, path, (file) => file.size()),
      0,
    );
  }
  return {
    journalBytes,
    journalSegments: segments.length,
    snapshots: snapshots.length,
    newestSnapshot: newest === undefined ? null : await readSnapshot(fs, newest.path),
  };
}

/** Null when the file is not a snapshot, or was deleted by retention. What a damaged snapshot means is decided by recovery. */
function readSnapshot(fs: FileSystem, path: string): Promise<DiskUsage['newestSnapshot']> {
  const reading = withFile(fs, path, async (file) => {
    const header = await readSnapshotHeader(fs, path);
    return header === null ? null : { id: header.id, at: header.at, bytes: await file.size() };
  });
  return unlessMissing(reading, null);
}
