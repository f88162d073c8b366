/**
 * The layout of a data folder: `journal/` and `snapshots/` below it, and the names in them.
 *
 *   data/flagstaff.lock                        held by the process that has the folder open (folder-lock.ts)
 *   data/flagstaff.sock                        how commands reach that process (src/control/control-protocol.ts)
 *   data/log.beginning                         with which event the journal begins (log-beginning.ts)
 *   data/journal/<first event id>.journal      the events themselves, never rewritten (segment.ts)
 *   data/journal/<first event id>.index        derived from the segment, may be deleted at any time
 *   data/journal/durable.mark                  how far the journal was on disk for certain (durable-mark.ts)
 *   data/snapshots/<last event id>.snapshot    the whole state as of that event (snapshot-format.ts)
 *   data/usage/<what>.usage                    what applications reported, may be deleted (src/actors/usage.ts)
 *   data/repaired.tmp, data/damaged-<time>     what a repair makes, and what it found (unfinished-repair.ts)
 *
 * Names that end in `.tmp` are unfinished and removed at the next start; those that end in `.damaged` were set aside
 * and are never touched again. Other names are reported and left alone.
 */
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';

export const TEMPORARY_SUFFIX = '.tmp';
export const DAMAGED_SUFFIX = '.damaged';

export interface DataFolder {
  readonly root: string;
  readonly journal: string;
  readonly snapshots: string;
  /** The file of what applications reported; made when the first of it is written. */
  readonly usage: string;
}

export function dataFolder(root: string): DataFolder {
  return {
    root,
    journal: join(root, 'journal'),
    snapshots: join(root, 'snapshots'),
    usage: join(root, 'usage'),
  };
}

/** Creates the folders and syncs their names. A power cut would otherwise take back a folder with a segment in it. */
export async function createDataFolder(fs: FileSystem, folder: DataFolder): Promise<void> {
  if ((await fs.exists(folder.journal)) && (await fs.exists(folder.snapshots))) return;
  await fs.makeFolder(folder.journal);
  await fs.makeFolder(folder.snapshots);
  await fs.syncFolder(folder.root);
  await fs.syncFolder(dirname(folder.root));
}
