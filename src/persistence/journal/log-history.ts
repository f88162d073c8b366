/**
 * The history of a journal, `log.history` in the data folder: a random id from before the first event, and what
 * decided its events last, the disk of this node alone or the log of a cluster.
 *
 * Journals of different histories can have the same ids of events. This id distinguishes them: the log of a cluster, its records
 * and its archive carry it too, so a node never follows another history than its own. The last batch of a journal that
 * a log decides may never have happened, and is cut off where the log does not have it. One that the disk decided
 * was acknowledged, and is never cut off.
 *
 * Format 1, 58 bytes of text: "FLAGHIST 1", the id as 32 hexadecimal digits, "disk" or "log " and the CRC-32 of all before it
 * as eight hexadecimal digits, each behind a space but the first, and a newline. Sample:
 *
 *   FLAGHIST 1 00112233445566778899aabbccddeeff disk 0cc20cb7
 *
 * History: 1, the first. A folder of release 0.2.0 gets one at its next start.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type FileSystem, isUnreadable, readLeniently, withFile } from '../disk/file-system.ts';
import { replaceFile } from '../disk/write-fully.ts';

export const LOG_HISTORY_FILE_NAME = 'log.history';

const FILE_BYTES = 58;
const CHECKSUM_AT = 49;
assert(CHECKSUM_AT + 8 + 1 === FILE_BYTES, 'the checksum covers all of the file before it');
const PATTERN = /^FLAGHIST 1 ([0-9a-f]{32}) (disk|log ) ([0-9a-f]{8})\n$/;

export interface LogHistory {
  /** 32 hexadecimal digits; null where the file is damaged. */
  readonly id: string | null;
  readonly decidedBy: 'disk' | 'log';
}

/** An id that no other history has. */
export const newHistoryId = (): string => randomBytes(16).toString('hex');

/**
 * Null where there is no file; `folder` is the data folder. A damaged file stands for the less dangerous case, that all was
 * acknowledged.
 */
export async function readLogHistory(fs: FileSystem, folder: string): Promise<LogHistory | null> {
  const path = join(folder, LOG_HISTORY_FILE_NAME);
  if (!(await fs.exists(path))) return null;
  const bytes = Buffer.alloc(FILE_BYTES);
  try {
    await withFile(fs, path, (file) => readLeniently(file, bytes, FILE_BYTES, 0));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
  const [, id, decidedBy, checksum] = PATTERN.exec(bytes.toString('latin1')) ?? [];
  const isGood = id !== undefined && checksum === checksumOf(bytes);
  return isGood ? { id, decidedBy: decidedBy === 'disk' ? 'disk' : 'log' } : { id: null, decidedBy: 'disk' };
}

/** Durable when it resolves; leaves the file alone where it is equal. `folder` is the data folder. */
export async function writeLogHistory(
  fs: FileSystem,
  folder: string,
  history: LogHistory & { readonly id: string },
): Promise<void> {
  const { id, decidedBy } = history;
  const before = await readLogHistory(fs, folder);
  if (before !== null && before.id === id && before.decidedBy === decidedBy) return;
  const head = Buffer.from(`FLAGHIST 1 ${id} ${decidedBy.padEnd(4)} `, 'latin1');
  const bytes = Buffer.concat([head, Buffer.from(`${checksumOf(head)}\n`, 'latin1')]);
  await replaceFile(fs, join(folder, LOG_HISTORY_FILE_NAME), bytes, { durable: true });
}

const checksumOf = (bytes: Buffer): string =>
  crc32(bytes.subarray(0, CHECKSUM_AT)).toString(16).padStart(8, '0');

/** Says that the disk of this node decides from now on. Returns whether a log has decided before. */
export async function decideAlone(fs: FileSystem, folder: string): Promise<boolean> {
  const before = await readLogHistory(fs, folder);
  await writeLogHistory(fs, folder, { id: before?.id ?? newHistoryId(), decidedBy: 'disk' });
  return before?.decidedBy === 'log';
}
