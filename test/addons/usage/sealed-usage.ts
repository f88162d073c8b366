/** Changes to rows of usage files, decoded, changed, and sealed again. What is taken can be shown and saved again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { RowFiles } from '../../../src/addons/usage/row-files.ts';
import { Usage } from '../../../src/addons/usage/usage.ts';
import { emptyWorld } from '../../../src/domain/state/world.ts';
import { changedBytes } from '../../faults/sealed-changes.ts';
import { FOLDER } from '../../support/engine.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';

const USAGE = join(FOLDER, 'usage');

const USAGE_HEAD_BYTES = 16;

function changeUsage(bytes: Buffer, random: SeededRandom): Buffer {
  const length = bytes.readUInt32LE(8);
  const payload = changedBytes(bytes.subarray(USAGE_HEAD_BYTES, USAGE_HEAD_BYTES + length), random);
  const head = Buffer.from(bytes.subarray(0, USAGE_HEAD_BYTES));
  head.writeUInt32LE(payload.length, 8);
  head.writeUInt32LE(crc32(payload), 12);
  return Buffer.concat([head, payload, bytes.subarray(USAGE_HEAD_BYTES + length)]);
}

const NOW = Date.UTC(2026, 0, 10, 12);

function usageOn(disk: MemoryFileSystem, onFault: (error: unknown) => void): Usage {
  return new Usage({
    state: { world: emptyWorld() },
    feed: { subscribe: () => () => undefined },
    folder: new RowFiles({ fs: disk, folder: USAGE, suffix: '.usage', onDamaged: () => undefined }),
    now: () => NOW,
    hasRoom: () => true,
    onFault,
    timer: () => undefined,
  });
}

/** Reports of two applications, as they are saved. */
async function usageFiles(): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  const usage = usageOn(disk, fail);
  await usage.open();
  for (const appName of ['shop', 'site']) {
    const who = { appName, environment: 'production', side: 'backend' } as const;
    const application = { ...who, instanceId: 'i', sdkVersion: 'sdk:1', strategies: ['default'] };
    usage.application({ ...application, projects: ['*'], address: '' });
    const counts = [{ flag: appName, yes: 3, no: 1, variants: [['v', 3] as const] }];
    usage.report({ ...who, startMs: NOW, counts }, { projects: '*' });
  }
  await usage.close();
  return disk;
}

const fail = (error: unknown): never => {
  throw error;
};

/** Whether the rows are taken, and not refused; all of them can be shown and saved again in any case. */
async function takesUsage(disk: MemoryFileSystem): Promise<boolean> {
  const usage = usageOn(disk, fail);
  await usage.open();
  for (const { appName } of usage.applications('backend').values())
    usage.applications('backend').get(appName);
  for (const flag of ['shop', 'site'])
    for (const kind of ['hour', 'day'] as const)
      assert([...usage.counts('backend').countsOf(flag, kind, 0)].length < 100);
  await usage.save();
  await usage.close();
  return !disk.namesIn(USAGE).some((name) => name.includes('damaged'));
}

async function isTakenChanged(disk: MemoryFileSystem, random: SeededRandom): Promise<boolean> {
  const names = disk.namesIn(USAGE);
  const path = join(USAGE, names[random.below(names.length)]!);
  disk.put(path, changeUsage(disk.bytesOf(path), random));
  return takesUsage(disk);
}

interface Changes {
  readonly first: number;
  readonly count: number;
}

export async function changeSealedUsage({
  first,
  count,
}: Changes): Promise<Record<'rowsTaken' | 'rowsRefused', number>> {
  const counts = { rowsTaken: 0, rowsRefused: 0 };
  const usage = await usageFiles();
  for (let seed = first; seed < first + count; seed += 1)
    counts[(await isTakenChanged(usage.copy(), seededRandom(seed))) ? 'rowsTaken' : 'rowsRefused'] += 1;
  return counts;
}
