/**
 * Loaded before a server under test. While a file `<DATA_DIR>.hangs` exists, no write and no sync of it returns, as on a disk that
 * does not answer; while `<DATA_DIR>.full` exists, its disk has no free space.
 */

/**
 * Loaded before a server under test. While a file `<DATA_DIR>.hangs` exists, no write and no sync of it returns, as on a disk that
 * does not answer; while `<DATA_DIR>.full` exists, its disk has no free space.
 */
import fs, { existsSync } from 'node:fs';
import { LOADER } from '../../../support/source.ts';

/** For NODE_OPTIONS. */
export const FAULTY_DISK = [...LOADER, '--import', import.meta.url].join(' ');

const LOOK_MS = 20;

/** The rest of a call, which waits while the disk hangs. */
const held: (() => void)[] = [];

function holdBack<A extends unknown[]>(folder: string, call: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    if (existsSync(`${folder}.hangs`)) held.push(() => call(...args));
    else call(...args);
  };
}

function begin(folder: string): void {
  const { write, fdatasync, fsync } = fs;
  const { statfs } = fs.promises;
  Object.assign(fs, {
    write: holdBack(folder, write as (...args: unknown[]) => void),
    fdatasync: holdBack(folder, fdatasync),
    fsync: holdBack(folder, fsync as typeof fdatasync),
  });
  Object.assign(fs.promises, {
    statfs: async (path: string) => {
      const stats = await statfs(path);
      return existsSync(`${folder}.full`) ? { ...stats, bavail: 0 } : stats;
    },
  });
  setInterval(() => {
    if (held.length > 0 && !existsSync(`${folder}.hangs`)) for (const go of held.splice(0)) go();
  }, LOOK_MS).unref();
}

const { DATA_DIR } = process.env;
if (DATA_DIR !== undefined && process.env['NODE_OPTIONS']?.includes(import.meta.url) === true)
  begin(DATA_DIR);
