/**
 * One process per data folder, by a lock of the kernel on `flagstaff.lock`.
 *
 * The lock belongs to the open file, so a crash cannot leave it behind, and nobody ever has to clean up. A lock file
 * that counts by its existence, or by the process id in it, does not have these properties. The process id in the
 * file is for operators (`kill $(cat data/flagstaff.lock)`) and for the message below, not for the decision.
 *
 * Taken before anything else in the folder is opened. On the real disk only: a simulated one has a single process.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { isOpenAt, makeFolder, named } from './file-system.ts';

export const LOCK_FILE_NAME = 'flagstaff.lock';

/** Another process has the data folder open. */
export class FolderLockedError extends Error {
  override readonly name = 'FolderLockedError';
  readonly folder: string;
  /** The other process, or null when it has not yet written its id. */
  readonly pid: number | null;

  constructor(folder: string, pid: number | null) {
    const who = pid === null ? 'Another process' : `The process ${pid}`;
    super(`${who} has the data folder ${folder} open. Stop it first, or give this server its own folder.`);
    this.folder = folder;
    this.pid = pid;
  }
}

export interface FolderLock {
  /** Whether the lock file is still the one that was locked. Behind another one, a second process may open the folder. */
  isHeld(): Promise<boolean>;
  /** Empties the file and releases the lock. */
  release(): void;
}

/** Takes the lock, making the folder when missing. Throws `FolderLockedError` at once when it is held. */
export function lockFolder(folder: string): FolderLock {
  makeFolder(folder);
  // Appending opens without truncating: until the lock is granted, the content is another process's.
  const path = join(folder, LOCK_FILE_NAME);
  const fd = fs.openSync(path, 'a+', 0o600);
  try {
    if (!tryLock(fd)) throw new FolderLockedError(folder, readPid(fd));
    fs.ftruncateSync(fd);
    fs.writeSync(fd, `${process.pid}\n`);
  } catch (error) {
    fs.closeSync(fd);
    if (error instanceof FolderLockedError) throw error;
    const fault = error as NodeJS.ErrnoException;
    // The library gives a code alone, and a fault of a file has the call that failed.
    fault.syscall ??= 'fcntl';
    throw named(fault, path);
  }
  return { isHeld: () => isOpenAt(fd, path), release: () => release(fd, path) };
}

function release(fd: number, path: string): void {
  try {
    fs.ftruncateSync(fd);
    fs.closeSync(fd);
  } catch (error) {
    throw named(error as NodeJS.ErrnoException, path);
  }
}

function readPid(fd: number): number | null {
  const bytes = Buffer.alloc(32);
  const count = fs.readSync(fd, bytes, 0, bytes.length, 0);
  const pid = Number.parseInt(bytes.toString('latin1', 0, count), 10);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}
