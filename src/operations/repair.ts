/**
 * Repairs a damaged folder. The consistent part is built beside it, a trial start proves that it is good, and then it
 * takes the place of the old files. Those are moved aside unchanged and never deleted.
 *
 * `repaired.tmp` in the data folder holds the new journal and snapshots while they are being made. It is complete
 * once its file `ready` is on disk. Exchanging it for the old files may be interrupted anywhere, and the next repair
 * continues it. Until then no server starts (unfinished-repair.ts).
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loaderOf, replayFrame } from '../actors/state/state-loader.ts';
import { snapshotSections, stateHash } from '../actors/state/world-snapshot.ts';
import { emptyWorld, type World } from '../domain/state/world.ts';
import { createDataFolder, type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, withFile } from '../persistence/disk/file-system.ts';
import { writeFully } from '../persistence/disk/write-fully.ts';
import { type DurableMark, DurableMarkFile } from '../persistence/journal/durable-mark.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { LOG_BEGINNING_FILE_NAME } from '../persistence/journal/log-beginning.ts';
import type { FrameSource } from '../persistence/journal/mended-segment.ts';
import { listSegments } from '../persistence/journal/segment-file.ts';
import { type AuditOptions, auditFolder } from '../persistence/proof/audit.ts';
import { copyHeads, headsPath, type RecordedHead } from '../persistence/proof/heads-file.ts';
import type { TrustedKeys } from '../persistence/proof/trusted-keys.ts';
import { recover } from '../persistence/recovery/recovery.ts';
import { readyFile, repairFolder } from '../persistence/recovery/unfinished-work.ts';
import { readSnapshot } from '../persistence/snapshots/snapshot-reader.ts';
import { writeSnapshot } from '../persistence/snapshots/snapshot-writer.ts';
import { copyFile, recordOldest } from './copy-folder.ts';
import { copyRun, replayRun } from './intact-run.ts';
import { mendJournal } from './mend.ts';
import { OperationError } from './operation-error.ts';
import type { RepairPlan } from './repair-plan.ts';
import type { FolderVerification, VerifiedSnapshot } from './verify-folder.ts';

export interface RepairOptions {
  readonly fs: FileSystem;
  /** The data folder, whose lock the caller holds. */
  readonly folder: string;
  readonly plan: RepairPlan;
  /** The unused name of the folder, within the data folder, to which the old files are moved. */
  readonly asideName: string;
}

export interface Repaired {
  readonly lastId: number;
  readonly stateHash: string;
  /** The folder that holds the old files. */
  readonly aside: string;
}

export async function repair(options: RepairOptions): Promise<Repaired> {
  const { fs, plan } = options;
  return replaceFolder(options, async (target) => {
    const hash = stateHash(await build(options, target));
    const started = await tryStart(fs, target);
    if (started.lastId === plan.lastId && started.stateHash === hash) return started;
    const message = `The repaired files and the damaged ones give different states at event ${plan.lastId}; nothing was changed.`;
    throw new OperationError('unsound', message);
  });
}

/** Puts the folder that `build` fills and proves in the place of the old files. */
async function replaceFolder(
  { fs, folder, asideName }: Omit<RepairOptions, 'plan'>,
  build: (target: DataFolder) => Promise<Started>,
): Promise<Repaired> {
  const aside = join(folder, asideName);
  if (await fs.exists(aside)) throw new OperationError('occupied', `${aside} is there already.`);
  const target = dataFolder(repairFolder(folder));
  rmSync(target.root, { recursive: true, force: true });
  await createDataFolder(fs, target);
  // What is refused leaves nothing behind, which may be as large as the folder.
  const started = await build(target).catch((error: unknown) => {
    rmSync(target.root, { recursive: true, force: true });
    throw error;
  });
  await declareReady(fs, folder, asideName);
  await exchange(fs, folder, aside);
  return { ...started, aside };
}

export interface MendOptions extends Omit<RepairOptions, 'plan'> {
  readonly verified: FolderVerification;
  readonly copy: FrameSource;
  /** The keys whose signed heads prove what the copy gives; null where nobody knows one. */
  readonly keys: TrustedKeys | null;
}

/** Takes from a copy what is lost, and nothing else, and proves it by checksums, by signed heads and by a start. */
export async function mend(options: MendOptions): Promise<Repaired> {
  const { fs, folder, copy, verified, keys } = options;
  return replaceFolder(options, async (target) => {
    const from = dataFolder(folder);
    const mark = await mendJournal({ fs, from, copy, to: target, verified });
    const snapshots = verified.snapshots.filter((snapshot) => fits(verified, snapshot));
    await copyEnd(fs, { from, to: target, mark, snapshots, keys });
    if (keys !== null)
      await proveSigned(
        { fs, folder: target.root, keys, kept: null, newestId: async () => mark.lastId },
        copy.name,
      );
    return tryStart(fs, target);
  });
}

/** The files beside the mended journal: the good snapshots, the marks, and what was signed. */
async function copyEnd(
  fs: FileSystem,
  options: {
    readonly from: DataFolder;
    readonly to: DataFolder;
    readonly mark: DurableMark;
    readonly snapshots: readonly VerifiedSnapshot[];
    /** Null to keep heads whoever signed them. */
    readonly keys: TrustedKeys | null;
  },
): Promise<void> {
  const { from, to, mark, snapshots, keys } = options;
  const [oldest] = await listSegments({ fs, folder: to.journal });
  assert(oldest !== undefined, 'a mended journal has a segment');
  for (const { path, header } of snapshots)
    if (header !== null)
      await copyFile(fs, { from: path, to: join(to.snapshots, basename(path)), bytes: null });
  await recordOldest(fs, to, oldest);
  const file = new DurableMarkFile(fs, to.journal);
  await file.write(mark);
  await file.close();
  const wants = ({ note }: RecordedHead): boolean => keys === null || keys.signed(note);
  await copyHeads(fs, { from: from.root, to: to.root, lastId: mark.lastId, wants });
}

async function proveSigned(audit: AuditOptions, copy: string): Promise<void> {
  const { differences } = await auditFolder(audit);
  const [first] = differences;
  if (first === undefined) return;
  const message = `With what ${copy} has, the events from ${first.from} to ${first.to} are ${first.what}. Nothing was changed.`;
  throw new OperationError('unsound', message);
}

/** Finishes a repair that was interrupted after it was ready; false when there is none. */
export async function finishRepair(fs: FileSystem, folder: string): Promise<boolean> {
  const path = readyFile(folder);
  if (!(await fs.exists(path))) return false;
  const asideName = await withFile(fs, path, async (file) => {
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString();
  });
  await exchange(fs, folder, join(folder, asideName));
  return true;
}

/** The kept segments and snapshots, and a new snapshot of the state, which is returned. */
async function build({ fs, folder, plan }: RepairOptions, target: DataFolder): Promise<World> {
  const from = dataFolder(folder);
  const { base, run, lastId, firstSegment } = plan;
  if (run !== null && firstSegment !== null) {
    await copyRun(fs, { from: from.journal, to: target.journal, run, firstSegment });
    await recordOldest(fs, target, firstSegment);
  }
  const world = emptyWorld();
  let lastAt = base?.header?.at ?? 0;
  let replayedId = base?.id ?? 0;
  if (base !== null) {
    const loader = loaderOf(world);
    const onRecord = (section: string, record: unknown): void => loader.load(section, record);
    const reading = await readSnapshot({ fs, path: base.path, onRecord });
    if (reading.problem !== null) throw new OperationError('unsound', `${base.path}: ${reading.problem}`);
  }
  if (run !== null) {
    await replayRun({ fs, folder: from.journal }, run, (frame) => {
      if (frame.id <= replayedId) return;
      assert(frame.id === replayedId + 1, `event ${frame.id} follows event ${replayedId}`);
      replayFrame(world, frame);
      replayedId = lastEventId(frame);
      lastAt = frame.at;
    });
  }
  assert(replayedId === lastId, `the repaired state is that of event ${lastId}, and not of ${replayedId}`);
  await writeSnapshot({
    fs,
    folder: target.snapshots,
    id: lastId,
    at: lastAt,
    chain: run?.end.chain ?? base?.header?.chain ?? 0,
    sections: snapshotSections(world),
    durable: () => Promise.resolve(),
  });
  return world;
}

type Started = Omit<Repaired, 'aside'>;

async function tryStart(fs: FileSystem, target: DataFolder): Promise<Started> {
  const world = emptyWorld();
  const log = { info: () => undefined, warn: () => undefined };
  const { lastId } = await recover({ fs, folder: target.root, loader: loaderOf(world), log });
  return { lastId, stateHash: stateHash(world) };
}

async function declareReady(fs: FileSystem, folder: string, asideName: string): Promise<void> {
  const file = await fs.open(readyFile(folder), 'create');
  try {
    await writeFully(file, Buffer.from(asideName), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await fs.syncFolder(repairFolder(folder));
  await fs.syncFolder(folder);
}

/** Skips each step that was done before, so that all of it can be repeated. */
async function exchange(fs: FileSystem, folder: string, aside: string): Promise<void> {
  await fs.makeFolder(aside);
  const beginning = (of: string): string => join(of, LOG_BEGINNING_FILE_NAME);
  // What the old journal began with, and what was signed of it, must not be asked of the new one.
  if (await fs.exists(join(repairFolder(folder), 'journal'))) {
    await moveIfThere(fs, beginning(folder), beginning(aside));
    await moveIfThere(fs, headsPath(folder), headsPath(aside));
  }
  for (const name of ['snapshots', 'journal']) {
    const [current, repaired] = [join(folder, name), join(repairFolder(folder), name)];
    if (!(await fs.exists(repaired))) continue;
    if (await fs.exists(current)) await fs.rename(current, join(aside, name));
    await fs.rename(repaired, current);
    await fs.syncFolder(aside);
    await fs.syncFolder(folder);
  }
  for (const pathIn of [beginning, headsPath])
    await moveIfThere(fs, pathIn(repairFolder(folder)), pathIn(folder));
  await fs.syncFolder(folder);
  await fs.remove(readyFile(folder));
  rmSync(repairFolder(folder), { recursive: true, force: true });
  await fs.syncFolder(folder);
}

async function moveIfThere(fs: FileSystem, from: string, to: string): Promise<void> {
  if (await fs.exists(from)) await fs.rename(from, to);
}

/** Whether the snapshot is whole, and that of the frames here where they are. */
function fits({ journal }: FolderVerification, { header, id }: VerifiedSnapshot): boolean {
  if (header === null) return false;
  const isKept = journal.runs.some(({ firstId, lastId }) => firstId <= id && id <= lastId);
  return !isKept || journal.checksums.get(id) === header.chain;
}
