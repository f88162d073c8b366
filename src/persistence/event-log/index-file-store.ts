/**
 * Loads and saves the index files of the segments, and decides which of them can be trusted.
 *
 * An index file is trusted when its own checksum is right, and when the segment has, at the place of the last covered
 * frame, a frame with the recorded checksum. Through the chain, that frame stands for everything before it.
 *
 * A start of a long log takes only the places of old events from their files, and reads these a second time when the server is ready, for
 * the names of the events. A file that has gone bad or missing meanwhile is replaced by the segment itself.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type FileSystem, isMissing, isUnreadable, withFile } from '../disk/file-system.ts';
import { replaceFile } from '../disk/write-fully.ts';
import type { VouchedPart } from '../journal/deferred-part.ts';
import { frameEnd, type RawFrame } from '../journal/frame-format.ts';
import { paddedId } from '../journal/segment.ts';
import { type JournalSource, type OpenSegment, withSegment } from '../journal/segment-file.ts';
import type { SegmentView } from './event-columns.ts';
import { EventIndex } from './event-index.ts';
import { buildIndexBefore, nameFromSegment, type Restored } from './index-building.ts';
import {
  decodeIndexFile,
  encodeIndexFile,
  fillNames,
  INDEX_FILE_SUFFIX,
  type IndexFile,
} from './index-file.ts';

export interface IndexFileStoreOptions {
  readonly fs: FileSystem;
  /** The journal folder. */
  readonly folder: string;
  readonly index: EventIndex;
  /** Files that cover fewer bytes of their segment are read at once; all are unless given. */
  readonly laterBytesMin?: number | undefined;
  note?(message: string): void;
  yieldToEventLoop(): Promise<void>;
}

export class IndexFileStore {
  readonly #options: IndexFileStoreOptions;
  /** By first id: how many events the index file on disk covers. */
  readonly #saved = new Map<number, number>();
  /** Segments whose names are read later, in order. */
  readonly #unnamed: SegmentView[] = [];
  #saving: Promise<void> = Promise.resolve();

  constructor(options: IndexFileStoreOptions) {
    this.#options = options;
  }

  /** The columns that a trustworthy index file holds for this segment, no frame of which ends behind `end`; or null. */
  async restore(segment: OpenSegment, end: number, mayWait: boolean): Promise<Restored | null> {
    const { firstId } = segment;
    const path = this.#pathOf(firstId);
    const bytes = await readWhole(this.#options.fs, path);
    if (bytes === 'unreadable') {
      this.#options.note?.(`The disk cannot read the index file ${path}, which is rebuilt`);
      return null;
    }
    if (bytes === null) return null;
    const indexFile = decodeIndexFile(bytes);
    const isTrusted =
      indexFile?.firstId === firstId && indexFile.bytesEnd <= end && (await fitsSegment(indexFile, segment));
    const { index, laterBytesMin = Number.POSITIVE_INFINITY } = this.#options;
    const coversAll = indexFile?.bytesEnd === (await segment.file.size());
    const isNamed = !(mayWait && coversAll && (indexFile?.bytesEnd ?? 0) >= laterBytesMin);
    const names = isTrusted && isNamed ? indexFile.names() : [];
    if (!isTrusted || names === null) {
      this.#options.note?.(`The index file ${path} does not match its segment file and is rebuilt`);
      return null;
    }
    this.#saved.set(firstId, indexFile.count);
    const columns = indexFile.toColumns();
    assert(columns.firstId === firstId && columns.bytesEnd <= end, 'an index file covers its own segment');
    if (!isNamed) this.#unnamed.push(columns.view());
    else for (const _ of fillNames(indexFile, names, { index, columns: columns.view().columns }));
    return { columns, chain: indexFile.chain, isNamed };
  }

  /**
   * Reads the names that `restore` has left, and awaits `pause` after each piece of work. Throws a `DataFolderError` where neither an index
   * file nor its segment has them.
   */
  async readNames(pause: () => Promise<void>): Promise<void> {
    const { fs, folder, index, note } = this.#options;
    for (const view of this.#unnamed.splice(0)) {
      const path = this.#pathOf(view.firstId);
      const bytes = await readWhole(fs, path);
      const indexFile = bytes === null || bytes === 'unreadable' ? null : decodeIndexFile(bytes);
      const names = indexFile?.names() ?? null;
      if (indexFile !== null && names !== null && isOf(indexFile, view)) {
        for (const _ of fillNames(indexFile, names, { index, columns: view.columns })) await pause();
        continue;
      }
      note?.(`The index file ${path} has changed since the start, and is rebuilt from its segment file`);
      this.#saved.delete(view.firstId);
      await withSegment({ fs, folder }, view.firstId, (segment) =>
        nameFromSegment({ segment, index }, view, pause),
      );
    }
  }

  /** The frames that a trustworthy index file of the segment covers; null where there is none. */
  async vouch(segment: OpenSegment): Promise<VouchedPart | null> {
    const { firstId } = segment;
    const bytes = await readWhole(this.#options.fs, this.#pathOf(firstId));
    const indexFile = bytes === null || bytes === 'unreadable' ? null : decodeIndexFile(bytes);
    if (indexFile === null || indexFile.firstId !== firstId || indexFile.count === 0) return null;
    const { count, bytesEnd: end, chain, lastOffset } = indexFile;
    return { segment: firstId, lastId: firstId + count - 1, lastOffset, end, chain };
  }

  /** Saves what is not saved yet of the events up to `durableId`; calls queue up, so that two never share a file. */
  save(durableId: number): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveAll(durableId));
    return this.#saving;
  }

  forget(firstIds: readonly number[]): void {
    for (const firstId of firstIds) this.#saved.delete(firstId);
  }

  async #saveAll(durableId: number): Promise<void> {
    for (const view of this.#options.index.views(durableId)) {
      if (view.count === 0 || this.#saved.get(view.firstId) === view.count) continue;
      try {
        await this.#saveOne(view);
        this.#saved.set(view.firstId, view.count);
      } catch (error) {
        const path = this.#pathOf(view.firstId);
        this.#options.note?.(
          `The index file ${path} could not be saved, so the next start takes longer: ${error}`,
        );
      }
    }
  }

  async #saveOne(view: SegmentView): Promise<void> {
    const { fs, folder, index, yieldToEventLoop } = this.#options;
    const lastOffset = view.columns.offset[view.count - 1] ?? 0;
    assert(lastOffset < view.bytesEnd, 'an index file ends behind the last frame that it covers');
    const frame = await withSegment({ fs, folder }, view.firstId, (one) => frameHeaderAt(one, lastOffset));
    if (frame === null) throw new Error(`its segment ends before event ${view.firstId + view.count - 1}`);
    const bytes = await encodeIndexFile(view, { index, chain: frame.checksum, yieldToEventLoop });
    await replaceFile(fs, this.#pathOf(view.firstId), bytes, { durable: false });
  }

  #pathOf(firstId: number): string {
    return join(this.#options.folder, `${paddedId(firstId)}${INDEX_FILE_SUFFIX}`);
  }
}

/** Whether the file has the events whose places were taken from it. */
function isOf(indexFile: IndexFile, { firstId, count, bytesEnd, columns }: SegmentView): boolean {
  const { offset } = indexFile.toColumns().view().columns;
  return (
    indexFile.firstId === firstId &&
    indexFile.count === count &&
    indexFile.bytesEnd === bytesEnd &&
    offset.every((at, row) => at === columns.offset[row])
  );
}

/** Whether the segment has a frame with the recorded checksum where the last one is, and nothing of it behind the recorded end. */
async function fitsSegment(indexFile: IndexFile, segment: OpenSegment): Promise<boolean> {
  const { count, lastOffset, chain, bytesEnd } = indexFile;
  if (count === 0 || bytesEnd > (await segment.file.size())) return false;
  const frame = await frameHeaderAt(segment, lastOffset);
  return frame !== null && frame.checksum === chain && lastOffset + frameEnd(frame) === bytesEnd;
}

async function frameHeaderAt({ file, header }: OpenSegment, offset: number): Promise<RawFrame | null> {
  if (header === null) return null;
  const bytes = Buffer.alloc(header.format.headerBytes);
  const count = await file.read(bytes, 0, bytes.length, offset);
  return header.format.readHeader(bytes.subarray(0, count), 0);
}

async function readWhole(fs: FileSystem, path: string): Promise<Buffer | 'unreadable' | null> {
  try {
    return await withFile(fs, path, async (file) => {
      const size = await file.size();
      const bytes = Buffer.allocUnsafe(size);
      return bytes.subarray(0, await file.read(bytes, 0, size, 0));
    });
  } catch (error) {
    if (isMissing(error)) return null;
    if (isUnreadable(error)) return 'unreadable';
    throw error;
  }
}

/** Whether an index file that a start would trust holds something else than its segment does: a checksum tells only of disks. */
export async function isIndexForged(source: JournalSource, segment: number): Promise<boolean> {
  const bytes = await readWhole(source.fs, join(source.folder, `${paddedId(segment)}${INDEX_FILE_SUFFIX}`));
  const file = bytes === null || bytes === 'unreadable' ? null : decodeIndexFile(bytes);
  if (file === null || file.count === 0 || file.firstId !== segment) return false;
  if (!(await withSegment(source, segment, (open) => fitsSegment(file, open)))) return false;
  const index = new EventIndex();
  const end = { segment, offset: file.bytesEnd, chain: file.chain };
  await buildIndexBefore(
    { segments: [segment], from: end, to: end },
    { ...source, index, restore: async () => null },
  );
  const view = index.viewOf(segment);
  if (view === null || view.count !== file.count) return true;
  const made = await encodeIndexFile(view, {
    index,
    chain: file.chain,
    yieldToEventLoop: async () => undefined,
  });
  return !made.equals(bytes as Buffer);
}
