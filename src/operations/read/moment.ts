/**
 * A moment of a data folder, as operators name it (docs/operating-commands.md#moments): an event id means the state
 * right after that event, and a time the state right after the last event before it.
 */
import { lastEventId } from '../../persistence/journal/frame.ts';
import { type JournalSource, listSegments } from '../../persistence/journal/segment-file.ts';
import { OperationError } from '../operation-error.ts';
import { readFirstFrame, readJournal } from './journal-reading.ts';

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

/** The id of the last event that belongs to the moment; refuses a time before the oldest event that is kept. */
export async function resolveMoment(source: JournalSource, moment: Moment): Promise<number> {
  if (moment.kind === 'event') return moment.id;
  const id = await lastEventBefore(source, moment.timeMs);
  if (id !== null) return id;
  const time = new Date(moment.timeMs).toISOString();
  throw new OperationError('missing', `No event that the journal keeps is older than ${time}.`);
}

/** Times never decrease with ids, so the segment is found by its first event, and the event within it by reading. */
async function lastEventBefore(source: JournalSource, timeMs: number): Promise<number | null> {
  for (const firstId of (await listSegments(source)).toReversed()) {
    const first = await readFirstFrame(source, firstId);
    if (first === null || first.at >= timeMs) continue;
    let last = lastEventId(first);
    await readJournal(source, {
      afterId: firstId - 1,
      visit: ({ frame }) => {
        if (frame.at >= timeMs) return false;
        last = lastEventId(frame);
        return true;
      },
    });
    return last;
  }
  return null;
}
