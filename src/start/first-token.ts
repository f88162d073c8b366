/**
 * Hands the first admin token to an operator who is not at a terminal. It goes to a file that only the user of the
 * server may read, and not to the log, which is kept longer than secrets should be and read by many people.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { named } from '../persistence/disk/file-system.ts';

/** A file in the data folder. Nothing reads it. */
const FILE_NAME = 'first-admin-token';

/** Writes the token durably and returns the path of the file. A file of an earlier start that failed is replaced. */
export function writeFirstToken(folder: string, secret: string): string {
  const file = join(folder, FILE_NAME);
  fs.rmSync(file, { force: true });
  const fd = fs.openSync(file, 'wx', 0o600);
  try {
    fs.writeSync(fd, `${secret}\n`);
    fs.fsyncSync(fd);
  } catch (error) {
    throw named(error as NodeJS.ErrnoException, file);
  } finally {
    fs.closeSync(fd);
  }
  return file;
}
