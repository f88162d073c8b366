/**
 * Point-in-time restore makes a new data folder with the state that another one had at an event. It copies the
 * journal up to that event, so the event log is kept. It only reads the source.
 *
 * The new folder gets its name only after recovery has started on it and has reached the same state, by its hash, as
 * the source had at that event.
 */
import { statSync } from 'node:fs';
import { loaderOf } from '../actors/state/state-loader.ts';
import { snapshotSections, stateHash } from '../actors/state/world-snapshot.ts';
import { emptyWorld, type World } from '../domain/state/world.ts';
import { type DataFolder, dataFolder } from '../persistence/disk/data-folder.ts';
import { DataFolderError } from '../persistence/disk/data-folder-error.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { type RecoveryReport, recover } from '../persistence/recovery/recovery.ts';
import { writeSnapshot } from '../persistence/snapshots/snapshot-writer.ts';
import { buildFolder, copyUpTo, refuseOccupied } from './copy-folder.ts';
import { boundaryAt } from './journal-reading.ts';
import { loadSnapshotFile } from './lone-snapshot.ts';
import { type Moment, resolveMoment } from './moment.ts';
import { newestEvent, newestState } from './newest-event.ts';
import { OperationError } from './operation-error.ts';
import { StateAt, type StateProgress } from './state-at.ts';

export interface RestoreOptions {
  readonly fs: FileSystem;
  /** A data folder, or one snapshot file. */
  readonly from: string;
  /** The folder to make. */
  readonly to: string;
  /** Null for the newest state. */
  readonly moment: Moment | null;
  /** Leaves out the events: the new folder starts with a snapshot alone. */
  readonly stateOnly?: boolean;
  onProgress?(progress: StateProgress): void;
  /** Milliseconds, monotonic. */
  monotonicMs(): number;
}

export interface Restored {
  readonly to: string;
  readonly lastId: number;
  /** Time of that event, milliseconds since 1970. */
  readonly lastAt: number;
  /** The snapshot that the state was built from; null when it was built from the first event. */
  readonly snapshotId: number | null;
  readonly replayedEvents: number;
  /** How long loading and replaying took. */
  readonly buildMs: number;
  /** Whether the events up to that point were copied. */
  readonly withEvents: boolean;
  readonly stateHash: string;
}

interface Picture {
  readonly lastId: number;
  readonly lastAt: number;
  readonly hash: string;
}

export async function restore(options: RestoreOptions): Promise<Restored> {
  refuseOccupied(options.to);
  const kind = statSync(options.from, { throwIfNoEntry: false });
  if (kind === undefined) throw new OperationError('missing', `There is nothing at ${options.from}.`);
  return kind.isDirectory() ? restoreFolder(options) : restoreSnapshot(options);
}

async function restoreFolder(options: RestoreOptions): Promise<Restored> {
  const { fs, moment, to } = options;
  const from = dataFolder(options.from);
  const source = { fs, folder: from.journal };
  const upTo =
    moment === null ? await newest(options) : await resolveMoment({ fs, folder: options.from }, moment);
  const startedAt = options.monotonicMs();
  const state = await StateAt.open({ ...options, folder: options.from, upTo });
  const buildMs = options.monotonicMs() - startedAt;
  if (state.lastId === 0) throw new OperationError('missing', `${options.from} holds no event.`);
  const picture: Picture = { lastId: state.lastId, lastAt: state.lastAt, hash: stateHash(state.world) };
  const end = options.stateOnly ? null : (state.boundary ?? (await boundaryAt(source, state.lastId)));
  await buildFolder(fs, to, async (target) => {
    if (end === null) await writeState(fs, target, state);
    else await copyUpTo({ fs, from, to: target, lastId: state.lastId, end });
    await proveStart(options, target, picture);
  });
  return {
    to,
    lastId: picture.lastId,
    lastAt: picture.lastAt,
    snapshotId: state.snapshot?.id ?? null,
    replayedEvents: state.replayedEvents,
    buildMs,
    withEvents: end !== null,
    stateHash: picture.hash,
  };
}

/** Where only older events are damaged, the refusal says that the state can be had without them. */
async function newest({ fs, from, stateOnly }: RestoreOptions): Promise<number> {
  const source = { fs, folder: from };
  if (stateOnly) return newestState(source);
  try {
    return await newestEvent(source);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    const hasState = await newestState(source).then(
      () => true,
      () => false,
    );
    throw hasState ? damagedEvents(error) : error;
  }
}

async function writeState(fs: FileSystem, target: DataFolder, state: StateAt): Promise<void> {
  await writeSnapshot({
    fs,
    folder: target.snapshots,
    id: state.lastId,
    at: state.lastAt,
    chain: state.chain,
    sections: snapshotSections(state.world),
    durable: () => Promise.resolve(),
  });
}

async function restoreSnapshot(options: RestoreOptions): Promise<Restored> {
  const { fs, from, to, moment } = options;
  const startedAt = options.monotonicMs();
  const { header, world } = await loadSnapshotFile(options);
  const buildMs = options.monotonicMs() - startedAt;
  if (moment !== null && !(moment.kind === 'event' && moment.id === header.id)) {
    const message = `${from} is the state as of event ${header.id} and no other; name the data folder to go back to another moment.`;
    throw new OperationError('missing', message);
  }
  const hash = stateHash(world);
  const picture: Picture = { lastId: header.id, lastAt: header.at, hash };
  await buildFolder(fs, to, async (target) => {
    await writeSnapshot({
      fs,
      folder: target.snapshots,
      ...header,
      sections: snapshotSections(world),
      durable: () => Promise.resolve(),
    });
    await proveStart(options, target, picture);
  });
  return {
    to,
    ...picture,
    snapshotId: header.id,
    replayedEvents: 0,
    buildMs,
    withEvents: false,
    stateHash: hash,
  };
}

/** Checks that recovery starts on the new folder with the same state. Otherwise the folder never gets its name. */
async function proveStart(options: RestoreOptions, target: DataFolder, expected: Picture): Promise<void> {
  const world = emptyWorld();
  const { lastId } = await start(options.fs, target, world);
  if (lastId === expected.lastId && stateHash(world) === expected.hash) return;
  const message = `The restored folder and the original have different states at event ${expected.lastId}, so the restored folder was not kept. Run "flagstaff verify --deep" on the original.`;
  throw new OperationError('unsound', message);
}

async function start(fs: FileSystem, target: DataFolder, world: World): Promise<RecoveryReport> {
  const log = { info: () => undefined, warn: () => undefined };
  try {
    return await recover({ fs, folder: target.root, loader: loaderOf(world), log });
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    throw damagedEvents(error);
  }
}

function damagedEvents(cause: DataFolderError): OperationError {
  const message = `The events before that moment are damaged, so no server would start on them (${cause.message}). Use --state-only to restore the state without them.`;
  return new OperationError('unsound', message, cause);
}
