/** Files that hold a secret: only the user of the server may read them. */
import fs from 'node:fs';
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
  } catch (error) {
    throw named(error as NodeJS.ErrnoException, file);
  }
}
