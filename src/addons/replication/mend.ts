/**
 * Restores a damaged file of a node's journal from the archive. The new file takes the place of the damaged one at once, so a crash
 * leaves one of them whole or as it was.
 *
 * One file of the archive is in memory meanwhile.
 *
 * The newest file is never mended while a node runs: nothing says where it should end. A node that cannot start because of it begins with
 * an empty folder (join.ts).
 */
import { join } from 'node:path';
import { type DataFolder, TEMPORARY_SUFFIX } from '../../persistence/disk/data-folder.ts';
import type { FileSystem } from '../../persistence/disk/file-system.ts';
import { lastEventId } from '../../persistence/journal/frame.ts';
import { decodePayload } from '../../persistence/journal/frame-payload.ts';
import {
  ForeignFrameError,
  type FrameSource,
  type RangeReading,
  writeMended,
} from '../../persistence/journal/mended-segment.ts';
import { type SegmentHeader, segmentFileName } from '../../persistence/journal/segment.ts';
import { listSegments, withSegment } from '../../persistence/journal/segment-file.ts';
import { type ArchivedSegment, haveAll, readArchiveIndex } from './archive-index.ts';
import { type ArchivedFrame, doesNotFollow, framesIn, payloadOf, SegmentReader } from './archived-frames.ts';
import type { FileArchive, ReadArchive } from './file-archive.ts';

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
 * Whether the file that begins with event `firstId` was restored. False where the archive has not all of it, or something else;
 * then nothing was changed. Throws `ArchiveDamageError` where no archived file has the events whole, and what the disk or the archive throws.
 */
export async function mendSegment(options: MendOptions, firstId: number): Promise<boolean> {
  const { fs, folder } = options;
  const next = await headerBehind(options, firstId);
  if (next === null) return false;
  const path = join(folder.journal, segmentFileName(firstId));
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  if (await fs.exists(temporary)) await fs.remove(temporary);
  // Retention may have removed the file meanwhile.
  if ((await isMade(options, { firstId, next, temporary })) && (await fs.exists(path))) {
    await fs.rename(temporary, path);
    await fs.syncFolder(folder.journal);
    return true;
  }
  await fs.remove(temporary);
  return false;
}

interface Making {
  readonly firstId: number;
  readonly next: SegmentHeader;
  readonly temporary: string;
}

async function isMade(
  { fs, archive, history, rest }: MendOptions,
  { firstId, next, temporary }: Making,
): Promise<boolean> {
  const source = archiveSource(archive, history);
  let isWhole = false;
  const fill = async (reading: Pick<RangeReading, 'take' | 'rest'>): Promise<void> => {
    const resting = async (): Promise<void> => {
      await reading.rest();
      await rest();
    };
    isWhole = await source.read({ from: firstId, to: next.firstId - 1, ...reading, rest: resting });
    if (!isWhole) throw new ForeignFrameError(firstId, 'the archive does not have it');
  };
  try {
    const file = await fs.open(temporary, 'create');
    return (await writeMended({ firstId, file, fill })) === next.chain;
  } catch (error) {
    if (error instanceof ForeignFrameError) return false;
    throw error;
  }
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

/** The frames of an archive, if it is of this history; null where the history has no name. */
export const archiveSource = (archive: ReadArchive, history: string | null): FrameSource => ({
  name: 'The archive',
  read: (reading) => readArchive(archive, history, reading),
});

async function readArchive(
  archive: ReadArchive,
  history: string | null,
  { from, to, take, rest }: RangeReading,
): Promise<boolean> {
  const index = readArchiveIndex(await archive.list());
  if (history !== null && index.history !== null && index.history !== history) return false;
  const { segments } = index;
  if (!haveAll(segments, { firstId: from, lastId: to })) return false;
  let reached = from - 1;
  let chain: number | null = null;
  let frames = 0;
  const takeFrom = async (bytes: Buffer, segment: ArchivedSegment): Promise<void> => {
    let last: ArchivedFrame | null = null;
    try {
      for (const frame of framesIn(bytes, segment)) {
        if (frame.id <= reached || frame.id > to) continue;
        if (chain !== null && frame.previous !== chain) throw doesNotFollow(segment, reached);
        take({ ...frame, payload: payloadOf(bytes, frame) });
        last = frame;
        chain = frame.checksum;
        frames += 1;
        if (frames % FRAMES_AT_ONCE === 0) await rest();
      }
      reached = segment.lastId;
    } catch (error) {
      // The frames before the damage are good, and another segment may go on behind them.
      if (last !== null) reached = lastIdOf(bytes, last);
      throw error;
    }
    await rest();
  };
  const reader = new SegmentReader(archive, segments);
  while (reached < to) if (!(await reader.tryOne(reached + 1, takeFrom))) return false;
  return frames > 0;
}

function lastIdOf(bytes: Buffer, frame: ArchivedFrame): number {
  const decoded = decodePayload(payloadOf(bytes, frame), frame);
  return decoded.problem === null ? lastEventId(decoded.frame) : frame.id;
}
