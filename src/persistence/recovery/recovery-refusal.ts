/** The messages of recovery's refusals: what is wrong, where, what is still good, and what the operator can do. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ADVICE_DAMAGED, type DataFolder, DataFolderError } from '../disk/data-folder.ts';
import { MARK_FILE_NAME } from '../journal/durable-mark.ts';
import { LOG_BEGINNING_FILE_NAME } from '../journal/log-beginning.ts';
import { segmentFileName } from '../journal/segment.ts';
import type { RecoveryLabel } from './recovery-cases.ts';
import type { FolderSurvey } from './recovery-survey.ts';

/** The advice where files were taken away: nothing is lost where they are somewhere. */
const ADVICE_MISSING = `Put the missing files back if you have them. ${ADVICE_DAMAGED}`;

export function refusalOf(label: RecoveryLabel, survey: FolderSurvey, folder: DataFolder): DataFolderError {
  switch (label) {
    case 'journal-damaged':
      assert(survey.journal.damage !== null, 'a damaged journal says where');
      return survey.journal.damage;
    case 'journal-missing':
      return journalMissing(survey, folder);
    case 'journal-begins-late':
      return journalBeginsLate(survey, folder);
    case 'journal-behind-mark':
      return journalBehindMark(survey, folder);
    case 'journal-behind-snapshot':
      return journalBehindSnapshot(survey, folder);
    case 'journal-starts-late':
      return journalStartsLate(survey, folder);
    case 'snapshot-foreign':
      return snapshotForeign(survey);
    case 'snapshot-only-damaged':
      return snapshotDamaged(survey);
    default:
      throw new Error(`The case "${label}" is not a refusal.`);
  }
}

function journalMissing(
  { mark, beginning, facts, snapshot }: FolderSurvey,
  folder: DataFolder,
): DataFolderError {
  assert(
    facts.mark !== 'absent' || facts.beginning !== 'absent',
    'a journal that is missing was seen before',
  );
  const extent = mark === null ? 'events' : `events up to ${mark.lastId}`;
  const witness = facts.mark === 'absent' ? LOG_BEGINNING_FILE_NAME : MARK_FILE_NAME;
  const first = beginning === null ? '' : `, from ${segmentFileName(beginning.firstId)} on`;
  const problem = `The journal is missing${first}: ${witness} says that ${extent} had been written`;
  const details = { file: folder.journal, lastGoodEventId: snapshot?.id ?? 0, advice: ADVICE_MISSING };
  return new DataFolderError(problem, details);
}

function journalBeginsLate({ beginning, journal }: FolderSurvey, folder: DataFolder): DataFolderError {
  assert(journal.firstId !== null, 'a journal that begins late has a beginning');
  assert(beginning !== null || journal.firstId > 1, 'a journal that begins with event 1 needs no record');
  if (beginning === null) return missingRecord(folder, journal.firstId);
  const { firstId } = beginning;
  if (journal.firstId > firstId) return missingBeginning(folder, firstId, journal.firstId);
  const extent = `the log begins with event ${firstId}, and the journal has the events from ${journal.firstId} to ${journal.lastId}`;
  const problem = `The journal and ${LOG_BEGINNING_FILE_NAME} do not belong together: ${extent}`;
  const file = join(folder.root, LOG_BEGINNING_FILE_NAME);
  return new DataFolderError(problem, { file, lastGoodEventId: firstId - 1, advice: ADVICE_MISSING });
}

function missingRecord(folder: DataFolder, foundId: number): DataFolderError {
  const problem =
    `${LOG_BEGINNING_FILE_NAME} is missing, and the journal begins with event ${foundId}: ` +
    `only that file tells whether retention deleted the events before it`;
  const file = join(folder.root, LOG_BEGINNING_FILE_NAME);
  return new DataFolderError(problem, { file, advice: ADVICE_MISSING });
}

/** The log is recorded to begin with event `firstId`, and the oldest segment begins with event `foundId`. */
export function missingBeginning(folder: DataFolder, firstId: number, foundId: number): DataFolderError {
  assert(foundId > firstId, 'the events that are missing come before those that were found');
  const problem = `The journal file with which the log begins is missing, and with it the events from ${firstId} to ${foundId - 1}`;
  const file = join(folder.journal, segmentFileName(firstId));
  return new DataFolderError(problem, { file, lastGoodEventId: firstId - 1, advice: ADVICE_MISSING });
}

function journalBehindMark({ journal, mark }: FolderSurvey, folder: DataFolder): DataFolderError {
  assert(mark !== null && journal.end !== null, 'a journal behind the mark has both');
  const lost = `events up to ${mark.lastId} had been on disk`;
  const problem =
    journal.lastId < mark.lastId
      ? `The journal is damaged: it is intact only up to event ${journal.lastId}, and ${lost}`
      : `The journal and ${MARK_FILE_NAME} do not belong together: the frame of event ${mark.lastId} differs`;
  const file = join(folder.journal, segmentFileName(journal.end.segment));
  const details = {
    file,
    offset: journal.end.offset,
    lastGoodEventId: journal.lastId,
    advice: ADVICE_DAMAGED,
  };
  return new DataFolderError(problem, details);
}

function journalBehindSnapshot({ journal, facts }: FolderSurvey, folder: DataFolder): DataFolderError {
  assert(journal.end !== null, 'a journal behind a snapshot exists');
  assert(journal.lastId < facts.newestSnapshotId, 'a journal behind a snapshot ends before it');
  const problem = `The journal ends with event ${journal.lastId}, before the snapshot of event ${facts.newestSnapshotId}`;
  const file = join(folder.journal, segmentFileName(journal.end.segment));
  const details = {
    file,
    offset: journal.end.offset,
    lastGoodEventId: journal.lastId,
    advice: ADVICE_DAMAGED,
  };
  return new DataFolderError(problem, details);
}

function journalStartsLate({ facts, badSnapshots }: FolderSurvey, folder: DataFolder): DataFolderError {
  const from = facts.newestGoodSnapshotId + 1;
  assert(facts.firstId > from, 'the events that are missing come before the journal');
  const bad = badSnapshots.map(
    ({ path, problem, offset }) => ` ${path} is damaged (${problem} at ${offset}).`,
  );
  const problem = `The events from ${from} to ${facts.firstId - 1} are in no journal file and no good snapshot.${bad.join('')}`;
  const file = join(folder.journal, segmentFileName(facts.firstId));
  const lastGoodEventId = facts.newestGoodSnapshotId;
  return new DataFolderError(problem, { file, offset: 0, lastGoodEventId, advice: ADVICE_DAMAGED });
}

function snapshotForeign({ snapshot, journal, facts }: FolderSurvey): DataFolderError {
  assert(snapshot !== null, 'a foreign snapshot is a snapshot');
  assert(!facts.holdsSnapshotFrame, 'the journal has another frame where a foreign snapshot ends');
  const problem = `The snapshot and the journal do not belong together: event ${snapshot.id} differs between them`;
  const details = {
    file: snapshot.path,
    offset: 12,
    lastGoodEventId: journal.lastId,
    advice: ADVICE_DAMAGED,
  };
  return new DataFolderError(problem, details);
}

function snapshotDamaged({ badSnapshots, snapshot }: FolderSurvey): DataFolderError {
  const [newest] = badSnapshots;
  assert(newest !== undefined, 'there is a damaged snapshot');
  assert(newest.id > (snapshot?.id ?? 0), 'the damaged snapshot is newer than any good one');
  const problem = `There is no journal, and the newest snapshot is damaged: ${newest.problem}`;
  const details = { file: newest.path, offset: newest.offset, lastGoodEventId: snapshot?.id ?? 0 };
  return new DataFolderError(problem, { ...details, advice: ADVICE_DAMAGED });
}
