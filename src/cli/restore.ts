/** `flagstaff restore`: point-in-time restore into a new folder. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loaderOf } from '../actors/state/state-loader.ts';
import { snapshotSections, stateHash } from '../actors/state/world-snapshot.ts';
import type { World } from '../domain/state/world.ts';
import { type AddCommand, type CommonOptions, momentOf, printResult } from '../host/command.ts';
import { misuse } from '../host/command-failure.ts';
import { rateText, timeText } from '../host/format.ts';
import { stateProgressOn } from '../host/progress.ts';
import { buildFolder, copyUpTo, loadSnapshotFile, refuseOccupied } from '../operations/copy-folder.ts';
import type { HistoryFiles } from '../operations/history-files.ts';
import { boundaryAt, newestEvent, newestState } from '../operations/journal-reading.ts';
import { type Moment, resolveMoment } from '../operations/moment.ts';
import { OperationError } from '../operations/operation-error.ts';
import { StateAt, type StateProgress } from '../operations/state-at.ts';
import { type DataFolder, DataFolderError, dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { type RecoveryReport, recover } from '../persistence/recovery/recovery.ts';
import type { Loader } from '../persistence/recovery/replay.ts';
import type { SnapshotStamp } from '../persistence/snapshots/snapshot-format.ts';
import { writeSnapshot } from '../persistence/snapshots/snapshot-writer.ts';

interface RestoreCommandOptions extends CommonOptions {
  readonly to: string;
  readonly at?: string;
  readonly before?: string;
  readonly stateOnly?: boolean;
}

export const addRestore: AddCommand = (program, context) => {
  program
    .command('restore')
    .argument('<source>', 'a data folder, or one snapshot file')
    .description('Create a data folder with the state after an event, or before a time.')
    .requiredOption('--to <folder>', 'the folder to create; existing files are never overwritten')
    .option('--at <event id>', 'the last event to keep (default: the newest)')
    .option('--before <time>', 'keep everything older than this time, such as 2025-06-01T12:00:00Z')
    .option('--state-only', 'omit the events: the new folder starts with only a snapshot')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      `
The source is not changed, and a server may be running on it. A change with several events
is kept or omitted as a whole.

Examples:
  flagstaff restore data --to data-before --at 1041
  flagstaff verify --deep --data-dir data-before
  DATA_DIR=data-before npm start`,
    )
    .action(async (source: string, options: RestoreCommandOptions) => {
      const bars = stateProgressOn(context.terminal, context.monotonicMs);
      const restored = await restore({
        fs: context.fs,
        from: resolve(source),
        to: resolve(options.to),
        moment: momentIn(options),
        stateOnly: options.stateOnly === true,
        historyFiles: await context.historyFiles(),
        monotonicMs: context.monotonicMs,
        onProgress: bars.onProgress,
      }).finally(() => bars.end());
      printResult(context, options, restored, restoredText(restored));
    });
};

function momentIn({ at, before }: RestoreCommandOptions): Moment | null {
  if (at !== undefined && before !== undefined) throw misuse('Give --at or --before, not both.');
  if (at !== undefined) {
    const moment = momentOf('--at', at);
    if (moment.kind === 'event') return moment;
    throw misuse(`--at takes an event id, not "${at}"; use --before for a time.`);
  }
  if (before === undefined) return null;
  const moment = momentOf('--before', before);
  if (moment.kind === 'before') return moment;
  throw misuse(`--before takes a time, not "${before}"; use --at for an event id.`);
}

function restoredText(restored: Restored): string {
  const { to, lastId, lastAt, snapshotId, replayedEvents, buildMs, withEvents, stateHash } = restored;
  const from = snapshotId === null ? 'from the first event' : `from the snapshot of event ${snapshotId}`;
  return [
    `Restored the state as of event ${lastId} (${timeText(lastAt)}) into ${to}.`,
    `Built ${from}; replayed ${rateText(replayedEvents, buildMs)}; a start on the new folder gave the same state: ${stateHash}.`,
    withEvents
      ? `The events up to ${lastId} are in the new folder.`
      : 'The events before it are not in the new folder, which starts with a snapshot alone.',
  ].join('\n');
}

// Point-in-time restore makes a new data folder with the state that another one had at an event. It copies the
// journal up to that event, so the event log is kept. It only reads the source.
//
// The new folder gets its name only after recovery has started on it and has reached the same state, by its hash, as
// the source had at that event.

interface RestoreOptions {
  readonly fs: FileSystem;
  /** A data folder, or one snapshot file. */
  readonly from: string;
  /** The folder to make. */
  readonly to: string;
  /** Null for the newest state. */
  readonly moment: Moment | null;
  /** Leaves out the events: the new folder starts with a snapshot alone. */
  readonly stateOnly?: boolean;
  /** Copied with the events; none unless given. */
  readonly historyFiles?: readonly HistoryFiles[];
  onProgress?(progress: StateProgress): void;
  monotonicMs(): number;
}

type Restored = Awaited<ReturnType<typeof restore>>;

interface Picture {
  readonly lastId: number;
  /** Time of that event, milliseconds since 1970. */
  readonly lastAt: number;
  readonly stateHash: string;
}

export async function restore(options: RestoreOptions) {
  refuseOccupied(options.to);
  const kind = statSync(options.from, { throwIfNoEntry: false });
  if (kind === undefined) throw new OperationError('missing', `There is nothing at ${options.from}.`);
  return kind.isDirectory() ? restoreFolder(options) : restoreSnapshot(options);
}

async function restoreFolder(options: RestoreOptions) {
  const { fs, moment, to, historyFiles = [] } = options;
  const from = dataFolder(options.from);
  const source = { fs, folder: from.journal };
  const upTo =
    moment === null ? await newest(options) : await resolveMoment({ fs, folder: options.from }, moment);
  const startedAt = options.monotonicMs();
  const state = await StateAt.open({ ...options, folder: options.from, upTo });
  const buildMs = options.monotonicMs() - startedAt;
  if (state.lastId === 0) throw new OperationError('missing', `${options.from} holds no event.`);
  const picture: Picture = { lastId: state.lastId, lastAt: state.lastAt, stateHash: stateHash(state.world) };
  const end = options.stateOnly ? null : (state.boundary ?? (await boundaryAt(source, state.lastId)));
  await buildFolder(fs, to, async (target) => {
    const { lastId: id, lastAt: at, chain, world } = state;
    if (end === null) await writeState(options, target, { id, at, chain }, world);
    else await copyUpTo({ fs, from, to: target, lastId: state.lastId, end, historyFiles });
    await proveStart(options, target, picture);
  });
  return {
    to,
    ...picture,
    snapshotId: state.snapshot?.id ?? null,
    replayedEvents: state.replayedEvents,
    buildMs,
    withEvents: end !== null,
  };
}

/**
 * The newest event that can be restored. If only older events are damaged, the refusal says that the state can be had
 * without them.
 */
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

async function writeState(
  { fs }: RestoreOptions,
  { snapshots: folder }: DataFolder,
  head: SnapshotStamp,
  world: World,
): Promise<void> {
  const sections = snapshotSections(world);
  await writeSnapshot({ fs, folder, ...head, sections, durable: () => Promise.resolve() });
}

async function restoreSnapshot(options: RestoreOptions) {
  const { fs, from, to, moment } = options;
  const startedAt = options.monotonicMs();
  const { header, world } = await loadSnapshotFile(options);
  const buildMs = options.monotonicMs() - startedAt;
  if (moment !== null && !(moment.kind === 'event' && moment.id === header.id)) {
    const message = `${from} is the state as of event ${header.id} and no other; name the data folder to go back to another moment.`;
    throw new OperationError('missing', message);
  }
  const picture: Picture = { lastId: header.id, lastAt: header.at, stateHash: stateHash(world) };
  await buildFolder(fs, to, async (target) => {
    await writeState(options, target, header, world);
    await proveStart(options, target, picture);
  });
  return { to, ...picture, snapshotId: header.id, replayedEvents: 0, buildMs, withEvents: false };
}

/** Checks that recovery starts on the new folder with the same state. Otherwise the folder never gets its name. */
async function proveStart(options: RestoreOptions, target: DataFolder, expected: Picture): Promise<void> {
  const loader = loaderOf();
  const { lastId } = await start(options.fs, target, loader);
  if (lastId === expected.lastId && stateHash(loader.world) === expected.stateHash) return;
  const message = `The restored folder and the original have different states at event ${expected.lastId}, so the restored folder was not kept. Run "flagstaff verify --deep" on the original.`;
  throw new OperationError('unsound', message);
}

async function start(fs: FileSystem, target: DataFolder, loader: Loader): Promise<RecoveryReport> {
  const log = { info: () => undefined, warn: () => undefined };
  try {
    return await recover({ fs, folder: target.root, loader, log });
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    throw damagedEvents(error);
  }
}

function damagedEvents(cause: DataFolderError): OperationError {
  const message = `The events before that moment are damaged, so no server would start on them (${cause.message}). Use --state-only to restore the state without them.`;
  return new OperationError('unsound', message, cause);
}
