/**
 * Verifies every byte of the journal and of every snapshot of a data folder, and that they belong together. It
 * reports every damage and changes nothing. A server may be running.
 *
 * The mark is read first, then files of add-ons, then the snapshots, then the journal. Each refers only to what the next one holds, so a
 * server that keeps writing meanwhile never looks like damage.
 */
import { join } from 'node:path';
import { loaderOf } from '../actors/state/state-loader.ts';
import { askServer } from '../control/control-client.ts';
import {
  DAMAGED_SUFFIX,
  type DataFolder,
  type DataFolderError,
  dataFolder,
} from '../persistence/disk/data-folder.ts';
import { type FileSystem, unlessMissing } from '../persistence/disk/file-system.ts';
import { type DurableMark, MARK_FILE_NAME, readDurableMark } from '../persistence/journal/durable-mark.ts';
import { LOG_BEGINNING_FILE_NAME, readLogBeginning } from '../persistence/journal/log-beginning.ts';
import { type SegmentStart, segmentFileName } from '../persistence/journal/segment.ts';
import { missingBeginning } from '../persistence/recovery/recovery-refusal.ts';
import { loadSnapshot } from '../persistence/recovery/recovery-survey.ts';
import { checkStart } from '../persistence/recovery/start-check.ts';
import { listSnapshots, type SnapshotFile } from '../persistence/snapshots/snapshot-files.ts';
import type { SnapshotHeader } from '../persistence/snapshots/snapshot-format.ts';
import type { HistoryFiles } from './history-files.ts';
import { OperationError } from './operation-error.ts';
import { type Damage, type IntactRun, type JournalVerification, verifyJournal } from './verify-journal.ts';

export interface VerifiedSnapshot extends SnapshotFile {
  /** Null when the file is damaged. */
  readonly header: SnapshotHeader | null;
  readonly bytes: number;
}

export interface FolderVerification {
  readonly damages: readonly Damage[];
  /** Remarks that are not about damage. */
  readonly notes: readonly string[];
  readonly journal: JournalVerification;
  readonly snapshots: readonly VerifiedSnapshot[];
  readonly mark: DurableMark | null;
  /** The recorded beginning of the log. */
  readonly beginning: SegmentStart | null;
  /** The last event that files of add-ons know of; 0 for none. */
  readonly recordedId: number;
  /** Id of the newest event that is whole. */
  readonly lastId: number;
}

export interface VerifyOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  /** Files of add-ons in the folder; none unless given. */
  readonly historyFiles?: readonly HistoryFiles[];
  onProgress?(bytesDone: number): void;
}

export async function verifyFolder(options: VerifyOptions): Promise<FolderVerification> {
  const { fs, historyFiles = [], onProgress } = options;
  const folder = dataFolder(options.folder);
  const reading = await readDurableMark(fs, folder.journal);
  const mark = reading.state === 'good' ? reading.mark : null;
  const recordedIds = await Promise.all(historyFiles.map((files) => files.newestId(folder.root)));
  const damages: Damage[] = [];
  const snapshots = await verifySnapshots(fs, folder.snapshots, damages);
  const snapshotBytes = snapshots.reduce((sum, { bytes }) => sum + bytes, 0);
  const wantedIds = new Set([mark?.lastId ?? 0, ...snapshots.map(({ id }) => id)]);
  const journal = await verifyJournal({
    fs,
    folder: folder.journal,
    wantedIds,
    onProgress: (bytes) => onProgress?.(snapshotBytes + bytes),
  });
  damages.push(...journal.damages);
  const lastId = newestRun(journal)?.lastId ?? 0;
  if (mark !== null) damages.push(...markDamage(folder.journal, mark, journal));
  for (const snapshot of snapshots) damages.push(...snapshotMismatch(snapshot, journal));
  const recorded = await readLogBeginning(fs, folder.root);
  const beginning = recorded.state === 'good' ? recorded.beginning : null;
  if (beginning !== null) damages.push(...missingSegments(folder, beginning.firstId, journal));
  damages.push(...lateStart(folder.journal, journal, snapshots));
  if (damages.length === 0) damages.push(...(await refusedStart(options)));
  if (damages.length + journal.segments.length + snapshots.length === 0 && mark === null)
    throw new OperationError('missing', `${options.folder} holds neither events nor snapshots.`);
  const notes = await notesOn(fs, folder.snapshots, journal);
  if (reading.state === 'unreadable') {
    notes.push(`${MARK_FILE_NAME} cannot be read; damage in the last write would pass for a torn tail.`);
  }
  if (recorded.state === 'unreadable') {
    notes.push(
      `${LOG_BEGINNING_FILE_NAME} cannot be read; older journal files, if any are missing, are not missed.`,
    );
  }
  return {
    damages,
    notes,
    journal,
    snapshots,
    mark,
    beginning,
    recordedId: Math.max(0, ...recordedIds),
    lastId,
  };
}

/**
 * For whatever other reason a start refuses, such as an unfinished import. Not asked while a server is running, which
 * has started and may be changing the folder.
 */
async function refusedStart({ fs, folder }: VerifyOptions): Promise<Damage[]> {
  if ((await askServer(folder, 'status')) !== null) return [];
  const { refusal } = await checkStart({ fs, folder });
  return refusal === null ? [] : [damageOf(refusal)];
}

export const damageOf = ({ file, offset, lastGoodEventId, problem }: DataFolderError): Damage => ({
  ...{ file, offset, lastGoodEventId: lastGoodEventId ?? 0, what: problem },
});

export function damageText({ file, offset, lastGoodEventId, what }: Damage): string {
  const at = offset === null ? '' : `, offset ${offset}`;
  return `DAMAGE ${file}${at}: ${what}. The last good event before it is ${lastGoodEventId}.`;
}

async function verifySnapshots(
  fs: FileSystem,
  folder: string,
  damages: Damage[],
): Promise<VerifiedSnapshot[]> {
  const verified: VerifiedSnapshot[] = [];
  for (const file of await listSnapshots(fs, folder)) {
    const reading = await unlessMissing(loadSnapshot(fs, file, loaderOf()), null);
    // Retention of a running server has removed it meanwhile.
    if (reading === null) continue;
    if (reading.problem === null) {
      verified.push({ ...file, header: reading.header, bytes: reading.bytes });
      continue;
    }
    damages.push({ file: file.path, offset: reading.offset, lastGoodEventId: 0, what: reading.problem });
    verified.push({ ...file, header: null, bytes: 0 });
  }
  return verified;
}

/** The run with the newest event. */
const newestRun = ({ runs }: JournalVerification): IntactRun | null =>
  runs.reduce<IntactRun | null>((newest, run) => (run.lastId > (newest?.lastId ?? 0) ? run : newest), null);

function markDamage(folder: string, mark: DurableMark, journal: JournalVerification): Damage[] {
  const first = journal.segments[0];
  const last = newestRun(journal);
  if (first === undefined) {
    const what = `the journal is missing: ${MARK_FILE_NAME} says that events up to ${mark.lastId} had been written`;
    return [{ file: folder, offset: null, lastGoodEventId: 0, what }];
  }
  if (mark.lastId < first) return [];
  const file = join(folder, segmentFileName(last?.end.segment ?? first));
  const at = { file, offset: last?.end.offset ?? 0, lastGoodEventId: last?.lastId ?? 0 };
  if (last === null || last.lastId < mark.lastId) {
    return [{ ...at, what: `the events up to ${mark.lastId} had been on disk, and the file ends before` }];
  }
  const checksum = journal.checksums.get(mark.lastId);
  if (checksum === undefined || checksum === mark.chain) return [];
  const what = `${MARK_FILE_NAME} and the journal do not belong together: event ${mark.lastId} differs between them`;
  return [{ file: join(folder, MARK_FILE_NAME), offset: 12, lastGoodEventId: mark.lastId, what }];
}

function snapshotMismatch({ header, id, path }: VerifiedSnapshot, journal: JournalVerification): Damage[] {
  const last = newestRun(journal);
  if (last !== null && id > last.lastId) {
    const what = `the journal ends with event ${last.lastId}, before this snapshot`;
    return [{ file: path, offset: null, lastGoodEventId: last.lastId, what }];
  }
  const checksum = journal.checksums.get(id);
  if (header === null || checksum === undefined || checksum === header.chain) return [];
  const what = `the snapshot and the journal do not belong together: event ${id} differs between them`;
  return [{ file: path, offset: 12, lastGoodEventId: id, what }];
}

/** The record was read after the files were listed: a running server moves it on before it deletes any. */
function missingSegments(folder: DataFolder, firstId: number, { segments }: JournalVerification): Damage[] {
  const oldest = segments[0];
  if (oldest === undefined || oldest <= firstId) return [];
  const { file, offset, problem } = missingBeginning(folder, firstId, oldest);
  return [{ file, offset, lastGoodEventId: firstId - 1, what: problem }];
}

/** Events before the first segment have to be in a good snapshot. */
function lateStart(
  folder: string,
  { segments }: JournalVerification,
  snapshots: readonly VerifiedSnapshot[],
): Damage[] {
  const first = segments[0] ?? 1;
  const newest = snapshots.findLast(({ header }) => header !== null)?.id ?? 0;
  if (newest >= first - 1) return [];
  const what = `the events from ${newest + 1} to ${first - 1} are in no journal file and no good snapshot`;
  return [{ file: join(folder, segmentFileName(first)), offset: 0, lastGoodEventId: newest, what }];
}

async function notesOn(fs: FileSystem, folder: string, journal: JournalVerification): Promise<string[]> {
  const notes: string[] = [];
  if (journal.unfinished !== null) {
    const { file, offset, bytes } = journal.unfinished;
    notes.push(
      `${bytes} bytes at offset ${offset} of ${file} are a write under way, or one that a crash cut off.`,
    );
  }
  for (const name of await unlessMissing(fs.list(folder), [])) {
    if (name.endsWith(DAMAGED_SUFFIX)) notes.push(`${join(folder, name)} was set aside earlier.`);
  }
  return notes;
}
