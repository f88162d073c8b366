/** Surveys a whole data folder and collects the facts for recovery's decision. Changes nothing. */
import { join } from 'node:path';
import { DAMAGED_SUFFIX, type DataFolder, TEMPORARY_SUFFIX } from '../disk/data-folder.ts';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder-error.ts';
import type { FileSystem } from '../disk/file-system.ts';
import {
  type DurableMark,
  MARK_FILE_NAME,
  type MarkReading,
  readDurableMark,
} from '../journal/durable-mark.ts';
import { idInFileName, SEGMENT_SUFFIX } from '../journal/segment.ts';
import { listSnapshots, type SnapshotFile } from '../snapshots/snapshot-files.ts';
import { SNAPSHOT_SUFFIX, type SnapshotHeader } from '../snapshots/snapshot-format.ts';
import { verifySnapshotFile } from '../snapshots/snapshot-reader.ts';
import { type Boundary, type JournalSurvey, surveyJournal } from './journal-survey.ts';
import type { RecoveryFacts } from './recovery-cases.ts';

export interface GoodSnapshot extends SnapshotHeader {
  readonly path: string;
}

export interface BadSnapshot extends SnapshotFile {
  readonly problem: string;
  readonly offset: number;
}

export interface FolderSurvey {
  readonly facts: RecoveryFacts;
  readonly journal: JournalSurvey;
  readonly mark: DurableMark | null;
  /** The newest good one, and the bad ones that are newer. */
  readonly snapshot: GoodSnapshot | null;
  readonly badSnapshots: readonly BadSnapshot[];
  /** Where replay begins; null when there is no journal. */
  readonly replayFrom: Boundary | null;
  /** Unfinished files, to be removed. */
  readonly leftovers: readonly string[];
  /** Unknown names, which are ignored with a warning. */
  readonly unknown: readonly string[];
}

export async function surveyFolder(
  fs: FileSystem,
  folder: DataFolder,
  onProgress?: (bytesDone: number) => void,
): Promise<FolderSurvey> {
  const names = await sortNames(fs, folder);
  const { snapshot, badSnapshots, newestSnapshotId } = await surveySnapshots(fs, folder.snapshots);
  const reading = await readDurableMark(fs, folder.journal);
  const mark = reading.state === 'good' ? reading.mark : null;
  const wantedIds = new Set([snapshot?.id ?? 0, mark?.lastId ?? 0]);
  const progress = onProgress === undefined ? {} : { onProgress };
  const journal = await surveyJournal({ fs, folder: folder.journal, wantedIds, ...progress });
  const replayFrom = journal.boundaries.get(snapshot?.id ?? 0) ?? null;
  const facts: RecoveryFacts = {
    journal: journal.damage !== null ? 'damaged' : journal.firstId === null ? 'none' : 'good',
    mark: reading.state,
    reachesMark: reachesMark(journal, reading),
    firstId: journal.firstId ?? 0,
    lastId: journal.lastId,
    newestSnapshotId,
    newestGoodSnapshotId: snapshot?.id ?? 0,
    holdsSnapshotFrame: replayFrom !== null && replayFrom.chain === snapshot?.chain,
  };
  return { facts, journal, mark, snapshot, badSnapshots, replayFrom, ...names };
}

/** A mark before the journal's first event refers to segments that retention has removed since. */
function reachesMark(journal: JournalSurvey, reading: MarkReading): boolean {
  if (reading.state !== 'good' || journal.firstId === null) return true;
  const { lastId, chain } = reading.mark;
  if (lastId < journal.firstId - 1) return true;
  return lastId <= journal.lastId && journal.boundaries.get(lastId)?.chain === chain;
}

async function surveySnapshots(
  fs: FileSystem,
  folder: string,
): Promise<Pick<FolderSurvey, 'snapshot' | 'badSnapshots'> & { readonly newestSnapshotId: number }> {
  const files = [...(await listSnapshots(fs, folder))].reverse();
  const badSnapshots: BadSnapshot[] = [];
  const newestSnapshotId = files[0]?.id ?? 0;
  for (const file of files) {
    const reading = await verifySnapshotFile({ fs, path: file.path });
    if (reading.problem !== null) badSnapshots.push({ ...file, ...reading });
    else if (reading.header.id !== file.id)
      badSnapshots.push({ ...file, offset: 16, problem: otherId(reading.header) });
    else return { snapshot: { ...reading.header, path: file.path }, badSnapshots, newestSnapshotId };
  }
  return { snapshot: null, badSnapshots, newestSnapshotId };
}

const otherId = ({ id }: SnapshotHeader): string => `the file says that it ends with event ${id}`;

async function sortNames(
  fs: FileSystem,
  folder: DataFolder,
): Promise<Pick<FolderSurvey, 'leftovers' | 'unknown'>> {
  const leftovers: string[] = [];
  const unknown: string[] = [];
  for (const [path, suffix] of [
    [folder.journal, SEGMENT_SUFFIX],
    [folder.snapshots, SNAPSHOT_SUFFIX],
  ] as const) {
    for (const name of await fs.list(path)) {
      const file = join(path, name);
      if (name.endsWith(TEMPORARY_SUFFIX)) leftovers.push(file);
      else if (name.endsWith(suffix)) refuseForeignName(name, suffix, file);
      else if (!isOurs(name)) unknown.push(file);
    }
  }
  return { leftovers, unknown };
}

const isOurs = (name: string): boolean =>
  name === MARK_FILE_NAME || name.endsWith('.index') || name.endsWith(DAMAGED_SUFFIX);

/** Otherwise a renamed segment or snapshot would silently be missing. */
function refuseForeignName(name: string, suffix: string, file: string): void {
  const id = idInFileName(name, suffix);
  if (id !== null && id > 0) return;
  const problem = `The file is named like a file of the server, but its name has no event id of 20 digits`;
  throw new DataFolderError(problem, {
    file,
    advice: `Rename it back, or move it away. ${ADVICE_DAMAGED}`,
  });
}
