/** The segment files of a journal: which there are, and one of them opened for reading, its header decoded. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import {
  type FileSystem,
  isUnreadable,
  type OpenFile,
  readLeniently,
  UNREADABLE,
  unlessMissing,
  withFile,
} from '../disk/file-system.ts';
import {
  decodeSegmentHeader,
  idInFileName,
  SEGMENT_HEADER_BYTES,
  SEGMENT_SUFFIX,
  type SegmentHeader,
  segmentFileName,
} from './segment.ts';

export interface JournalSource {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
}

export interface OpenSegment {
  readonly path: string;
  readonly file: OpenFile;
  /** Id of its first event, from the name. */
  readonly firstId: number;
  /** Null when it is damaged, or not written yet. */
  readonly header: SegmentHeader | null;
}

/** First event ids of the segments, in order; empty when there is no journal. */
export async function listSegments({ fs, folder }: JournalSource): Promise<readonly number[]> {
  const names = await unlessMissing(fs.list(folder), []);
  const ids = names.map((name) => idInFileName(name, SEGMENT_SUFFIX)).filter((id) => id !== null);
  assert(
    ids.every((id, at) => at === 0 || id > ids[at - 1]!),
    'segments are listed in the order of their events',
  );
  return ids;
}

/**
 * Opens a segment for the duration of `use`. Throws `DataFolderError` when a newer version wrote its header, and when
 * the disk cannot read it (`isUnreadableSegment`) in a place where the rest of its contents is unknown.
 */
export async function withSegment<T>(
  { fs, folder }: JournalSource,
  firstId: number,
  use: (segment: OpenSegment) => Promise<T>,
): Promise<T> {
  const path = join(folder, segmentFileName(firstId));
  try {
    return await withFile(fs, path, async (file) =>
      use({ path, file, firstId, header: await readSegmentHeader(file, path) }),
    );
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    const details = { file: path, offset: 0, lastGoodEventId: firstId - 1, advice: ADVICE_DAMAGED, cause };
    throw new DataFolderError(`A journal file cannot be opened: ${UNREADABLE}`, details);
  }
}

export const isUnreadableSegment = (error: unknown): error is DataFolderError =>
  error instanceof DataFolderError && isUnreadable(error.cause);

/** Null when it is damaged, or not written yet. Throws when a newer version wrote it. */
export async function readSegmentHeader(file: OpenFile, path: string): Promise<SegmentHeader | null> {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  const { count } = await readLeniently(file, bytes, bytes.length, 0);
  return decodeSegmentHeader(bytes.subarray(0, count), path);
}
