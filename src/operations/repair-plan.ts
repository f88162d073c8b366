/**
 * Plans what a repair keeps of a damaged folder: the state of the newest event that can be reached without a gap, and
 * the part of the event log that is consistent with it.
 *
 * A state can be reached from nothing, or from a good snapshot, along frames that follow each other without a fault.
 * The plan takes the way that reaches the newest event, and among several the one with the longest event log. An operator may prefer the longest event log: the state is older then, and no event before it is lost from the log.
 */
import assert from 'node:assert/strict';
import { SEGMENT_HEADER_BYTES } from '../persistence/journal/segment.ts';
import type { FolderVerification, VerifiedSnapshot } from './verify-folder.ts';
import type { EventRange, IntactRun } from './verify-journal.ts';

export interface RepairPlan {
  /** The snapshot to begin with; null for the empty state before the first event. */
  readonly base: VerifiedSnapshot | null;
  /** The frames that follow it; null when there is only the snapshot. */
  readonly run: IntactRun | null;
  /** The event whose state the folder will have. */
  readonly lastId: number;
  /** The segment that the journal will begin with; null when none is kept. */
  readonly firstSegment: number | null;
  /** Known events whose changes are lost. */
  readonly lost: EventRange | null;
  /** Events that the state contains and that the event log will no longer show. */
  readonly unlisted: EventRange | null;
}

interface Way {
  readonly base: VerifiedSnapshot | null;
  readonly run: IntactRun | null;
  readonly lastId: number;
  readonly firstSegment: number | null;
}

/** The part to keep where not both can be: the newer state, or the event log from further back. */
export const REPAIR_PREFERENCES = ['state', 'history'] as const;
export type RepairPreference = (typeof REPAIR_PREFERENCES)[number];

const newerState = (a: Way, b: Way): number => b.lastId - a.lastId;
const longerHistory = (a: Way, b: Way): number => firstListed(a) - firstListed(b);

/** Null when nothing intact is left to start from. */
export function planRepair(verified: FolderVerification, preference: RepairPreference): RepairPlan | null {
  const runs = joinRuns(verified.journal.runs);
  const ways = [...waysFromNothing(runs), ...waysFromSnapshots(verified, runs)];
  const [best] = ways.sort((a, b) =>
    preference === 'state'
      ? newerState(a, b) || longerHistory(a, b)
      : longerHistory(a, b) || newerState(a, b),
  );
  if (best === undefined) return null;
  const highest = newestKnown(verified);
  assertSound(best, highest);
  const oldest = verified.beginning?.firstId ?? verified.journal.segments[0] ?? best.lastId + 1;
  return {
    ...best,
    lost: highest > best.lastId ? { from: best.lastId + 1, to: highest } : null,
    unlisted: firstListed(best) > oldest ? { from: oldest, to: firstListed(best) - 1 } : null,
  };
}

/** Asserts the invariants of every way; a plan that breaks one would build a folder with a hole. */
function assertSound({ base, run, lastId, firstSegment }: Way, highest: number): void {
  assert(lastId <= highest, 'a repair keeps no event that is not known');
  assert(base !== null || run?.firstId === 1, 'without a snapshot, the frames begin with the first event');
  assert(run === null || lastId === run.lastId, 'the state is that of the last frame');
  assert(
    base === null || run === null || run.firstId <= base.id + 1,
    'the frames hold or follow the event that the snapshot ends with',
  );
  assert(firstSegment === null || run !== null, 'segments are kept for the frames in them');
}

/** The first event that the event log will show. */
const firstListed = ({ firstSegment, lastId }: Way): number => firstSegment ?? lastId + 1;

/**
 * Joins runs of different files that follow each other. Only a damaged header separated them, and it can be written
 * again from the frames behind it.
 */
function joinRuns(runs: readonly IntactRun[]): readonly IntactRun[] {
  const joined: IntactRun[] = [];
  for (const run of runs) {
    const before = joined.at(-1);
    if (before !== undefined && follows(before, run)) {
      before.lastId = run.lastId;
      before.end = run.end;
    } else joined.push({ ...run });
  }
  return joined;
}

const follows = (before: IntactRun, run: IntactRun): boolean =>
  run.firstId === before.lastId + 1 &&
  run.start.chain === before.end.chain &&
  run.start.segment !== before.end.segment &&
  run.start.offset === SEGMENT_HEADER_BYTES;

function waysFromNothing(runs: readonly IntactRun[]): readonly Way[] {
  return runs
    .filter(({ firstId }) => firstId === 1)
    .map((run) => ({ base: null, run, lastId: run.lastId, firstSegment: 1 }));
}

function waysFromSnapshots(verified: FolderVerification, runs: readonly IntactRun[]): readonly Way[] {
  const ways: Way[] = [];
  for (const base of verified.snapshots) {
    if (base.header === null) continue;
    ways.push({ base, run: null, lastId: base.id, firstSegment: null });
    for (const run of runs) {
      if (!joins(verified, base, run)) continue;
      ways.push({ base, run, lastId: run.lastId, firstSegment: firstWholeSegment(verified, run) });
    }
  }
  return ways;
}

/** Whether the run holds, or directly follows, the very frame that the snapshot ends with. */
function joins({ journal }: FolderVerification, { header, id }: VerifiedSnapshot, run: IntactRun): boolean {
  if (header === null || id < run.firstId - 1 || id > run.lastId) return false;
  const chain = id === run.firstId - 1 ? run.start.chain : journal.checksums.get(id);
  return chain === header.chain;
}

/** A segment is kept byte for byte or not at all, because its frames contain their offsets. */
function firstWholeSegment(
  { journal }: FolderVerification,
  { start, end, firstId }: IntactRun,
): number | null {
  if (start.offset === SEGMENT_HEADER_BYTES && start.segment === firstId) return start.segment;
  return journal.segments.find((segment) => segment > start.segment && segment <= end.segment) ?? null;
}

/** The events that no intact frame of the folder holds, from the first one that the log has to the newest one that is known. */
export function lostRanges(verified: FolderVerification): readonly EventRange[] {
  const { journal, beginning } = verified;
  const ranges: EventRange[] = [];
  const first = beginning?.firstId ?? journal.segments[0] ?? 1;
  const newest = newestKnown(verified);
  let next = first;
  for (const { firstId, lastId } of journal.runs) {
    if (firstId > next) ranges.push({ from: next, to: firstId - 1 });
    next = Math.max(next, lastId + 1);
  }
  if (newest >= next) ranges.push({ from: next, to: newest });
  return ranges;
}

/** A way of mending, and what it would keep. */
export interface MendingWay {
  readonly command: string;
  readonly stateOfEvent: number;
  /** Events whose changes would be lost. */
  readonly lost: EventRange | null;
  /** Events that the event log would no longer show. */
  readonly unlisted: EventRange | null;
}

/** The ways of mending a damaged folder, the one that keeps most first. */
export function waysToMend(verified: FolderVerification): readonly MendingWay[] {
  const newest = newestKnown(verified);
  const fromCopy = {
    command: 'flagstaff repair --from <copy>',
    stateOfEvent: newest,
    lost: null,
    unlisted: null,
  };
  const plans = REPAIR_PREFERENCES.map((preference) => ({
    preference,
    plan: planRepair(verified, preference),
  }));
  const ways = plans.flatMap(({ preference, plan }) => {
    if (plan === null) return [];
    const { lastId, lost, unlisted } = plan;
    const command = preference === 'state' ? COMMAND : `${COMMAND} --prefer ${preference}`;
    return [{ command, stateOfEvent: lastId, lost, unlisted }];
  });
  const differ = ways.filter(
    (way, index) =>
      index === 0 || way.stateOfEvent !== ways[0]?.stateOfEvent || way.unlisted?.to !== ways[0]?.unlisted?.to,
  );
  return [fromCopy, ...differ];
}

const COMMAND = 'flagstaff repair';

/** The newest event that anything in the folder knows of. */
export const newestKnown = ({ mark, signed, snapshots, journal }: FolderVerification): number =>
  Math.max(
    mark?.lastId ?? 0,
    signed?.lastId ?? 0,
    ...snapshots.map(({ id }) => id),
    ...journal.runs.map(({ lastId }) => lastId),
  );

export const rangeText = ({ from, to }: EventRange): string =>
  from === to ? `event ${from}` : `the ${to - from + 1} events from ${from} to ${to}`;
