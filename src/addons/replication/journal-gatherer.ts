/**
 * Reads the own journal from where the archive ends, and cuts it into files for the archive. It goes on from where it was, and
 * holds one file in memory.
 */
import { FRAME_FORMAT, frameEnd } from '../../persistence/journal/frame-format.ts';
import { peekId } from '../../persistence/journal/frame-payload.ts';
import { SEGMENT_HEADER_BYTES } from '../../persistence/journal/segment.ts';
import { type JournalSource, listSegments, withSegment } from '../../persistence/journal/segment-file.ts';
import { scanFrames, scanStartOf } from '../../persistence/journal/segment-scan.ts';
import { SegmentBuilder } from './archived-frames.ts';

/** Taken in one go: a few milliseconds of the event loop. */
const SLICE_BYTES = 256 * 1024;

export interface GatheredFile {
  readonly firstId: number;
  readonly lastId: number;
  readonly chain: number;
  readonly content: Buffer;
}

/** The place after event `id`, whose frame has this checksum. */
export interface ArchivePlace {
  readonly id: number;
  readonly chain: number;
}

interface ReadPlace {
  /** The segment, by its first event. */
  readonly segment: number;
  readonly offset: number;
  readonly chain: number;
}

export class JournalGatherer {
  readonly #source: JournalSource;
  readonly #fileBytes: number;
  #builder: SegmentBuilder;
  #at: ReadPlace;

  private constructor(source: JournalSource, fileBytes: number, { id, chain }: ArchivePlace, at: ReadPlace) {
    this.#source = source;
    this.#fileBytes = fileBytes;
    this.#builder = new SegmentBuilder(id + 1, chain);
    this.#at = at;
  }

  get firstId(): number {
    return this.#builder.firstId;
  }

  /** Null where the journal does not have the place: it begins later, or tells another history. */
  static async at(
    source: JournalSource,
    fileBytes: number,
    place: ArchivePlace,
  ): Promise<JournalGatherer | null> {
    const segments = await listSegments(source);
    const segment = segments.findLast((firstId) => firstId <= place.id + 1);
    if (segment === undefined) return null;
    const at = await withSegment(source, segment, async (open): Promise<ReadPlace | null> => {
      const { header } = open;
      if (header === null || header.format !== FRAME_FORMAT) return null;
      if (segment === place.id + 1)
        return header.chain === place.chain
          ? { segment, offset: SEGMENT_HEADER_BYTES, chain: header.chain }
          : null;
      let isThere = false;
      let next = 0;
      const end = await scanFrames(open, scanStartOf(header), (frame, payload) => {
        const id = peekId(payload) ?? 0;
        if (id > place.id) {
          isThere = id === place.id + 1 && frame.previous === place.chain;
          next = frame.offset;
          return false;
        }
        return undefined;
      });
      if (isThere) return { segment, offset: next, chain: place.chain };
      // The place may be the end of the journal as it is now.
      return next === 0 && end.chain === place.chain
        ? { segment, offset: end.offset, chain: end.chain }
        : null;
    });
    return at === null ? null : new JournalGatherer(source, fileBytes, place, at);
  }

  /** The next file, when the journal has enough for one up to event `durableId`; null while it has not. */
  async next(durableId: number): Promise<GatheredFile | null> {
    for (;;) {
      const { segment } = this.#at;
      const { lastId, isMore } = await this.#read(durableId);
      if (lastId !== null) return this.#finish(lastId);
      if (isMore) continue;
      const following = (await listSegments(this.#source)).find((firstId) => firstId > segment);
      if (following === undefined || following > durableId) return null;
      if (!(await this.#goOn(following))) return null;
      if (this.#builder.bytes >= this.#fileBytes) return this.#finish(following - 1);
    }
  }

  /** Gathers a slice of what the segment has; with the last event of the file where it is full and more follows. */
  #read(durableId: number): Promise<{ readonly lastId: number | null; readonly isMore: boolean }> {
    return withSegment(this.#source, this.#at.segment, async (open) => {
      let lastId: number | null = null;
      let isMore = false;
      const { segment, offset, chain } = this.#at;
      await scanFrames(open, { format: FRAME_FORMAT, offset, chain }, (frame, payload) => {
        const id = peekId(payload);
        if (id === null || id > durableId) return false;
        if (this.#builder.bytes >= this.#fileBytes) {
          lastId = id - 1;
          return false;
        }
        const { contentVersion, rules } = frame;
        this.#builder.add({ payload, contentVersion, rules });
        const end = frameEnd(frame);
        this.#at = { segment, offset: end, chain: frame.checksum };
        isMore = end - offset >= SLICE_BYTES;
        return !isMore;
      });
      return { lastId, isMore };
    });
  }

  /** Whether the segment follows what was read: it does once all before it is on disk. */
  #goOn(segment: number): Promise<boolean> {
    return withSegment(this.#source, segment, async ({ header }) => {
      if (header === null || header.format !== FRAME_FORMAT || header.chain !== this.#at.chain) return false;
      this.#at = { segment, offset: SEGMENT_HEADER_BYTES, chain: header.chain };
      return true;
    });
  }

  #finish(lastId: number): GatheredFile {
    const { firstId, chain } = this.#builder;
    const file = { firstId, lastId, chain, content: this.#builder.content() };
    this.#builder = new SegmentBuilder(lastId + 1, chain);
    return file;
  }
}
