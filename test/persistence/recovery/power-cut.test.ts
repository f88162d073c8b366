/**
 * The power fails, or the process is killed, at every call to the disk: while writing, while taking a snapshot, while
 * recovering from the time before. Whatever was acknowledged, or read after a restart, must be there ever after.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Survival } from '../../support/memory-file.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts';
import {
  liveOnce,
  noPromises,
  type Promises,
  recoverAndCheck,
  SMALL_WORKLOAD,
} from '../../support/storage-workload.ts';

const SEED = Number(process.env.SEED ?? 31_337);

/** A disk whose power is cut, or whose process is killed, when its n-th call arrives. */
function endAtCall(
  fs: MemoryFileSystem,
  n: number,
  end: () => MemoryFileSystem,
): { after: () => MemoryFileSystem | null } {
  let after: MemoryFileSystem | null = null;
  const first = fs.calls;
  fs.beforeCall = ({ number }) => {
    if (number - first === n) after = end();
  };
  return { after: () => after };
}

/** Runs one life until it ends by itself or by `end`; returns the disk that is left, and whether it was cut short. */
async function liveUntilCall(
  fs: MemoryFileSystem,
  promises: Promises,
  n: number,
  end: () => MemoryFileSystem,
): Promise<{ disk: MemoryFileSystem; cut: boolean }> {
  const ending = endAtCall(fs, n, end);
  await liveOnce(fs, promises).catch((error: Error) => assert.match(error.message, /the power is off/));
  const after = ending.after();
  fs.beforeCall = null;
  return after === null ? { disk: fs, cut: false } : { disk: after, cut: true };
}

async function disksUsed(): Promise<number> {
  const fs = new MemoryFileSystem();
  await liveOnce(fs, noPromises());
  await liveOnce(fs, { acknowledged: 0, submitted: 100 });
  return fs.calls;
}

test('the workload that is cut short below rolls segments, takes snapshots and survives when left alone', async () => {
  const fs = new MemoryFileSystem();
  const promises = noPromises();
  await liveOnce(fs, promises);
  await liveOnce(fs, promises);
  const events = 2 * SMALL_WORKLOAD.batches * SMALL_WORKLOAD.batchFrames;
  assert.equal(await recoverAndCheck(fs, promises, 'whole'), events);
  assert.equal(promises.acknowledged, events);
  assert(fs.namesIn('/data/journal').length > 3);
  assert.equal(fs.namesIn('/data/snapshots').length, 2);
});

for (const survival of ['kept', 'lost', 'torn', 'reordered', 'any'] satisfies Survival[]) {
  test(`the power cut at any call, unsynced writes ${survival}, loses nothing acknowledged (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    for (let n = 1; ; n += 1) {
      const fs = new MemoryFileSystem();
      const promises = noPromises();
      const { disk, cut } = await liveUntilCall(fs, promises, n, () => fs.powerCut(survival, random));
      if (!cut) break;
      const what = `seed ${SEED}, ${survival}, call ${n}`;
      const last = await recoverAndCheck(disk, promises, what);
      promises.acknowledged = last;
      await liveOnce(disk, promises);
      await recoverAndCheck(disk, promises, `${what}, and lived on`);
    }
  });
}

test(`the process killed at any call loses nothing, nor does a power cut right after the restart (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  for (let n = 1; ; n += 1) {
    const fs = new MemoryFileSystem();
    const promises = noPromises();
    const { disk, cut } = await liveUntilCall(fs, promises, n, () => fs.crash());
    if (!cut) break;
    const what = `seed ${SEED}, call ${n}`;
    // The restart reads a tail that the killed process never synced, and shows it: from now on it must stay.
    promises.acknowledged = await recoverAndCheck(disk, promises, what);
    const later = disk.powerCut('lost', random);
    await recoverAndCheck(later, promises, `${what}, then the power was cut`);
  }
});

test(`the process killed at any call lives on a little, and a power cut then loses nothing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  for (let n = 1; ; n += 1) {
    const fs = new MemoryFileSystem();
    const promises = noPromises();
    await liveOnce(fs, promises);
    const { disk, cut } = await liveUntilCall(fs, promises, n, () => fs.crash());
    if (!cut) break;
    // So little that no name is synced by the way: that of a segment which the killed process had just begun is due.
    await liveOnce(disk, promises, { batches: 1, batchFrames: 1, segmentBytes: 100_000 });
    const later = disk.powerCut('lost', random);
    await recoverAndCheck(later, promises, `seed ${SEED}, call ${n}`);
  }
});

test(`life after life cut short, also while recovering, never loses what was seen (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const calls = await disksUsed();
  for (let run = 0; run < 60; run += 1) await manyLives(random, calls, `seed ${SEED}, run ${run}`);
});

async function manyLives(random: SeededRandom, calls: number, what: string): Promise<void> {
  let disk = new MemoryFileSystem();
  const promises = noPromises();
  for (let life = 0; life < 12; life += 1) {
    // Half of the lives end during recovery or soon after it.
    const n = 1 + random.below(random.chance(0.5) ? 25 : calls);
    const fs = disk;
    const end = (): MemoryFileSystem => (random.chance(0.3) ? fs.crash() : fs.powerCut('any', random));
    disk = (await liveUntilCall(fs, promises, n, end)).disk;
  }
  await recoverAndCheck(disk, promises, what);
}

test('a disk that forgets what it has synced is found out, so the tests above can fail', async () => {
  const random = seededRandom(SEED);
  let lost = 0;
  for (let n = 20; n < 60; n += 1) {
    const fs = new ForgetfulDisk();
    const promises = noPromises();
    const { disk } = await liveUntilCall(fs, promises, n, () => fs.powerCut('lost', random));
    await recoverAndCheck(disk, promises, 'forgetful').catch(() => {
      lost += 1;
    });
  }
  assert(lost > 10, `${lost} losses were noticed`);
});

/** Says that it has synced, and has not. */
class ForgetfulDisk extends MemoryFileSystem {
  override async open(
    ...parameters: Parameters<MemoryFileSystem['open']>
  ): ReturnType<MemoryFileSystem['open']> {
    const file = await super.open(...parameters);
    file.datasync = () => Promise.resolve();
    return file;
  }
}
