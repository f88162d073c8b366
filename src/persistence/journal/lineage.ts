/**
 * The name of one history of a data folder: eight hexadecimal digits in `lineage`, part of every ETag.
 *
 * Event ids alone do not tell histories apart: a server started on a backup, or on a restored folder, gives the
 * same ids to other events, and a client from before would take a changed flag for the one that it knows. So a history
 * keeps its name only as long as it stays in the very folder that it began in, which device and inode of the journal
 * tell; a copy gets a new name at its first start. A lost name costs clients one answer in full, so the file is not
 * synced. On the real disk only.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataFolder, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';

export const LINEAGE_FILE_NAME = 'lineage';

/** To be called with the lock held, when the folders exist. */
export function lineageOf(folder: string): string {
  const file = join(folder, LINEAGE_FILE_NAME);
  const stats = statSync(dataFolder(folder).journal, { bigint: true, throwIfNoEntry: false });
  // A simulated disk has no place on the real one.
  const place = stats === undefined ? 'none' : `${stats.dev}:${stats.ino}`;
  const [name, knownPlace] = readLines(file);
  if (name !== undefined && /^[0-9a-f]{8}$/.test(name) && knownPlace === place) return name;
  const fresh = randomBytes(4).toString('hex');
  writeFileSync(file + TEMPORARY_SUFFIX, `${fresh}\n${place}\n`, { mode: 0o600 });
  renameSync(file + TEMPORARY_SUFFIX, file);
  return fresh;
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
