/** The time that the disk alone takes: one append of so many bytes and its fdatasync, again and again in one file. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './statistics.ts';

/** Enough for a median; half a second on a slow disk. */
const SYNCS = 250;

export function medianSyncMs(folder: string, bytes: number): number {
  const path = join(folder, 'disk-probe');
  const file = openSync(path, 'a');
  const record = Buffer.alloc(bytes, 'x');
  const took = Array.from({ length: SYNCS }, () => {
    const startedAt = performance.now();
    writeSync(file, record);
    fdatasyncSync(file);
    return performance.now() - startedAt;
  });
  closeSync(file);
  rmSync(path);
  return median(took);
}
