/**
 * A page of events as the JSON that clients get. The frames of a page can hold megabytes, of which decoding and writing
 * would hold the event loop for long, so that EventLog has large pages made in a thread; nothing here knows where it runs.
 */
import type { FileSystem } from '../disk/file-system.ts';
import { type FramePlace, type FrameReading, readFrames } from '../journal/frame-reader.ts';
import { toLoggedEvent } from './logged-event.ts';

/** Bytes after which a page ends although there are more events: enough for 100 usual ones, little enough to wait for. */
export const PAGE_BYTES_MAX = 1024 * 1024;

/** A frame, and the events of it that are asked for. */
export interface EventPlace extends FramePlace {
  readonly ids: readonly number[];
}

export interface EventPage {
  /** The events, newest first: a JSON array in UTF-8. */
  readonly json: Uint8Array;
  /** All that match, whatever `limit` and `offset`. */
  readonly totalEvents: number;
  /** How many matches the page covers. */
  readonly covered: number;
  /** The offset at which the next page starts; null when nothing older matches. */
  readonly nextOffset: number | null;
  /** Events that cannot be read, oldest first: whether they match is not known, and they are not counted. */
  readonly leftOut: readonly IdRange[];
}

/** Ids of events, both included. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** Plain data, so that it can be handed to another thread. */
export interface PageRequest {
  /** The journal folder. */
  readonly folder: string;
  /** Newest first. */
  readonly ids: readonly number[];
  /** The frames of these ids, whose `ids` are in the same order. */
  readonly places: readonly EventPlace[];
  /** The page ends with the event that reaches it. */
  readonly bytesMax: number;
}

export interface RenderedPage {
  /** A JSON array, in UTF-8. */
  readonly json: Uint8Array;
  /** How many of the ids the page covers; the others are for the next page. */
  readonly covered: number;
  /** Ids among those covered whose segment file is gone. */
  readonly missing: readonly number[];
}

/** Events by id, as JSON in UTF-8. */
export interface EventTexts {
  get(id: number): Buffer | undefined;
  set(id: number, text: Buffer): unknown;
}

export const frameBytes = (places: readonly EventPlace[]): number =>
  places.reduce((bytes, { offset, bytesEnd }) => bytes + bytesEnd - offset, 0);

/** The first places, up to the one with which their bytes reach the limit. */
export function placesWithin(places: readonly EventPlace[], bytesMax: number): readonly EventPlace[] {
  let bytes = 0;
  const end = places.findIndex(({ offset, bytesEnd }) => {
    bytes += bytesEnd - offset;
    return bytes >= bytesMax;
  });
  return end < 0 ? places : places.slice(0, end + 1);
}

/** Reports a segment whose file is gone as missing. */
const isNothingKept = (): boolean => false;

/** A larger one would take the place of many others. */
const CACHED_BYTES_MAX = 128 * 1024;

/** Events that the cache has are not read again, and those that are read are put into it. */
export async function renderPage(
  fs: FileSystem,
  request: PageRequest,
  { cache, charge }: { readonly cache?: EventTexts | undefined } & Pick<FrameReading, 'charge'> = {},
): Promise<RenderedPage> {
  const { folder, ids, places, bytesMax } = request;
  const texts = new Map<number, Buffer>();
  const unread = cache === undefined ? places : places.filter((place) => !recall(place.ids, cache, texts));
  await readFrames({ fs, folder, isKept: isNothingKept, charge }, unread, (frame, place) => {
    let bytes = 0;
    for (const id of place.ids) {
      // This frame alone fills the page: what is older is not on it.
      if (bytes >= bytesMax) break;
      const text = bytesOf(JSON.stringify(toLoggedEvent(frame, id)));
      texts.set(id, text);
      if (text.length <= CACHED_BYTES_MAX) cache?.set(id, text);
      bytes += text.length;
    }
  });
  const parts: Buffer[] = [];
  const missing: number[] = [];
  let bytes = 0;
  let covered = 0;
  for (const id of ids) {
    if (bytes >= bytesMax) break;
    covered += 1;
    const text = texts.get(id);
    if (text === undefined) {
      missing.push(id);
      continue;
    }
    parts.push(parts.length === 0 ? OPENING : COMMA, text);
    bytes += text.length;
  }
  const json = parts.length === 0 ? EMPTY : Buffer.concat([...parts, CLOSING]);
  return { json, covered, missing };
}

/** Bytes in memory of their own: a part of Node's shared pool, once kept, would keep all of it. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Whether all of these events are cached; then `texts` has them. */
function recall(ids: readonly number[], cache: EventTexts, texts: Map<number, Buffer>): boolean {
  for (const id of ids) {
    const text = cache.get(id);
    if (text === undefined) return false;
    texts.set(id, text);
  }
  return true;
}

const OPENING = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSING = Buffer.from(']');
const EMPTY = Buffer.from('[]');
