/** Files that hold a secret: only the user of the server may read them. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { named } from '../persistence/disk/file-system.ts';

/** Durable when it returns. A file that is there is replaced. */
export function writeSecretFile(file: string, secret: string): void {
  fs.rmSync(file, { force: true });
  const fd = fs.openSync(file, 'wx', 0o600);
  try {
    try {
      fs.writeSync(fd, secret);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    syncFolderOf(file);
  } catch (error) {
    throw named(error as NodeJS.ErrnoException, file);
  }
}

/** Durable when it returns. A file that is there is replaced. */
export function renameSecretFile(from: string, to: string): void {
  fs.renameSync(from, to);
  syncFolderOf(to);
}

/** A name is lost by a power cut until its folder is synced. */
function syncFolderOf(file: string): void {
  const fd = fs.openSync(dirname(file), 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
