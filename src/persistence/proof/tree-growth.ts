/**
 * Grows the tree of a history along the journal: from one place to a later one, over the bytes as they lie on disk. Each
 * frame's checksum and link are verified on the way.
 */
import assert from 'node:assert/strict';
import { ADVICE_DAMAGED, DataFolderError } from '../disk/data-folder.ts';
import type { Boundary } from '../journal/frame.ts';
import { frameEnd, type RawFrame } from '../journal/frame-format.ts';
import { peekId } from '../journal/frame-payload.ts';
import { readLastEvent } from '../journal/frame-reader.ts';
import { SEGMENT_HEADER_BYTES } from '../journal/segment.ts';
import { type JournalSource, listSegments, type OpenSegment, withSegment } from '../journal/segment-file.ts';
import { type Rest, scanFrames, type VisitFrame } from '../journal/segment-scan.ts';
import { EMPTY_TREE, GrowingTree, leafOf, type TreeState } from './merkle-tree.ts';

/** A place in the journal, and the tree over all frames before it. */
export interface TreePlace {
  /** The first event in the tree. */
  readonly firstId: number;
  /** The last one; one less than `firstId` in the empty tree. */
  readonly lastId: number;
  readonly boundary: Boundary;
  readonly tree: TreeState;
}

export interface GrowRequest {
  /** The journal folder. */
  readonly folder: string;
  /** Null to begin with the oldest event that is kept. */
  readonly from: TreePlace | null;
  /** An event with which a frame ends. */
  readonly upToId: number;
  /** Sizes of the tree that are reported too. */
  readonly sizes?: ReadonlySet<number>;
  /** The tree grows to so many leaves at most. */
  readonly upToSize?: number;
}

/**
 * So many frames lie at most between two places that growth reports. Each becomes a head that stays, so that a difference is
 * known to lie among a thousand frames.
 */
export const STRIDE_FRAMES = 1000;

/** Bounds the time that one growth takes, to about a second: segments are begun until so many bytes were read. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The places on the way, the last one as far as this went: to `upToId`, to `upToSize`, or to the end of a segment. Throws
 * `DataFolderError` where the journal is damaged, or does not have what was there at the place it is to go on from.
 */
export async function growTree(
  source: JournalSource,
  { from, upToId, sizes = NO_SIZES, upToSize = Number.POSITIVE_INFINITY }: Omit<GrowRequest, 'folder'>,
  rest?: Rest,
): Promise<readonly TreePlace[]> {
  const segments = await listSegments(source);
  const places: TreePlace[] = [];
  let place = from;
  let bytes = 0;
  for (const [index, segment] of segments.entries()) {
    if (segment < (from?.boundary.segment ?? 0)) continue;
    if (place?.lastId === upToId || (place?.tree.size ?? 0) >= upToSize || bytes >= GROWTH_BYTES_MAX) break;
    const next = segments[index + 1];
    const growth = {
      from: place,
      ...{ sizes, upToSize, rest },
      upToId: next === undefined ? upToId : Math.min(upToId, next - 1),
    };
    const grown = await withSegment(source, segment, (open) => growAlong(open, growth));
    places.push(...(next === undefined ? grown : beginningNext(grown, next)));
    bytes += (grown.at(-1)?.boundary.offset ?? 0) - (place?.boundary.offset ?? 0);
    place = places.at(-1) ?? null;
  }
  return places;
}

/** The end of a segment is the beginning of the one behind it. */
function beginningNext(places: readonly TreePlace[], segment: number): readonly TreePlace[] {
  const last = places.at(-1);
  if (last?.lastId !== segment - 1) return places;
  const boundary = { segment, offset: SEGMENT_HEADER_BYTES, chain: last.boundary.chain };
  return [...places.slice(0, -1), { ...last, boundary }];
}

const NO_SIZES: ReadonlySet<number> = new Set();

interface Growth {
  readonly from: TreePlace | null;
  readonly sizes: ReadonlySet<number>;
  readonly upToId: number;
  readonly upToSize: number;
  readonly rest: Rest | undefined;
}

async function growAlong(
  segment: OpenSegment,
  { from, rest, ...goal }: Growth,
): Promise<readonly TreePlace[]> {
  const { path, firstId, header } = segment;
  if (header === null) throw damaged(path, 0, firstId - 1, 'the header of a journal file is damaged');
  const start = from?.boundary ?? { segment: firstId, offset: SEGMENT_HEADER_BYTES, chain: header.chain };
  const begin = from ?? { firstId, lastId: firstId - 1, boundary: start, tree: EMPTY_TREE };
  const walk = new TreeWalk(begin, goal);
  const end = await scanFrames(segment, { format: header.format, ...start }, walk.visit, rest);
  const last = walk.last === null ? { lastId: begin.lastId } : await readLastEvent(segment, walk.last);
  if (typeof last === 'string') throw damaged(path, walk.end.offset, begin.lastId, last);
  if (last.lastId !== goal.upToId && !walk.isFull)
    throw damaged(path, walk.end.offset, last.lastId, end.problem?.what ?? 'events are missing');
  return [...walk.places, walk.placeAt(last.lastId, walk.end)];
}

const damaged = (file: string, offset: number, lastGoodEventId: number, what: string): DataFolderError =>
  new DataFolderError(`The journal is damaged: ${what}`, {
    file,
    offset,
    lastGoodEventId,
    advice: ADVICE_DAMAGED,
  });

type Goal = Omit<Growth, 'from' | 'rest'>;

class TreeWalk {
  readonly #begin: TreePlace;
  readonly #goal: Goal;
  readonly #tree: GrowingTree;
  readonly places: TreePlace[] = [];
  #frames = 0;
  last: RawFrame | null = null;

  constructor(begin: TreePlace, goal: Goal) {
    this.#begin = begin;
    this.#goal = goal;
    this.#tree = new GrowingTree(begin.tree);
  }

  readonly visit: VisitFrame = (frame, payload) => {
    const id = peekId(payload);
    // Whatever lies behind is not durable yet, or no frame of this journal.
    if (id === null || id > this.#goal.upToId || this.isFull) return false;
    if (this.#frames > 0 && (this.#frames % STRIDE_FRAMES === 0 || this.#goal.sizes.has(this.#tree.size))) {
      const { segment } = this.#begin.boundary;
      this.places.push(this.placeAt(id - 1, { segment, offset: frame.offset, chain: frame.previous }));
    }
    this.#tree.add(leafOf({ contentVersion: frame.contentVersion, rules: frame.rules, payload }));
    this.#frames += 1;
    this.last = frame;
    return true;
  };

  get isFull(): boolean {
    return this.#tree.size >= this.#goal.upToSize;
  }

  /** The end of the last frame that was visited; the scan has read the one behind it too. */
  get end(): Boundary {
    if (this.last === null) return this.#begin.boundary;
    return { segment: this.#begin.boundary.segment, offset: frameEnd(this.last), chain: this.last.checksum };
  }

  placeAt(lastId: number, boundary: Boundary): TreePlace {
    assert(lastId >= this.#begin.lastId, 'a tree grows');
    return { firstId: this.#begin.firstId, lastId, boundary, tree: this.#tree.state };
  }
}
