/**
 * The ways to repair a damaged folder, and what each keeps. Regardless of their files, frames are put together by their event ids and
 * the checksums that link them. What is in no file, a copy may have; without one the journal is cut there, and one side is kept.
 */
import assert from 'node:assert/strict';
import type { FolderVerification, VerifiedSnapshot } from '../../operations/verify-folder.ts';
import type { EventRange, IntactRun } from '../../operations/verify-journal.ts';
import { SEGMENT_HEADER_BYTES, SEGMENT_VERSION } from '../../persistence/journal/segment.ts';

/** Events that the folder has, as frames that follow each other; or, where `run` is null, events that no frame of it holds. */
export interface Part extends EventRange {
  readonly run: IntactRun | null;
}

/** A way to repair a folder, and what it will have then. */
export interface Way {
  /** Parts that follow each other; none where a snapshot alone is kept. */
  readonly parts: readonly Part[];
  /** The event whose state the folder will have. */
  readonly lastId: number;
  readonly snapshots: readonly VerifiedSnapshot[];
  /** Known events whose changes are lost. */
  readonly lost: EventRange | null;
  /** Events that the state contains and that the event log will no longer show. */
  readonly unlisted: EventRange | null;
}

export interface Ways {
  /** The events that a copy must have. */
  readonly missing: readonly EventRange[];
  /** The way that keeps everything, with what a copy has. */
  readonly whole: Way;
  /** The way to the newest state; null where nothing is left to start from. */
  readonly state: Way | null;
  /** The way that keeps the longest event log; the same one where it has the newest state. */
  readonly history: Way | null;
}

export function waysToRepair(verified: FolderVerification): Ways {
  const { journal, beginning, snapshots } = verified;
  const oldest = [...journal.segments.slice(0, 1), ...journal.runs.slice(0, 1).map(({ firstId }) => firstId)];
  const first = beginning?.firstId ?? (oldest.length === 0 ? 1 : Math.min(...oldest));
  const newest = newestKnown(verified);
  const parts = partsOf(verified, first, newest);
  const wayOf = (kept: readonly Part[], lastId: number, fitting: readonly VerifiedSnapshot[]): Way => {
    const listedFrom = kept[0]?.from ?? lastId + 1;
    return {
      parts: kept,
      lastId,
      snapshots: fitting,
      lost: lastId < newest ? { from: lastId + 1, to: newest } : null,
      unlisted: listedFrom > first ? { from: first, to: listedFrom - 1 } : null,
    };
  };
  const good = snapshots.filter(({ header }) => header !== null);
  const ways = piecesOf(parts).flatMap((piece) => {
    const [{ from }, { to }] = [piece[0]!, piece.at(-1)!];
    const fitting = good
      .filter(({ id }) => id >= from - 1 && id <= to)
      .filter((one) => fits(verified, one, piece));
    return from === 1 || fitting.length > 0 ? [wayOf(piece, to, fitting)] : [];
  });
  for (const snapshot of good) ways.push(wayOf([], snapshot.id, [snapshot]));
  const newerState = (a: Way, b: Way): number => b.lastId - a.lastId;
  const longerLog = (a: Way, b: Way): number => listedFrom(a) - listedFrom(b);
  return {
    missing: parts.filter(({ run }) => run === null).map(({ from, to }) => ({ from, to })),
    whole: wayOf(
      parts,
      newest,
      good.filter((one) => fits(verified, one, parts)),
    ),
    state: ways.toSorted((a, b) => newerState(a, b) || longerLog(a, b))[0] ?? null,
    history: ways.toSorted((a, b) => longerLog(a, b) || newerState(a, b))[0] ?? null,
  };
}

const listedFrom = ({ parts, lastId }: Way): number => parts[0]?.from ?? lastId + 1;

/** The newest event that anything in the folder knows of. */
const newestKnown = ({ mark, recordedId, snapshots, journal }: FolderVerification): number =>
  Math.max(
    mark?.lastId ?? 0,
    recordedId,
    ...snapshots.map(({ id }) => id),
    ...journal.runs.map(({ lastId }) => lastId),
  );

/** All events from the first one of the log to the newest one. */
function partsOf(verified: FolderVerification, first: number, newest: number): readonly Part[] {
  const runs = verified.journal.runs.filter((run) => isMovable(verified, run));
  const parts: Part[] = [];
  let chain: number | null = null;
  for (let next = first; next <= newest; ) {
    const [run = null] = runs
      .filter(({ firstId, lastId }) => firstId <= next && next <= lastId)
      .filter(({ firstId, start }) => firstId < next || chain === null || start.chain === chain)
      .sort((a, b) => Number(b.firstId === next) - Number(a.firstId === next) || b.lastId - a.lastId);
    const to: number =
      run?.lastId ??
      Math.min(newest + 1, ...runs.map(({ firstId }) => firstId).filter((id) => id > next)) - 1;
    parts.push({ run, from: next, to });
    chain = run?.end.chain ?? null;
    next = to + 1;
  }
  assert(
    parts.every(({ from, to }, at) => from <= to && (parts[at + 1]?.from ?? newest + 1) === to + 1),
    'the parts follow each other',
  );
  return parts;
}

/** Frames of release 0.1.0 are only taken over with their file from its beginning. */
const isMovable = ({ journal: { headers } }: FolderVerification, { start }: IntactRun): boolean =>
  (start.offset === SEGMENT_HEADER_BYTES && headers.has(start.segment)) ||
  [...headers.values()].every(({ format }) => format.version === SEGMENT_VERSION);

/** The parts that the folder has, cut where events are missing. */
function piecesOf(parts: readonly Part[]): readonly (readonly Part[])[] {
  const pieces: Part[][] = [];
  for (const [at, part] of parts.entries()) {
    if (part.run === null) continue;
    if (at > 0 && parts[at - 1]!.run !== null) pieces.at(-1)!.push(part);
    else pieces.push([part]);
  }
  return pieces;
}

/** Whether the snapshot ends with the very frame that is kept, where that is there. */
function fits(
  { journal }: FolderVerification,
  { id, header }: VerifiedSnapshot,
  parts: readonly Part[],
): boolean {
  const holding = parts.find(({ from, to }) => from <= id && id <= to);
  if (holding?.run) return journal.checksums.get(id) === header?.chain;
  const following = parts.find(({ from }) => from === id + 1)?.run;
  return following?.firstId !== id + 1 || following.start.chain === header?.chain;
}

export const rangeText = ({ from, to }: EventRange): string =>
  from === to ? `event ${from}` : `the ${to - from + 1} events from ${from} to ${to}`;
