/**
 * A real file system that runs full under a real process: a tmpfs of 64 KiB and more. The reserve of free space is
 * far larger than the disk, so from the start writes are refused and reads go on; below it, with the reserve taken
 * out of the way, the process meets the short write itself.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, type Store } from '../../src/actors/store.ts';
import { seedEvents } from '../../src/domain/state/seed-events.ts';
import { realFileSystem } from '../../src/persistence/disk/file-system.ts';
import { createFlag, TESTER } from '../support/engine.ts';
import { inlineLogReader } from '../support/inline-log-reader.ts';
import { temporaryFolder } from '../support/server.ts';

const KIB = 1024;
export const SIZES_KIB = [64, 128, 256, 512, 1024] as const;

export interface FullDiskResult {
  readonly disks: number;
  readonly acknowledged: number;
  readonly withoutResponse: number;
}

/** Mounts a tmpfs and hands it to `use`; null where this process may not mount. */
export async function onSmallDisk<T>(
  sizeKib: number,
  use: (folder: string) => Promise<T>,
): Promise<T | null> {
  const folder = temporaryFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k`, 'flagstaff-test', folder]);
  try {
    return mounted.status === 0 ? await use(folder) : null;
  } finally {
    if (mounted.status === 0) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

export function isMountable(): boolean {
  const folder = temporaryFolder();
  const mounted =
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'flagstaff-test', folder]).status === 0;
  if (mounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
  return mounted;
}

/** Fills disks of these sizes; null where none can be mounted. */
export async function fillDisks(sizesKib: readonly number[]): Promise<FullDiskResult | null> {
  let acknowledged = 0;
  let withoutResponse = 0;
  for (const sizeKib of sizesKib) {
    const filled = await onSmallDisk(sizeKib, (folder) => fillOne(folder, sizeKib));
    if (filled === null) return null;
    acknowledged += filled.acknowledged;
    withoutResponse += filled.withoutResponse;
  }
  return { disks: sizesKib.length, acknowledged, withoutResponse };
}

async function fillOne(
  mount: string,
  sizeKib: number,
): Promise<{ acknowledged: number; withoutResponse: number }> {
  const folder = join(mount, 'data');
  mkdirSync(folder);
  const stops: Error[] = [];
  const store = await openOn(folder, stops);
  await store.engine.record(TESTER, seedEvents('2024-01-01T00:00:00.000Z'));
  const acknowledged: string[] = [];
  let sent = 0;
  // Every frame takes over 200 bytes: far more of them than fit.
  while (stops.length === 0) {
    assert(sent < sizeKib * 8, 'the disk has run full by now');
    const name = `flag-${sent}`;
    sent += 1;
    await new Promise<void>((resolve) => {
      store.engine.submit({
        command: createFlag(name),
        actor: TESTER,
        respond: () => undefined,
        done: ({ kind }) => {
          if (kind === 'response') acknowledged.push(name);
          resolve();
        },
      });
      whenStopped(stops, resolve);
    });
  }
  assert.match(String(stops[0]), /only \d+ of \d+ bytes were written|ENOSPC/);
  assert.equal(stops.length, 1, 'it stops once');
  const [first = ''] = acknowledged;
  assert(store.engine.world.flagProjects.has(first), 'reads go on to the end');
  await checkAfterRestart(mount, folder, sizeKib, acknowledged);
  return { acknowledged: acknowledged.length, withoutResponse: sent - acknowledged.length };
}

function whenStopped(stops: readonly Error[], resolve: () => void): void {
  const look = (): void => {
    if (stops.length > 0) resolve();
    else setImmediate(look).unref();
  };
  look();
}

/** With room again everything acknowledged is there, and writes are taken. */
async function checkAfterRestart(
  mount: string,
  folder: string,
  sizeKib: number,
  acknowledged: readonly string[],
): Promise<void> {
  const grown = spawnSync('mount', ['-o', `remount,size=${sizeKib * 4}k`, mount]);
  assert.equal(grown.status, 0, grown.stderr.toString());
  const stops: Error[] = [];
  const store = await openOn(folder, stops);
  for (const name of acknowledged) assert(store.engine.world.flagProjects.has(name), name);
  const { kind } = await store.engine.execute({
    command: createFlag('after-all'),
    actor: TESTER,
    respond: () => undefined,
  });
  assert.equal(kind, 'response', 'writes resume');
  await store.close();
  assert.deepEqual(stops, []);
}

function openOn(folder: string, stops: Error[]): Promise<Store> {
  return openStore({
    fs: realFileSystem,
    folder,
    clock: { now: Date.now, monotonic: () => performance.now(), defer: setImmediate },
    newId: () => '00000000-0000-4000-8000-000000000000',
    newName: () => '00000000',
    logReader: inlineLogReader(realFileSystem),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    stop: (error) => stops.push(error),
    segmentBytes: 32 * KIB,
    reserveBytes: 0,
  });
}
