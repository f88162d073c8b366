/**
 * Detects an interrupted import. A large import takes several frames, and a crash between them would leave a part that
 * looks complete. So a marker file is in the folder from before the first frame until all frames are durable.
 */
import { join } from 'node:path';
import { DataFolderError } from '../disk/data-folder-error.ts';
import type { FileSystem } from '../disk/file-system.ts';

export const importMarker = (folder: string): string => join(folder, 'import.unfinished');

/** Throws `DataFolderError` for a folder whose import was interrupted. To be called before recovery. */
export async function refuseUnfinishedImport(fs: FileSystem, folder: string): Promise<void> {
  const file = importMarker(folder);
  if (!(await fs.exists(file))) return;
  throw new DataFolderError('An import into this data folder was cut short', {
    file,
    advice: 'Nothing in it was ever served. Delete the folder and start again with IMPORT_FILE.',
  });
}
