/**
 * The layout of a data folder: `journal/` and `snapshots/` below it, and the names in them.
 *
 *   data/flagstaff.lock                        held by the process that has the folder open (folder-lock.ts)
 *   data/flagstaff.sock                        how commands reach that process (src/control/control-protocol.ts)
 *   data/log.beginning                         with which event the journal begins (log-beginning.ts)
 *   data/log.history                           which history the journal tells, and who decides it (log-history.ts)
 *   data/history.heads, data/history.key       signed heads of the history, and the key (src/addons/audit/)
 *   data/journal/<first event id>.journal      the events themselves, never rewritten (segment.ts)
 *   data/journal/<first event id>.index        derived from the segment, may be deleted at any time
 *   data/journal/durable.mark                  how far the journal was on disk for certain (durable-mark.ts)
 *   data/snapshots/<last event id>.snapshot    the whole state as of that event (snapshot-format.ts)
 *   data/usage/<what>.usage                    what applications reported, may be deleted (src/addons/usage/usage.ts)
 *   data/repaired.tmp, data/damaged-<time>     what a repair makes, and what it found (unfinished-repair.ts)
 *
 * Names that end in `.tmp` are unfinished and removed at the next start; those that end in `.damaged` were set aside
 * and are never touched again. Other names are reported and left alone.
 */
import { dirname, join } from 'node:path';
import type { FileSystem } from './file-system.ts';

export const TEMPORARY_SUFFIX = '.tmp';
export const DAMAGED_SUFFIX = '.damaged';

export interface DataFolder {
  readonly root: string;
  readonly journal: string;
  readonly snapshots: string;
  /** The file of what applications reported; made when the first of it is written. */
  readonly usage: string;
}

export function dataFolder(root: string): DataFolder {
  return {
    root,
    journal: join(root, 'journal'),
    snapshots: join(root, 'snapshots'),
    usage: join(root, 'usage'),
  };
}

/** Creates the folders and syncs their names. A power cut would otherwise take back a folder with a segment in it. */
export async function createDataFolder(fs: FileSystem, folder: DataFolder): Promise<void> {
  if ((await fs.exists(folder.journal)) && (await fs.exists(folder.snapshots))) return;
  await fs.makeFolder(folder.journal);
  await fs.makeFolder(folder.snapshots);
  await fs.syncFolder(folder.root);
  await fs.syncFolder(dirname(folder.root));
}

/**
 * Gives a damaged file a name that nothing reads and nothing has yet: `<file>.damaged`, or `<file>.2.damaged` and so on. Returns
 * it. Its folder is not synced.
 */
export async function setAside(fs: FileSystem, file: string): Promise<string> {
  let aside = `${file}${DAMAGED_SUFFIX}`;
  for (let number = 2; await fs.exists(aside); number += 1) aside = `${file}.${number}${DAMAGED_SUFFIX}`;
  await fs.rename(file, aside);
  return aside;
}

/**
 * The error for a data folder on which the server does not start.
 *
 * Its catcher stops the process and leaves the folder as it was. The message names the file,
 * the place in it, the last good event, and what the operator can do.
 */

interface DataFolderProblem {
  /** Path of the file at fault, or of the folder when a file is missing. */
  readonly file: string;
  /** Byte offset in `file` of the first byte that cannot be trusted, where there is one. */
  readonly offset?: number;
  /** Id of the last event known to be whole before the problem; 0 when none is. */
  readonly lastGoodEventId?: number;
  /** Tells the operator what to do, as a sentence. */
  readonly advice: string;
  readonly cause?: unknown;
}

export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
  /** The fault, without the place and the advice. */
  readonly problem: string;
  readonly file: string;
  readonly offset: number | null;
  readonly lastGoodEventId: number | null;
  readonly advice: string;

  constructor(problem: string, details: DataFolderProblem) {
    super(sentence(problem, details), details.cause === undefined ? {} : { cause: details.cause });
    this.problem = problem;
    this.file = details.file;
    this.offset = details.offset ?? null;
    this.lastGoodEventId = details.lastGoodEventId ?? null;
    this.advice = details.advice;
  }
}

/** Damage that shows while the server runs, in what its start did not read. It ends, and the next start refuses. */
export class DamagedHistoryError extends DataFolderError {}

function sentence(problem: string, { file, offset, lastGoodEventId, advice }: DataFolderProblem): string {
  const where = offset === undefined ? file : `${file}, offset ${offset}`;
  const good = lastGoodEventId === undefined ? '' : ` The last event known to be good is ${lastGoodEventId}.`;
  return `${problem} (${where}).${good} ${advice}`;
}

interface NewerFormat {
  readonly file: string;
  /** The place of the version in the file. */
  readonly offset: number;
  readonly version: number;
  /** The newest version that this server knows. */
  readonly known: number;
  /** The kind of the version, when it is not that of a format. */
  readonly of?: 'content version' | 'replay rule';
}

/** The refusal of what a newer version of the server has written. */
export function newerFormat(
  what: string,
  { file, offset, version, known, of }: NewerFormat,
): DataFolderError {
  const problem = `${what} has ${of ?? 'format'} ${version}, this server knows ${known}`;
  return new DataFolderError(problem, { file, offset, advice: ADVICE_NEWER });
}

export const ADVICE_NEWER =
  'Nothing was changed. Start the version of the server that wrote it, or a newer one.';

/** Advice for every kind of damage. Nothing has been changed yet, and nothing should be before there is a copy. */
export const ADVICE_DAMAGED =
  'Nothing was changed. "flagstaff verify" names every damage, and "flagstaff repair" shows what each way to repair it keeps, and asks: ' +
  '"flagstaff repair --from <backup>" takes what is lost from a copy, and keeps all the rest.';
