/** Loads a single snapshot file into a separate state, to work with it or only to see whether that can be done. */
import { loaderOf } from '../actors/state/state-loader.ts';
import { emptyWorld, type World } from '../domain/state/world.ts';
import { ADVICE_DAMAGED, DataFolderError } from '../persistence/disk/data-folder-error.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import type { SnapshotHeader } from '../persistence/snapshots/snapshot-format.ts';
import { readSnapshot, type SnapshotReading } from '../persistence/snapshots/snapshot-reader.ts';
import type { StateProgress } from './state-at.ts';

export interface LoadSnapshotOptions {
  readonly fs: FileSystem;
  /** The file. */
  readonly from: string;
  onProgress?(progress: StateProgress): void;
}

export interface LoadedSnapshot {
  readonly header: SnapshotHeader;
  readonly world: World;
}

/** Loads a snapshot and forgets the state again. Only this shows that a start could use it. */
export function tryState(fs: FileSystem, path: string): Promise<SnapshotReading> {
  const loader = loaderOf(emptyWorld());
  return readSnapshot({
    fs,
    path,
    onRecord: (section, record) => loader.load(section, record),
    onOutlined: loader.loadOutlined,
  });
}

/** Throws `DataFolderError` when the file is not a whole snapshot. */
export async function loadSnapshotFile(options: LoadSnapshotOptions): Promise<LoadedSnapshot> {
  const world = emptyWorld();
  const loader = loaderOf(world);
  const reading = await readSnapshot({
    fs: options.fs,
    path: options.from,
    onRecord: (section, record) => loader.load(section, record),
    onProgress: (done, total) => options.onProgress?.({ phase: 'load', done, total }),
  });
  if (reading.problem === null) return { header: reading.header, world };
  const details = { file: options.from, offset: reading.offset, advice: ADVICE_DAMAGED };
  throw new DataFolderError(`The file is not a whole snapshot: ${reading.problem}`, details);
}
