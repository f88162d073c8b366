/** Follows the chain of a history along the journal, over the bytes as they lie on disk. The checksum of each frame is verified on the way. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { ADVICE_DAMAGED, DataFolderError } from '../../persistence/disk/data-folder.ts';
import type { Boundary } from '../../persistence/journal/frame.ts';
import { frameEnd, type RawFrame } from '../../persistence/journal/frame-format.ts';
import { peekId } from '../../persistence/journal/frame-payload.ts';
import { readLastEvent } from '../../persistence/journal/frame-reader.ts';
import { segmentFileName } from '../../persistence/journal/segment.ts';
import {
  type JournalSource,
  listSegments,
  type OpenSegment,
  withSegment,
} from '../../persistence/journal/segment-file.ts';
import { type Rest, type ScanEnd, scanFrames, scanStartOf } from '../../persistence/journal/segment-scan.ts';
import { FIRST_LINK, type HistoryChain } from './history-chain.ts';

/** A place between two frames. */
export interface Place {
  /** The last event before it. */
  readonly lastId: number;
  /** Null where only the event is known. */
  readonly boundary: Boundary | null;
}

/** A place between two blocks, and the link of the frame before it. */
export interface ChainPlace extends Place {
  readonly link: Buffer;
}

/** Before the first frame of all. */
export const NOWHERE: ChainPlace = { lastId: 0, link: FIRST_LINK, boundary: null };

export interface Following {
  /** The chain up to `from`, which goes on. */
  readonly chain: HistoryChain;
  readonly from: Place;
  /** An event with which a frame ends. */
  readonly upToId: number;
  /** So many frames are hashed at most; all of the segment unless given. */
  readonly framesMax?: number;
  /** Called at each place between two frames, and where this ends. */
  onPlace?(lastId: number, boundary: Boundary): void;
  readonly rest?: Rest | undefined;
}

/**
 * The place as far as this went: to `upToId`, or to the end of a segment. Throws `DataFolderError` where the journal is damaged, or does
 * not have what was there at the place to go on from.
 */
export async function followChain(source: JournalSource, following: Following): Promise<Place> {
  const { lastId } = following.from;
  assert(lastId < following.upToId, 'there is something to follow');
  const segments = await listSegments(source);
  const index = segments.findLastIndex((firstId) => firstId <= lastId + 1);
  const segment = segments[index];
  if (segment === undefined) {
    const file = join(source.folder, segmentFileName(segments[0] ?? 1));
    throw damaged(file, 0, lastId, `the events from ${lastId + 1} on are missing`);
  }
  const next = segments[index + 1] ?? Number.POSITIVE_INFINITY;
  return withSegment(source, segment, (open) =>
    new ChainWalk(open, { ...following, upToId: Math.min(following.upToId, next - 1) }).run(),
  );
}

const damaged = (file: string, offset: number, lastGoodEventId: number, what: string): DataFolderError =>
  new DataFolderError(`The journal is damaged: ${what}`, {
    ...{ file, offset, lastGoodEventId },
    advice: ADVICE_DAMAGED,
  });

class ChainWalk {
  readonly #segment: OpenSegment;
  readonly #following: Following;
  #frames = 0;
  #last: RawFrame | null = null;
  #misplacedId: number | null = null;
  #isFull = false;

  constructor(segment: OpenSegment, following: Following) {
    this.#segment = segment;
    this.#following = following;
  }

  async run(): Promise<Place> {
    const { path, firstId, header } = this.#segment;
    const { from, upToId, rest, onPlace } = this.#following;
    if (header === null) throw damaged(path, 0, firstId - 1, 'the header of a journal file is damaged');
    const begin = from.boundary?.segment === firstId ? from.boundary : scanStartOf(header);
    const { offset, chain } = begin;
    const end = await scanFrames(this.#segment, { format: header.format, offset, chain }, this.#visit, rest);
    const lastId = await this.#lastId(end);
    if (this.#misplacedId !== null || (lastId < upToId && !this.#isFull))
      throw damaged(path, end.offset, lastId, this.#problem(end, lastId));
    assert(this.#last !== null, 'a walk that is not refused has added a frame');
    const boundary = this.#boundaryAt(frameEnd(this.#last), this.#last.checksum);
    onPlace?.(lastId, boundary);
    return { lastId, boundary };
  }

  readonly #visit = (frame: RawFrame, payload: Buffer): boolean => {
    const { chain, from, upToId, framesMax = Number.POSITIVE_INFINITY, onPlace } = this.#following;
    const id = peekId(payload);
    // What follows is not durable yet, or no frame of this journal.
    if (id === null || id > upToId) return false;
    if (id <= from.lastId) return true;
    if (this.#frames === 0 && id !== from.lastId + 1) {
      this.#misplacedId = id;
      return false;
    }
    this.#isFull = this.#frames >= framesMax;
    if (this.#isFull) return false;
    onPlace?.(id - 1, this.#boundaryAt(frame.offset, frame.previous));
    chain.add(id, { contentVersion: frame.contentVersion, rules: frame.rules, payload });
    this.#frames += 1;
    this.#last = frame;
    return true;
  };

  async #lastId(end: ScanEnd): Promise<number> {
    const { lastId } = this.#following.from;
    if (this.#last === null) return lastId;
    const last = await readLastEvent(this.#segment, this.#last);
    if (typeof last === 'string') throw damaged(this.#segment.path, end.offset, lastId, last);
    return last.lastId;
  }

  #problem({ problem }: ScanEnd, lastId: number): string {
    if (this.#misplacedId !== null)
      return `event ${this.#misplacedId} is where event ${lastId + 1} should be`;
    return problem?.what ?? 'events are missing';
  }

  #boundaryAt(offset: number, chain: number): Boundary {
    return { segment: this.#segment.firstId, offset, chain };
  }
}
