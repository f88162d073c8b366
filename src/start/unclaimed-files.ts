/** Names in the data folder that neither the core nor an add-on has. */
import { readdir } from 'node:fs/promises';
import { SOCKET_FILE_NAME } from '../control/control-protocol.ts';
import type { Addon } from '../host/addon.ts';
import { DAMAGED_SUFFIX, TEMPORARY_SUFFIX } from '../persistence/disk/data-folder.ts';
import { LOCK_FILE_NAME } from '../persistence/disk/folder-lock.ts';
import { LOG_BEGINNING_FILE_NAME } from '../persistence/journal/log-beginning.ts';
import { LOG_HISTORY_FILE_NAME } from '../persistence/journal/log-history.ts';
import { IMPORT_MARKER_NAME } from '../persistence/recovery/unfinished-work.ts';
import { FIRST_TOKEN_FILE_NAME } from './admin-token.ts';

/** `data/` of a clone has a README, release 0.1.0 left a file `lineage` behind, and a volume has `lost+found`. */
const NAMES = [
  ...['README.md', 'lineage', 'lost+found'],
  ...['journal', 'snapshots', LOG_BEGINNING_FILE_NAME, LOG_HISTORY_FILE_NAME],
  ...[LOCK_FILE_NAME, SOCKET_FILE_NAME, FIRST_TOKEN_FILE_NAME, IMPORT_MARKER_NAME],
];

const isPassing = (name: string): boolean =>
  name.endsWith(TEMPORARY_SUFFIX) || name.endsWith(DAMAGED_SUFFIX) || name.startsWith('damaged-');

/** Files and folders. */
export async function unclaimedFiles(folder: string, addons: readonly Addon[]): Promise<readonly string[]> {
  const known = new Set([...NAMES, ...addons.flatMap(({ files = [] }) => files)]);
  return (await readdir(folder)).filter((name) => !known.has(name) && !isPassing(name));
}
