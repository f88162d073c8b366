/**
 * The end of a journal, read before a start opens it: where its last batch begins, the frames of it, and up to which
 * event all is known to have been decided. A node of a cluster compares it with the log that the nodes share, and cuts
 * off what the log has refused.
 *
 * The last batch alone can hold what was never decided: the next one is written only after the one before it was. The
 * durable mark says so too, and of some batches earlier.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { DataFolder } from '../disk/data-folder.ts';
import type { FileSystem, OpenFile } from '../disk/file-system.ts';
import { writeFully } from '../disk/write-fully.ts';
import { readDurableMark } from '../journal/durable-mark.ts';
import { type Boundary, lastEventId } from '../journal/frame.ts';
import { decodePayload, peekId } from '../journal/frame-payload.ts';
import { SEGMENT_HEADER_BYTES, segmentFileName } from '../journal/segment.ts';
import { listSegments, withSegment } from '../journal/segment-file.ts';
import { scanFrames, scanStartOf } from '../journal/segment-scan.ts';
import { listSnapshots, readSnapshotHeader } from '../snapshots/snapshot-files.ts';

/** A place between two frames: behind event `id`, whose frame has the checksum `chain`. */
export interface JournalPlace {
  readonly id: number;
  readonly chain: number;
  /** The start of the next frame; null without a segment. */
  readonly boundary: Boundary | null;
}

export interface JournalEnd {
  /** From before the last batch to behind its last frame, at least one. */
  readonly places: readonly [JournalPlace, ...JournalPlace[]];
  /** All up to this event was decided. */
  readonly committedId: number;
  /** Whether the disk of this node alone decided the last events. */
  readonly isAlone?: boolean;
}

const NOTHING: JournalPlace = { id: 0, chain: 0, boundary: null };

/** Reads the last segment. Damage is not judged here: the start that follows does that. */
export async function readJournalEnd(fs: FileSystem, folder: DataFolder): Promise<JournalEnd> {
  const places = await lastBatch(fs, folder);
  const mark = await readDurableMark(fs, folder.journal);
  const markedId = mark.state === 'good' ? mark.mark.lastId : 0;
  return { places, committedId: Math.max(places[0].id, Math.min(markedId, places.at(-1)!.id)) };
}

async function lastBatch(fs: FileSystem, folder: DataFolder): Promise<[JournalPlace, ...JournalPlace[]]> {
  const source = { fs, folder: folder.journal };
  for (const firstId of (await listSegments(source)).slice(-2).toReversed()) {
    const places = await withSegment(source, firstId, async (segment) => {
      const { header } = segment;
      if (header === null) return null;
      const begin: JournalPlace = {
        ...{ id: firstId - 1, chain: header.chain },
        boundary: { segment: firstId, offset: SEGMENT_HEADER_BYTES, chain: header.chain },
      };
      let found: [JournalPlace, ...JournalPlace[]] = [begin];
      let batchStart = 0;
      let last: Buffer = Buffer.alloc(0);
      let stamp = { contentVersion: 0, rules: 0 };
      const end = await scanFrames(segment, scanStartOf(header), (frame, payload) => {
        const boundary: Boundary = { segment: firstId, offset: frame.offset, chain: frame.previous };
        const place: JournalPlace = { id: (peekId(payload) ?? 0) - 1, chain: frame.previous, boundary };
        if (frame.batchStart !== batchStart) found = [place];
        else found.push(place);
        batchStart = frame.batchStart;
        last = Buffer.from(payload);
        stamp = frame;
        return true;
      });
      if (end.frames === 0) return found;
      const decoded = decodePayload(last, stamp);
      if (decoded.problem !== null) return null;
      const boundary: Boundary = { segment: firstId, offset: end.offset, chain: end.chain };
      found.push({ id: lastEventId(decoded.frame), chain: end.chain, boundary });
      return found;
    });
    if (places !== null) return places;
  }
  return [await newestSnapshotPlace(fs, folder)];
}

async function newestSnapshotPlace(fs: FileSystem, folder: DataFolder): Promise<JournalPlace> {
  const newest = (await listSnapshots(fs, folder.snapshots)).at(-1);
  const header = newest === undefined ? null : await readSnapshotHeader(fs, newest.path);
  return header === null ? NOTHING : { id: header.id, chain: header.chain, boundary: null };
}

/** Cuts off what lies behind the place, durably. May be interrupted and repeated. */
export async function cutJournal(
  fs: FileSystem,
  folder: DataFolder,
  { boundary }: JournalPlace,
): Promise<void> {
  assert(boundary !== null, 'what is cut off lies in a segment');
  assert(boundary.offset >= SEGMENT_HEADER_BYTES, 'a header is never cut off');
  const path = join(folder.journal, segmentFileName(boundary.segment));
  await rewriteTail(fs, { path, from: boundary.offset, to: boundary.offset });
}

// Makes the end of the journal durable before anybody sees it, even after a failed sync. What lies behind it, a torn
// tail or zeros that no batch has overwritten, is cut off.
//
// After a failed sync the kernel may have marked the pages clean without their being on disk. A process started next
// on the same machine reads them all the same, from memory, and its own sync succeeds without writing anything: the
// next power cut would take back what was shown. So the last batch, the only one whose sync may be missing, is
// written once more, over itself with the same bytes, which makes its pages dirty again; then it is synced. The length
// is set for the same reason even where the file seems to have it: a cut whose sync failed would come undone behind
// the next segment, and pass for damage.

/** Bounds the memory that a large last batch takes. */
const PIECE_BYTES = 1024 * 1024;

interface Tail {
  readonly path: string;
  /** Offsets in the file: what lies before `from` is known to be on disk, and `to` is to be the end. */
  readonly from: number;
  readonly to: number;
}

export async function rewriteTail(fs: FileSystem, { path, from, to }: Tail): Promise<void> {
  assert(from <= to, 'the last batch begins before it ends');
  const file = await fs.open(path, 'write');
  try {
    await file.truncate(to);
    for (let at = from; at < to; at += PIECE_BYTES) {
      await rewrite(file, at, Math.min(PIECE_BYTES, to - at));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

async function rewrite(file: OpenFile, at: number, length: number): Promise<void> {
  const bytes = Buffer.allocUnsafe(length);
  const count = await file.read(bytes, 0, length, at);
  assert(count === length, 'what was verified is still there');
  await writeFully(file, bytes, at);
}
