/** `flagstaff status`: show what a data folder holds. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { askServer } from '../control/control-client.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  printResult,
  withCommonOptions,
} from '../host/command.ts';
import { bytesText, count, fields } from '../host/format.ts';
import { readFirstFrame, readLastFrame } from '../operations/journal-reading.ts';
import { DataFolderError, dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing, isUnreadable, withFile } from '../persistence/disk/file-system.ts';
import { LOCK_FILE_NAME } from '../persistence/disk/folder-lock.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { readLogBeginning } from '../persistence/journal/log-beginning.ts';
import { SEGMENT_VERSION, segmentFileName } from '../persistence/journal/segment.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';
import { listSnapshots, readSnapshotHeader } from '../persistence/snapshots/snapshot-files.ts';
import { SNAPSHOT_VERSION } from '../persistence/snapshots/snapshot-format.ts';
import { EXIT } from '../process/exit-codes.ts';

export const addStatus: AddCommand = (program, context) => {
  withCommonOptions(program.command('status'))
    .description('Show what the data folder holds: events, snapshots, sizes and the last stop.')
    .addHelpText(
      'after',
      `
This command only reads, and works while a server is running. The exit code is 65 if no server would start on the
folder. flagstaff verify lists all damage.

Examples:
  flagstaff status
  flagstaff status --data-dir /srv/flagstaff --json | jq .journal.lastEvent.id`,
    )
    .action(async (options: CommonOptions) => {
      const status = await folderStatus(context.fs, dataDirectory(context, options));
      printResult(context, options, jsonOf(status), statusText(status));
      if (status.refusal !== null) context.finish(EXIT.damagedData);
    });
};

/** The view of each add-on is under its name. */
const jsonOf = ({ server, ...status }: FolderStatus): object => ({
  ...status,
  server: server && {
    ...{ pid: server.pid, durableId: server.durableId },
    ...Object.fromEntries(server.addons.map(({ name, view }) => [name, view])),
  },
});

function statusText(status: FolderStatus): string {
  const { folder, formats, server, journal, snapshots, lastStop, refusal } = status;
  const { firstEvent, lastEvent } = journal;
  const rows: [string, string][] = [
    ['folder', folder],
    ['formats', `journal ${formats.journal}, snapshots ${formats.snapshot}`],
    ['server', server === null ? 'not running' : `running, process ${server.pid}`],
    ...(server?.addons ?? []).map(({ name, text }): [string, string] => [name, text]),
    ['last stop', stopText(lastStop)],
    ['journal', `${count(journal.segments, 'file')}, ${bytesText(journal.bytes)}`],
    ['begins with', journal.beginsWith === null ? 'not recorded' : `event ${journal.beginsWith}`],
    ['first event', firstEvent === null ? 'none' : `${firstEvent.id} of ${firstEvent.time}`],
    ['last event', lastEvent === null ? 'none' : `${lastEvent.id} of ${lastEvent.time}`],
    ['snapshots', snapshots.length === 0 ? 'none' : count(snapshots.length, 'file')],
  ];
  for (const { id, time, bytes } of snapshots) {
    rows.push(['', `as of event ${id} (${time ?? 'the header cannot be read'}), ${bytesText(bytes)}`]);
  }
  if (refusal !== null) rows.push(['start', `refused: ${refusal}`]);
  return fields(rows);
}

function stopText(stop: LastStop): string {
  switch (stop.kind) {
    case 'running':
      return 'running now';
    case 'never':
      return 'no server has had this folder open';
    case 'clean':
      return `clean, ${stop.time}`;
    case 'crash':
      return `not clean: process ${stop.pid} did not stop properly, or a server without a control socket is running`;
  }
}

// A summary of what a data folder holds, and whether a server would start on it. It takes no lock and changes nothing.
// Parts that cannot be read are left out of the summary. `verify` names every damage.

type FolderStatus = Awaited<ReturnType<typeof folderStatus>>;

/** `never`: no server has had this folder open. */
type LastStop =
  | { readonly kind: 'running' | 'never' }
  | { readonly kind: 'clean'; readonly time: string }
  | { readonly kind: 'crash'; readonly pid: number };

async function folderStatus(fs: FileSystem, root: string) {
  const folder = dataFolder(root);
  const server = await askServer(root, 'status');
  const refusal = server === null ? (await checkStart({ fs, folder: root })).refusal : null;
  const recorded = await readLogBeginning(fs, root);
  return {
    folder: root,
    formats: { journal: SEGMENT_VERSION, snapshot: SNAPSHOT_VERSION },
    server,
    journal: {
      /** The event with which the log is recorded to begin; null where nothing is recorded. */
      beginsWith: recorded.state === 'good' ? recorded.beginning.firstId : null,
      ...(await journalStatus({ fs, folder: folder.journal })),
    },
    snapshots: await snapshotStatus(fs, folder.snapshots),
    lastStop: server === null ? lastStop(root) : ({ kind: 'running' } as const),
    /** Why a server would not start; null when one would, or is running. */
    refusal: refusal?.message ?? null,
  };
}

/** `bytes`: on disk, with the zeros ahead of the end while a server runs. */
async function journalStatus(source: JournalSource) {
  const segments = await listSegments(source);
  const [first] = segments;
  let bytes = 0;
  for (const firstId of segments)
    bytes += await sizeOf(source.fs, join(source.folder, segmentFileName(firstId)));
  const firstFrame = first === undefined ? null : await readable(readFirstFrame(source, first), null);
  return {
    segments: segments.length,
    bytes,
    firstEvent: firstFrame && eventSummary(firstFrame.id, firstFrame.at),
    lastEvent: await lastEvent(source, segments),
  };
}

/** The last event of the last segment; of the one before while the last one is still empty. */
async function lastEvent(source: JournalSource, segments: readonly number[]) {
  for (const firstId of segments.slice(-2).toReversed()) {
    const frame = await readable(readLastFrame(source, firstId), null);
    if (frame !== null) return eventSummary(lastEventId(frame), frame.at);
  }
  return null;
}

const eventSummary = (id: number, at: number) => ({ id, time: new Date(at).toISOString() });

/** 0 for a file that retention has just deleted, or that the disk cannot read. */
const sizeOf = (fs: FileSystem, path: string): Promise<number> =>
  readable(
    withFile(fs, path, (file) => file.size()),
    0,
  );

async function readable<T>(wanted: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await wanted;
  } catch (error) {
    if (error instanceof DataFolderError || isUnreadable(error) || isMissing(error)) return otherwise;
    throw error;
  }
}

/** `time`: of its last event; null when the header cannot be read. */
async function snapshotStatus(fs: FileSystem, folder: string) {
  const summaries = [];
  for (const { id, path } of await listSnapshots(fs, folder)) {
    const header = await readable(readSnapshotHeader(fs, path), null);
    const time = header && new Date(header.at).toISOString();
    summaries.push({ id, path, time, bytes: await sizeOf(fs, path) });
  }
  return summaries;
}

/** A clean stop empties the lock file; a crash leaves the process id in it. */
function lastStop(root: string): LastStop {
  const path = join(root, LOCK_FILE_NAME);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { kind: 'never' };
  const pid = Number.parseInt(readFileSync(path, 'latin1'), 10);
  if (Number.isSafeInteger(pid)) return { kind: 'crash', pid };
  return { kind: 'clean', time: stats.mtime.toISOString() };
}
