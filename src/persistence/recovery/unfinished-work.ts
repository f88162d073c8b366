/**
 * Detects an interrupted import. A large import takes several frames, and a crash between them would leave a part that
 * looks complete. So a marker file is in the folder from before the first frame until all frames are durable.
 */
import { join } from 'node:path';
import { DataFolderError } from '../disk/data-folder.ts';
import type { FileSystem } from '../disk/file-system.ts';

export const IMPORT_MARKER_NAME = 'import.unfinished';

export const importMarker = (folder: string): string => join(folder, IMPORT_MARKER_NAME);

/** Throws `DataFolderError` for a folder whose import was interrupted. To be called before recovery. */
export async function refuseUnfinishedImport(fs: FileSystem, folder: string): Promise<void> {
  const file = importMarker(folder);
  if (!(await fs.exists(file))) return;
  throw new DataFolderError('An import into this data folder was cut short', {
    file,
    advice: 'Nothing in it was ever served. Delete the folder and start again with IMPORT_FILE.',
  });
}

// Detects an interrupted repair by `repaired.tmp` in the data folder, which is complete when it holds `ready`. While
// it exists, the journal may be in either of two places, and a start could mistake the folder for an empty one.

export const repairFolder = (folder: string): string => join(folder, 'repaired.tmp');
export const readyFile = (folder: string): string => join(repairFolder(folder), 'ready');

/** To be called before anything else is read. A repair that was not ready has changed nothing and does not matter. */
export async function refuseUnfinishedRepair(fs: FileSystem, folder: string): Promise<void> {
  const file = readyFile(folder);
  if (!(await fs.exists(file))) return;
  const advice = 'Run "flagstaff repair" again; it continues where it was interrupted.';
  throw new DataFolderError('A repair of the data folder was interrupted', { file, advice });
}
