/**
 * The index of an archive, read from the names of its files.
 *
 *   segment.<first event id>-<last event id>.<checksum of the last frame>    a whole segment file (segment.ts)
 *   snapshot.<event id>.<start of the node>.<part>-of-<parts>                a part of a snapshot file, from 1 on
 *   history.<id>                                                             empty: the history that all of it belongs to
 *
 * Ids have 20 digits, checksums and starts eight hexadecimal ones. Several leaders may have archived the same events in
 * other segments; what overlaps says the same. A snapshot is good for use when all parts of one start are there.
 */
import { paddedId } from '../../persistence/journal/segment.ts';
import type { ArchivedFile } from './file-archive.ts';

export interface ArchivedSegment extends ArchivedFile {
  readonly firstId: number;
  readonly lastId: number;
  /** Checksum of its last frame. */
  readonly chain: number;
}

export interface ArchivedSnapshot {
  readonly id: number;
  /** All of them, in order. */
  readonly parts: readonly ArchivedFile[];
}

export interface ArchiveIndex {
  /** Null in an archive of release 0.2.0, and in an empty one. */
  readonly history: string | null;
  /** By their first events. */
  readonly segments: readonly ArchivedSegment[];
  /** Oldest first. */
  readonly snapshots: readonly ArchivedSnapshot[];
  /** Parts of snapshots that lack other parts. They are of no use. */
  readonly useless: readonly ArchivedFile[];
}

/** Segments that follow each other without a gap. */
export interface ArchivedRun {
  readonly firstId: number;
  readonly lastId: number;
  readonly chain: number;
  /** Segments in order, each of which reaches further than the one before. */
  readonly segments: readonly ArchivedSegment[];
}

const SEGMENT_NAME = /^segment\.(\d{20})-(\d{20})\.([0-9a-f]{8})$/;
const PART_NAME = /^snapshot\.(\d{20})\.([0-9a-f]{8})\.(\d{1,6})-of-(\d{1,6})$/;

const HISTORY_NAME = /^history\.([0-9a-f]{32})$/;

export const archivedHistoryName = (id: string): string => `history.${id}`;

export const archivedSegmentName = ({
  firstId,
  lastId,
  chain,
}: Omit<ArchivedSegment, keyof ArchivedFile>): string =>
  `segment.${paddedId(firstId)}-${paddedId(lastId)}.${chain.toString(16).padStart(8, '0')}`;

export const snapshotPartName = (id: number, run: string, part: number, parts: number): string =>
  `snapshot.${paddedId(id)}.${run}.${part}-of-${parts}`;

/** Other names are not looked at. */
export function readArchiveIndex(files: readonly ArchivedFile[]): ArchiveIndex {
  const segments: ArchivedSegment[] = [];
  const sets = new Map<
    string,
    { readonly id: number; readonly parts: ArchivedFile[]; readonly wanted: number }
  >();
  let history: string | null = null;
  for (const file of files) {
    history ??= HISTORY_NAME.exec(file.name)?.[1] ?? null;
    const segment = SEGMENT_NAME.exec(file.name);
    if (segment !== null) {
      const [, first, last, chain = ''] = segment;
      segments.push({
        ...file,
        firstId: Number(first),
        lastId: Number(last),
        chain: Number.parseInt(chain, 16),
      });
    }
    const part = PART_NAME.exec(file.name);
    if (part === null) continue;
    const [, id, run, at, wanted] = part;
    const key = `${id} ${run} ${wanted}`;
    const set = sets.get(key) ?? { id: Number(id), parts: [], wanted: Number(wanted) };
    set.parts[Number(at) - 1] = file;
    sets.set(key, set);
  }
  segments.sort((a, b) => a.firstId - b.firstId || b.lastId - a.lastId);
  const all = [...sets.values()].map((set) => ({
    ...set,
    parts: set.parts.filter((part) => part !== undefined),
  }));
  const isWhole = ({ parts, wanted }: (typeof all)[number]): boolean => parts.length === wanted;
  return {
    history,
    segments,
    snapshots: all.filter(isWhole).sort((a, b) => a.id - b.id),
    useless: all.filter((set) => !isWhole(set)).flatMap(({ parts }) => parts),
  };
}

/** Whether all events of a range are in `segments`, which are sorted. */
export function haveAll(
  segments: readonly ArchivedSegment[],
  { firstId, lastId }: Pick<ArchivedSegment, 'firstId' | 'lastId'>,
): boolean {
  let reached = firstId - 1;
  for (const segment of segments)
    if (segment.firstId <= reached + 1) reached = Math.max(reached, segment.lastId);
  return reached >= lastId;
}

/** The segments from the first one on, up to the first gap; null without any. */
export function firstRun({ segments: all }: ArchiveIndex): ArchivedRun | null {
  const [first] = all;
  if (first === undefined) return null;
  const segments = [first];
  for (const segment of all) {
    const { lastId } = segments.at(-1)!;
    if (segment.firstId > lastId + 1) break;
    if (segment.lastId > lastId) segments.push(segment);
  }
  const { lastId, chain } = segments.at(-1)!;
  return { firstId: first.firstId, lastId, chain, segments };
}

/** The last event that the log may forget, so that what it keeps of the archived events takes at least so many bytes. */
export function forgettableId({ segments, firstId }: ArchivedRun, marginBytes: number): number {
  let bytes = 0;
  for (const segment of segments.toReversed()) {
    if (bytes >= marginBytes) return segment.lastId;
    bytes += segment.bytes;
  }
  return firstId - 1;
}
