/**
 * Disk usage for the instance statistics. It is read from the folder itself, so it is right whatever happened to
 * the folder. Sealed segment files never change, so each is read once.
 */
import { join } from 'node:path';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing, type OpenFile, withFile } from '../persistence/disk/file-system.ts';
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

export class DiskUsageReader {
  readonly #source: StorageSource;
  /** By first event id, of segments that have a successor. */
  readonly #sealedBytes = new Map<number, number>();

  constructor(source: StorageSource) {
    this.#source = source;
  }

  async read(): Promise<DiskUsage> {
    const { fs, folder } = this.#source;
    const segments = await listSegments({ fs, folder: dataFolder(folder).journal });
    const snapshots = await listSnapshots(fs, dataFolder(folder).snapshots);
    const newest = snapshots.at(-1);
    return {
      journalBytes: await this.#segmentBytes(segments),
      journalSegments: segments.length,
      snapshots: snapshots.length,
      newestSnapshot: newest === undefined ? null : await this.#readSnapshot(newest.path),
    };
  }

  async #segmentBytes(firstIds: readonly number[]): Promise<number> {
    const { fs, folder } = this.#source;
    let sum = 0;
    for (const [index, firstId] of firstIds.entries()) {
      const path = join(dataFolder(folder).journal, segmentFileName(firstId));
      const bytes = this.#sealedBytes.get(firstId) ?? (await unlessGone(fs, path, (file) => file.size()));
      if (bytes === null) continue;
      if (index < firstIds.length - 1) this.#sealedBytes.set(firstId, bytes);
      sum += bytes;
    }
    return sum;
  }

  /** Null when the file is not a snapshot. What a damaged snapshot means is decided by recovery. */
  async #readSnapshot(path: string): Promise<DiskUsage['newestSnapshot']> {
    const { fs } = this.#source;
    return unlessGone(fs, path, async (file) => {
      const header = await readSnapshotHeader(fs, path);
      return header === null ? null : { id: header.id, at: header.at, bytes: await file.size() };
    });
  }
}

/** Null when the file no longer exists: retention may remove files that were just listed. */
async function unlessGone<T>(
  fs: FileSystem,
  path: string,
  use: (file: OpenFile) => Promise<T>,
): Promise<T | null> {
  try {
    return await withFile(fs, path, use);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
