/** With the disk: journal, snapshot, recovery, event log; on a folder of the bench's own. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { loaderOf } from '../../src/actors/state/state-loader.ts';
import { snapshotSections } from '../../src/actors/state/world-snapshot.ts';
import { realFileSystem as fs } from '../../src/persistence/disk/file-system.ts';
import { WorkerLogReader } from '../../src/persistence/event-log/log-reader.ts';
import { FileJournal } from '../../src/persistence/journal/file-journal.ts';
import { EMPTY_TAIL } from '../../src/persistence/journal/journal.ts';
import { recover } from '../../src/persistence/recovery/recovery.ts';
import { writeSnapshot } from '../../src/persistence/snapshots/snapshot-writer.ts';
import { openEventLog } from '../../test/support/event-journal.ts';
import type { BenchRun } from '../lib/measurement.ts';
import { dataFolderOf } from '../lib/servers/data-set.ts';
import type { MicroTask } from './micro-task.ts';
import { MicroWorld } from './micro-world.ts';
import { sampleFrame } from './pure.ts';

const QUIET = { info: () => undefined, warn: () => undefined } as const;
const BATCH = 64;

export async function diskTasks(bench: BenchRun): Promise<MicroTask[]> {
  const flags = bench.effort.flags;
  const folder = await dataFolderOf(bench, { flags, projects: 1, events: flags * 4 });
  return [
    await appendTask(bench.folder),
    await snapshotTask(bench.folder, flags),
    recoveryTask(folder, flags),
    ...(await searchTasks(folder)),
  ];
}

function fail(error: Error): never {
  throw error;
}

async function appendTask(parent: string): Promise<MicroTask> {
  const folder = mkdtempSync(join(parent, 'journal-'));
  const journal = await FileJournal.open({
    fs,
    folder,
    tail: EMPTY_TAIL,
    onDurable: () => undefined,
    onFailure: fail,
  });
  const run = async (): Promise<void> => {
    for (let count = 0; count < BATCH; count += 1) journal.append(sampleFrame(journal.appendedId + 1));
    await journal.flush();
  };
  return { name: `append and sync ${BATCH} frames`, run, end: () => journal.close() };
}

async function snapshotTask(parent: string, flags: number): Promise<MicroTask> {
  const folder = join(parent, 'snapshots');
  mkdirSync(folder, { recursive: true });
  const { world } = new MicroWorld(flags);
  let id = 0;
  const run = async (): Promise<void> => {
    id += 1;
    const sections = snapshotSections(world);
    await writeSnapshot({ fs, folder, id, at: id, chain: 0, sections, durable: async () => undefined });
  };
  return { name: `snapshot of ${flags} flags`, run };
}

function recoveryTask(folder: string, flags: number): MicroTask {
  const run = () => recover({ fs, folder, loader: loaderOf(), log: QUIET });
  return { name: `recovery of ${flags} flags`, run };
}

async function searchTasks(folder: string): Promise<MicroTask[]> {
  const logReader = new WorkerLogReader();
  const log = await openEventLog({ fs, folder: join(folder, 'journal'), logReader });
  const page = { limit: 10, offset: 0 };
  const search = (name: string, query: object): MicroTask => ({
    name,
    run: () => log.search({ ...page, ...query }, log.lastId),
  });
  return [
    search(`search ${log.count} events by filter`, { project: 'default', type: 'feature-created' }),
    { ...search(`search ${log.count} events by text`, { query: 'one of many' }), end: () => log.close() },
  ];
}
