/**
 * A moment of a data folder, as operators name it (docs/operating-commands.md#points-in-time): an event id means the state
 * right after that event, and a time the state right after the last event before it.
 */
import { dataFolder } from '../persistence/disk/data-folder.ts';
import type { FileSystem } from '../persistence/disk/file-system.ts';
import { lastEventId } from '../persistence/journal/frame.ts';
import { listSegments } from '../persistence/journal/segment-file.ts';
import { endsEarly, newestEvent, readFirstFrame, readJournal } from './journal-reading.ts';
import { OperationError } from './operation-error.ts';

export type Moment =
  | { readonly kind: 'event'; readonly id: number }
  | { readonly kind: 'before'; readonly timeMs: number };

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** An event id, or a time in ISO 8601; null for anything else. Times without a zone are in UTC. */
export function parseMoment(text: string): Moment | null {
  if (/^[0-9]{1,15}$/.test(text)) return { kind: 'event', id: Number(text) };
  if (!ISO_TIME.test(text)) return null;
  const hasZone = /(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes('T');
  const timeMs = Date.parse(hasZone ? text : `${text}Z`);
  return Number.isNaN(timeMs) ? null : { kind: 'before', timeMs };
}

export interface MomentSource {
  readonly fs: FileSystem;
  readonly folder: string;
}

/**
 * The id of the last event that belongs to the moment; null stands for now. Refuses a time before the oldest event that
 * is kept. Where the answer is the newest event, the folder has to be whole: see `newestEvent`.
 */
export async function resolveMoment(source: MomentSource, moment: Moment | null): Promise<number> {
  if (moment === null) return newestEvent(source);
  if (moment.kind === 'event') return moment.id;
  const found = await lastEventBefore(source, moment.timeMs);
  if (found === null) {
    // In a damaged folder nobody knows that.
    await newestEvent(source);
    const time = new Date(moment.timeMs).toISOString();
    throw new OperationError('missing', `No event that the journal keeps is older than ${time}.`);
  }
  if (found.isFollowed) return found.id;
  const knownId = await newestEvent(source);
  if (knownId > found.id) throw endsEarly(source.folder, { lastId: found.id, knownId });
  return found.id;
}

interface FoundEvent {
  readonly id: number;
  /** Whether a later event, after the moment, was seen as well. */
  readonly isFollowed: boolean;
}

/** Times never decrease with ids, so the segment is found by its first event, and the event within it by reading. */
async function lastEventBefore({ fs, folder }: MomentSource, timeMs: number): Promise<FoundEvent | null> {
  const source = { fs, folder: dataFolder(folder).journal };
  for (const firstId of (await listSegments(source)).toReversed()) {
    const first = await readFirstFrame(source, firstId);
    if (first === null || first.at >= timeMs) continue;
    let id = lastEventId(first);
    let isFollowed = false;
    await readJournal(source, {
      afterId: firstId - 1,
      visit: ({ frame }) => {
        isFollowed = frame.at >= timeMs;
        if (!isFollowed) id = lastEventId(frame);
        return !isFollowed;
      },
    });
    return { id, isFollowed };
  }
  return null;
}
