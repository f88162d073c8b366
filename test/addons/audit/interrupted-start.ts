/** Starts that a full disk, a kill or a power cut ends at each of their writes: the next one serves, and signs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateHash } from '../../../src/actors/state/world-snapshot.ts';
import { CommitMeter } from '../../../src/http/serving/metrics.ts';
import { refuseUnfinishedImport } from '../../../src/persistence/recovery/unfinished-work.ts';
import { createLog } from '../../../src/process/log.ts';
import { type Timer, unrefTimer } from '../../../src/process/timers.ts';
import { configureAddons } from '../../../src/start/addons.ts';
import { writeFirstToken } from '../../../src/start/admin-token.ts';
import { openNode } from '../../../src/start/node.ts';
import { FOLDER } from '../../support/engine.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { type CallKind, ioError, MemoryFileSystem } from '../../support/memory-file-system.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { ROOT_FOLDER, testConfig } from '../../support/server.ts';

const WRITES: ReadonlySet<CallKind> = new Set<CallKind>([
  ...(['open', 'makeFolder', 'write', 'truncate', 'rename', 'remove'] as const),
  ...(['datasync', 'sync', 'syncFolder'] as const),
]);

interface Served {
  readonly state: string;
  readonly lastId: number;
  /** The last event that a head stands for after a stop; null where none does. */
  readonly signedId: number | null;
}

/** Leaves out the pauses between steps, and keeps the delays before a head or a retry. */
const TIMER: Timer = (delayMs, run) => unrefTimer(delayMs < 1000 ? 0 : delayMs, run);

/** A start and a stop, without what is beyond the file system. */
function serve(disk: MemoryFileSystem): Promise<Served> {
  let stop: (error: Error) => void = () => undefined;
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  // The timers of a server keep no process alive.
  const alive = setInterval(() => undefined, 1000);
  return Promise.race([stopped, serveUntil(stop, disk)]).finally(() => clearInterval(alive));
}

async function serveUntil(stop: (error: Error) => void, disk: MemoryFileSystem): Promise<Served> {
  const [config, log] = [testConfig(FOLDER, { INIT_ADMIN_API_TOKENS: '' }), createLog('silent')];
  const configured = await configureAddons({}, config, log);
  const options = {
    ...{ config, log, stop, addons: configured },
    announceToken: async (secret: string) => void (await writeFirstToken(disk, FOLDER, secret)),
    store: { logReader: inlineLogReader(disk), timer: TIMER },
  };
  await disk.makeFolder(FOLDER);
  await refuseUnfinishedImport(disk, FOLDER);
  const lock = { isHeld: async () => true, release: () => undefined };
  const { store } = await openNode(options, {
    ...{ commits: new CommitMeter(), lock, port: 0, fs: disk, onWait: () => undefined },
  });
  const { engine } = store;
  const host = {
    engine,
    fs: disk,
    folder: FOLDER,
    broadcast: null,
    sharedValue: null,
    isLeading: () => true,
  };
  const addons = await Promise.all(configured.map(async ({ open }) => open?.(host)));
  const served = { state: stateHash(engine.world), lastId: engine.lastId };
  for (const addon of addons) await addon?.close?.();
  await store.close();
  return { ...served, signedId: engine.notice?.id ?? null };
}

/** Thrown once the process is dead. */
const KILLED = new Error('killed');

interface End {
  /** Fails the write that is so many after the one at which the end begins, counted from 0, or lets it pass. */
  fail(after: number): void;
  /** The disk that the next start has. */
  found(disk: MemoryFileSystem, write: number): MemoryFileSystem;
}

export const ENDS: Readonly<Record<string, End>> = {
  'one write fails': {
    fail: (after) => {
      if (after === 0) throw ioError('ENOSPC', 'no space left on device');
    },
    found: (disk) => disk.crash(),
  },
  'the disk is full from a write on': {
    fail: () => {
      throw ioError('ENOSPC', 'no space left on device');
    },
    found: (disk) => disk.crash(),
  },
  'the process is killed behind a write': {
    fail: (after) => {
      if (after > 0) throw KILLED;
    },
    found: (disk) => disk.crash(),
  },
  'the power goes behind a write': {
    fail: (after) => {
      if (after > 0) throw KILLED;
    },
    found: (disk, write) => disk.powerCut('any', seededRandom(write)),
  },
};

/** The disk after a start that ended like this at the write of this number; null where a start makes fewer. */
async function interrupted(
  disk: MemoryFileSystem,
  end: End,
  write: number,
): Promise<MemoryFileSystem | null> {
  let writes = 0;
  disk.beforeCall = ({ kind }) => {
    if (WRITES.has(kind)) writes += 1;
    if (writes >= write && (WRITES.has(kind) || writes > write)) end.fail(writes - write);
  };
  await serve(disk).catch(() => undefined);
  return writes < write ? null : end.found(disk, write);
}

/** A folder of a release on a disk in memory. */
function diskWith(folder: string): MemoryFileSystem {
  const disk = new MemoryFileSystem();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      disk.put(path.replace(folder, FOLDER), readFileSync(path));
    }
  return disk;
}

export const FOLDERS: Readonly<Record<string, MemoryFileSystem>> = {
  'a new folder': new MemoryFileSystem(),
  'a folder of 0.2.0': diskWith(join(ROOT_FOLDER, 'test/golden/0.2.0/killed')),
};

export interface Interruption {
  /** One of `FOLDERS`. */
  readonly folder: string;
  /** One of `ENDS`. */
  readonly end: string;
  /** The write at which the start ends, counted from 1. */
  readonly write: number;
}

/** Ends a start, and asserts that the next one serves and signs. False where a start makes fewer writes. */
export async function interruptStart({ folder, end, write }: Interruption): Promise<boolean> {
  const disk = FOLDERS[folder];
  const how = ENDS[end];
  assert(disk !== undefined && how !== undefined, 'there is such a folder and such an end');
  const next = await interrupted(disk.copy(), how, write);
  if (next === null) return false;
  const served = await serve(next);
  const where = `on ${folder}, ${end}, write ${write}`;
  const { lastId, state } = await undisturbed(folder, disk);
  assert.equal(served.lastId, lastId, where);
  // The first token of a new folder is made at random.
  if (disk.namesIn(FOLDER).length > 0) assert.equal(served.state, state, where);
  assert.equal(served.signedId, served.lastId, where);
  return true;
}

const known = new Map<string, Served>();

async function undisturbed(folder: string, disk: MemoryFileSystem): Promise<Served> {
  const served = known.get(folder) ?? (await serve(disk.copy()));
  known.set(folder, served);
  return served;
}
