/**
 * Makes a folder and those above it that are missing, for this user only.
 *
 * Not with the `recursive` of Node: where a folder refuses new ones with ENOENT, as `/proc` does, it tries for ever and
 * holds the thread.
 */
import fs from 'node:fs';
import { dirname } from 'node:path';

export function makeFolder(folder: string): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
