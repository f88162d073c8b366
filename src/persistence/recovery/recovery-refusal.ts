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
  const { journal, mark, snapshot, badSnapshots, facts } = survey;
  const refused = (
    problem: string,
    file: string,
    lastGoodEventId: number,
    offset?: number,
  ): DataFolderError =>
    new DataFolderError(problem, {
      ...{ file, lastGoodEventId, advice: ADVICE_DAMAGED },
      ...(offset !== undefined && { offset }),
    });
  /** The journal ends too early. */
  const atEnd = (problem: string): DataFolderError => {
    assert(journal.end !== null, 'a journal that ends too early has an end');
    const file = join(folder.journal, segmentFileName(journal.end.segment));
    return refused(problem, file, journal.lastId, journal.end.offset);
  };
  switch (label) {
    case 'journal-damaged':
      assert(journal.damage !== null, 'a damaged journal says where');
      return journal.damage;
    case 'journal-missing':
      return journalMissing(survey, folder);
    case 'journal-begins-late':
      return journalBeginsLate(survey, folder);
    case 'journal-behind-mark': {
      assert(mark !== null, 'a journal behind the mark has one');
      const { lastId } = mark;
      return atEnd(
        journal.lastId < lastId
          ? `The journal is damaged: it is intact only up to event ${journal.lastId}, and events up to ${lastId} had been on disk`
          : `The journal and ${MARK_FILE_NAME} do not belong together: the frame of event ${lastId} differs`,
      );
    }
    case 'journal-behind-snapshot':
      assert(journal.lastId < facts.newestSnapshotId, 'a journal behind a snapshot ends before it');
      return atEnd(
        `The journal ends with event ${journal.lastId}, before the snapshot of event ${facts.newestSnapshotId}`,
      );
    case 'journal-starts-late': {
      const from = facts.newestGoodSnapshotId + 1;
      assert(facts.firstId > from, 'the events that are missing come before the journal');
      const bad = badSnapshots.map(
        ({ path, problem, offset }) => ` ${path} is damaged (${problem} at ${offset}).`,
      );
      const problem = `The events from ${from} to ${facts.firstId - 1} are in no journal file and no good snapshot.${bad.join('')}`;
      return refused(problem, join(folder.journal, segmentFileName(facts.firstId)), from - 1, 0);
    }
    case 'snapshot-foreign': {
      assert(snapshot !== null, 'a foreign snapshot is a snapshot');
      const problem = `The snapshot and the journal do not belong together: event ${snapshot.id} differs between them`;
      return refused(problem, snapshot.path, journal.lastId, 12);
    }
    case 'snapshot-only-damaged': {
      const [newest] = badSnapshots;
      assert(newest !== undefined, 'there is a damaged snapshot');
      const problem = `There is no journal, and the newest snapshot is damaged: ${newest.problem}`;
      return refused(problem, newest.path, snapshot?.id ?? 0, newest.offset);
    }
    default:
      throw new Error(`The case "${label}" is not a refusal.`);
  }
}

function journalMissing(
  { mark, beginning, facts, snapshot }: FolderSurvey,
  folder: DataFolder,
): DataFolderError {
  const extent = mark === null ? 'events' : `events up to ${mark.lastId}`;
  const witness = facts.mark === 'absent' ? LOG_BEGINNING_FILE_NAME : MARK_FILE_NAME;
  const first = beginning === null ? '' : `, from ${segmentFileName(beginning.firstId)} on`;
  const problem = `The journal is missing${first}: ${witness} says that ${extent} had been written`;
  const details = { file: folder.journal, lastGoodEventId: snapshot?.id ?? 0, advice: ADVICE_MISSING };
  return new DataFolderError(problem, details);
}

function journalBeginsLate(
  { beginning, journal: { firstId, lastId } }: FolderSurvey,
  folder: DataFolder,
): DataFolderError {
  assert(firstId !== null, 'a journal that begins late has a beginning');
  const file = join(folder.root, LOG_BEGINNING_FILE_NAME);
  if (beginning === null) {
    const problem = `${LOG_BEGINNING_FILE_NAME} is missing, and the journal begins with event ${firstId}: only that file tells whether retention deleted the events before it`;
    return new DataFolderError(problem, { file, advice: ADVICE_MISSING });
  }
  if (firstId > beginning.firstId) return missingBeginning(folder, beginning.firstId, firstId);
  const problem = `The journal and ${LOG_BEGINNING_FILE_NAME} do not belong together: the log begins with event ${beginning.firstId}, and the journal has the events from ${firstId} to ${lastId}`;
  return new DataFolderError(problem, {
    ...{ file, lastGoodEventId: beginning.firstId - 1, advice: ADVICE_MISSING },
  });
}

/** The log is recorded to begin with event `firstId`, and the oldest segment begins with event `foundId`. */
export function missingBeginning(folder: DataFolder, firstId: number, foundId: number): DataFolderError {
  assert(foundId > firstId, 'the events that are missing come before those that were found');
  const problem = `The journal file with which the log begins is missing, and with it the events from ${firstId} to ${foundId - 1}`;
  const file = join(folder.journal, segmentFileName(firstId));
  return new DataFolderError(problem, { file, lastGoodEventId: firstId - 1, advice: ADVICE_MISSING });
}
