/**
 * Makes a damaged file of a node's journal anew from the archive.
 *
 * The frames are proven to be those that stood there: the checksum of each covers that of the one before it, and the last one has
 * the checksum with which this node began its next file. The new file takes the place of the damaged one at once, so a
 * crash leaves one of them whole or as it was.
 *
 * One file of journal and one of the archive are in memory meanwhile.
 *
 * The newest file is never mended: nothing says where it should end. A node that cannot start because of it begins with an empty
 * folder (join.ts).
 */
import { join } from 'node:path';
import type { DataFolder } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { replaceFile } from '../../persistence/disk/write-fully.ts';
import { type SegmentHeader, segmentFileName } from '../../persistence/journal/segment.ts';
import { listSegments, withSegment } from '../../persistence/journal/segment-file.ts';
import { firstRun, readArchiveIndex } from './archive-index.ts';
import { framesIn, payloadOf, SegmentBuilder } from './archived-frames.ts';
import type { FileArchive } from './file-archive.ts';

export interface MendOptions {
  readonly fs: FileSystem;
  readonly folder: DataFolder;
  readonly archive: FileArchive;
  /** The history of the journal; null where it has no name. */
  readonly history: string | null;
  /** Resolves when other work has had its turn; called after each millisecond's work or so. */
  rest(): Promise<void>;
}

/** Frames between two rests: at most some hundred kilobytes in most journals. */
const FRAMES_AT_ONCE = 256;

/**
 * Whether the file that begins with event `firstId` was made anew. False where the archive has not all of it, or something else;
 * then nothing was changed. Throws `ArchiveDamageError` where an archived file is damaged, and what the disk or the archive throws.
 */
export async function mendSegment(options: MendOptions, firstId: number): Promise<boolean> {
  const { fs, folder } = options;
  const next = await headerBehind(options, firstId);
  if (next === null) return false;
  const made = await framesUpTo(options, firstId, next.firstId);
  if (made === null || made.chain !== next.chain) return false;
  const path = join(folder.journal, segmentFileName(firstId));
  // Retention may have removed it meanwhile.
  if (!(await fs.exists(path))) return false;
  await replaceFile(fs, path, made.pieces(), { durable: true });
  return true;
}

/** The header of the file behind one; null where there is none, or it is damaged too. */
async function headerBehind(
  { fs, folder }: Pick<MendOptions, 'fs' | 'folder'>,
  firstId: number,
): Promise<SegmentHeader | null> {
  const source = { fs, folder: folder.journal };
  const segments = await listSegments(source);
  const next = segments[segments.indexOf(firstId) + 1];
  if (!segments.includes(firstId) || next === undefined) return null;
  return withSegment(source, next, async ({ header }) => (header?.firstId === next ? header : null));
}

/** A file of the archived frames from event `firstId` up to event `endId`, which it leaves out; null where the archive does not have them all. */
async function framesUpTo(
  { archive, history, rest }: MendOptions,
  firstId: number,
  endId: number,
): Promise<SegmentBuilder | null> {
  const index = readArchiveIndex(await archive.list());
  if (history !== null && index.history !== null && index.history !== history) return null;
  const run = firstRun(index);
  if (run === null || run.firstId > firstId || run.lastId < endId - 1) return null;
  let builder: SegmentBuilder | null = null;
  let reached = firstId - 1;
  for (const segment of run.segments) {
    if (segment.lastId <= reached || segment.firstId >= endId) continue;
    const bytes = await archive.get(segment.name);
    if (bytes === null) return null;
    for (const frame of framesIn(bytes, segment)) {
      if (frame.id <= reached || frame.id >= endId) continue;
      builder ??= new SegmentBuilder(firstId, frame.previous);
      if (frame.previous !== builder.chain) return null;
      builder.add({ ...frame, payload: payloadOf(bytes, frame) });
      if (builder.frames % FRAMES_AT_ONCE === 0) await rest();
    }
    reached = segment.lastId;
  }
  return builder;
}
