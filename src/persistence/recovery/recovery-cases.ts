/**
 * The decision table of recovery, which maps what is in a data folder to what is done.
 *
 * First the survey reads everything. Then exactly one of these cases holds. Then the state is loaded, and only after
 * that is anything on disk changed. A refusal therefore leaves the folder as it was.
 *
 *   label                         journal   mark      snapshots                     outcome
 *   fresh                         none      absent    none                          begin with event 1
 *   snapshot-only                 none      absent    newest good                   start from it, warn loudly
 *   snapshot-only-damaged         none      absent    newest bad                    refuse
 *   journal-missing               none      present   any                           refuse
 *   journal-damaged               damaged   any       any                           refuse
 *   journal-begins-late           does not hold where the log begins, any           refuse
 *   journal-behind-mark           ends before the mark, any                         refuse
 *   journal-behind-snapshot       ends before the newest snapshot, good or bad      refuse
 *   journal-starts-late           begins after the newest good one (or after 1)     refuse
 *   snapshot-foreign              does not hold the newest good one's last frame    refuse
 *   journal-only                  good      reached   none                          replay all
 *   journal-instead-of-snapshots  good      reached   all bad                       replay all, set them aside
 *   snapshot-and-journal          good      reached   newest good                   load it, replay the rest
 *   older-snapshot-and-journal    good      reached   newest bad, an older one good load that, set the bad aside
 *
 * "Mark" stands for the durable mark and for the record of where the log begins (log-beginning.ts): one of them proves
 * that there was a journal. Where that record cannot be read, or is missing as in folders of release 0.1.0, the oldest
 * segment counts as the beginning. Where it is missing although a frame is of a format that came with it, the journal
 * begins late, unless it begins with the first event of all. "Good" includes a torn tail, and zeros that no batch has overwritten yet; both are always cut off before anything is
 * appended. Zeros before the mark leave the journal behind the mark, and zeros before a later batch are damage. Even a bad snapshot says how far
 * the state had come, and the journal has to reach at least as far, or something is lost. Files of a newer format,
 * and names that end like the folder's own but are not, are refused by the survey itself.
 */
import assert from 'node:assert/strict';

export interface RecoveryFacts {
  readonly journal: 'none' | 'good' | 'damaged';
  readonly mark: 'absent' | 'unreadable' | 'good';
  /** Whether the mark, if there is one to read, lies within the journal and agrees with it. */
  readonly reachesMark: boolean;
  /** The record of where the log begins. */
  readonly beginning: 'absent' | 'unreadable' | 'good';
  /** Whether the journal has that place and agrees with it; without a record, whether it needs none. */
  readonly holdsBeginning: boolean;
  readonly firstId: number;
  readonly lastId: number;
  /** By its name, good or bad; 0 when there is none. */
  readonly newestSnapshotId: number;
  /** 0 when there is none. */
  readonly newestGoodSnapshotId: number;
  /** Whether the journal holds the frame that the newest good snapshot ends with. */
  readonly holdsSnapshotFrame: boolean;
}

export type RecoveryLabel =
  | 'fresh'
  | 'snapshot-only'
  | 'snapshot-only-damaged'
  | 'journal-missing'
  | 'journal-damaged'
  | 'journal-begins-late'
  | 'journal-behind-mark'
  | 'journal-behind-snapshot'
  | 'journal-starts-late'
  | 'snapshot-foreign'
  | 'journal-only'
  | 'journal-instead-of-snapshots'
  | 'snapshot-and-journal'
  | 'older-snapshot-and-journal';

export interface RecoveryCase {
  readonly label: RecoveryLabel;
  readonly outcome: 'start' | 'refuse';
  readonly holds: (facts: RecoveryFacts) => boolean;
}

const hadJournal = (f: RecoveryFacts): boolean => f.mark !== 'absent' || f.beginning !== 'absent';
const nothingButSnapshots = (f: RecoveryFacts): boolean => f.journal === 'none' && !hadJournal(f);
const begins = (f: RecoveryFacts): boolean => f.journal === 'good' && f.holdsBeginning;
const reaches = (f: RecoveryFacts): boolean => begins(f) && f.reachesMark;
const covers = (f: RecoveryFacts): boolean => reaches(f) && f.lastId >= f.newestSnapshotId;
const joins = (f: RecoveryFacts): boolean => covers(f) && f.firstId <= f.newestGoodSnapshotId + 1;
const fits = (f: RecoveryFacts): boolean =>
  joins(f) && (f.newestGoodSnapshotId === 0 || f.holdsSnapshotFrame);
const newestIsGood = (f: RecoveryFacts): boolean => f.newestSnapshotId === f.newestGoodSnapshotId;
const noneGood = (f: RecoveryFacts): boolean => f.newestGoodSnapshotId === 0;

const start = (label: RecoveryLabel, holds: RecoveryCase['holds']): RecoveryCase => ({
  label,
  outcome: 'start',
  holds,
});
const refuse = (label: RecoveryLabel, holds: RecoveryCase['holds']): RecoveryCase => ({
  label,
  outcome: 'refuse',
  holds,
});

export const RECOVERY_CASES: readonly RecoveryCase[] = [
  start('fresh', (f) => nothingButSnapshots(f) && f.newestSnapshotId === 0),
  start('snapshot-only', (f) => nothingButSnapshots(f) && f.newestSnapshotId > 0 && newestIsGood(f)),
  refuse('snapshot-only-damaged', (f) => nothingButSnapshots(f) && !newestIsGood(f)),
  refuse('journal-missing', (f) => f.journal === 'none' && hadJournal(f)),
  refuse('journal-damaged', (f) => f.journal === 'damaged'),
  refuse('journal-begins-late', (f) => f.journal === 'good' && !begins(f)),
  refuse('journal-behind-mark', (f) => begins(f) && !f.reachesMark),
  refuse('journal-behind-snapshot', (f) => reaches(f) && !covers(f)),
  refuse('journal-starts-late', (f) => covers(f) && !joins(f)),
  refuse('snapshot-foreign', (f) => joins(f) && !fits(f)),
  start('journal-only', (f) => fits(f) && f.newestSnapshotId === 0),
  start('journal-instead-of-snapshots', (f) => fits(f) && noneGood(f) && f.newestSnapshotId > 0),
  start('snapshot-and-journal', (f) => fits(f) && !noneGood(f) && newestIsGood(f)),
  start('older-snapshot-and-journal', (f) => fits(f) && !noneGood(f) && !newestIsGood(f)),
];

const labels = new Set(RECOVERY_CASES.map(({ label }) => label));
assert(labels.size === RECOVERY_CASES.length, 'each case of recovery has a label of its own');

/** The one case that holds. */
export function decideRecovery(facts: RecoveryFacts): RecoveryCase {
  const { journal, firstId, lastId, newestSnapshotId, newestGoodSnapshotId } = facts;
  assert(newestGoodSnapshotId <= newestSnapshotId, 'the newest snapshot is as new as any good one');
  const [holding, ...more] = RECOVERY_CASES.filter(({ holds }) => holds(facts));
  assert(holding !== undefined && more.length === 0, `one case of recovery holds: ${JSON.stringify(facts)}`);
  if (holding.outcome === 'refuse') return holding;
  assert(journal !== 'damaged', 'no start uses a damaged journal');
  const isAlone = journal === 'none';
  assert(isAlone || firstId <= newestGoodSnapshotId + 1, 'a start has every event behind its snapshot');
  assert(isAlone || lastId >= newestSnapshotId, 'a start has every event that a snapshot has had');
  return holding;
}
