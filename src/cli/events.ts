/** `flagstaff events`: show the event log on the terminal. */
import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { askServer } from '../control/control-client.ts';
import { EVENT_TYPES } from '../domain/state/event-types.ts';
import { didYouMean } from '../domain/state/nearest-name.ts';
import {
  boundaryAt,
  endsEarly,
  newestOfStopped,
  readJournal,
  segmentOf,
} from '../operations/journal-reading.ts';
import { dataFolder } from '../persistence/disk/data-folder.ts';
import { type FileSystem, isMissing } from '../persistence/disk/file-system.ts';
import { dataText, type LoggedEvent, toLoggedEvent } from '../persistence/event-log/logged-event.ts';
import { declaresLost } from '../persistence/journal/declared-gap.ts';
import { readDurableMark } from '../persistence/journal/durable-mark.ts';
import { type Frame, lastEventId } from '../persistence/journal/frame.ts';
import { type JournalSource, listSegments } from '../persistence/journal/segment-file.ts';
import {
  type AddCommand,
  type CommonOptions,
  dataDirectory,
  momentOf,
  withCommonOptions,
} from './command.ts';
import { misuse } from './command-failure.ts';
import { count, printable } from './format.ts';

/** Shows recent events on about two screens. */
const LIMIT_DEFAULT = 50;
/** Protects the memory of this command. Nobody reads more. */
const LIMIT_MAX = 1_000_000;

interface EventsCommandOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly limit?: string;
  readonly type?: string;
  readonly project?: string;
  readonly feature?: string;
  readonly environment?: string;
  readonly by?: string;
  readonly query?: string;
  readonly from?: string;
  readonly to?: string;
}

export const addEvents: AddCommand = (program, context) => {
  withCommonOptions(program.command('events'))
    .description('Show the event log, oldest first. A server may be running.')
    .option('-f, --follow', 'keep showing new events until interrupted')
    .option(
      '-n, --limit <number>',
      'show at most this many matching events, the newest ones',
      String(LIMIT_DEFAULT),
    )
    .option('--type <type>', 'only events of this type, such as feature-archived')
    .option('--project <id>', 'only events of this project')
    .option('--feature <name>', 'only events of this flag')
    .option('--environment <name>', 'only events of this environment')
    .option('--by <name>', 'only events of this author')
    .option('--query <text>', 'only events with this text in type, author or data (case-insensitive)')
    .option('--from <event id or time>', 'only events from this one onwards')
    .option('--to <event id or time>', 'only events up to this one')
    .addHelpText(
      'after',
      `
With --json, each line holds one event.

Examples:
  flagstaff events --type feature-archived --from 2025-06-01
  flagstaff events --feature checkout --follow
  flagstaff events --json --limit 1000 | jq -r .createdBy | sort | uniq -c`,
    )
    .action(async (options: EventsCommandOptions) => {
      const { fs, terminal } = context;
      const folder = dataDirectory(context, options);
      const selection = selectionOf(options);
      const show = (event: LoggedEvent): void =>
        terminal.out(options.json ? JSON.stringify(event) : eventText(event));
      const { events, durableId, lost } = await newestEvents({ fs, folder, selection }, limitOf(options));
      for (const event of events) show(event);
      if (lost > 0) terminal.err(lostText(lost));
      if (!options.follow) return;
      const { stopped } = terminal;
      await followEvents({ fs, folder, selection, afterId: durableId, stopped, onEvent: show });
    });
};

function limitOf({ limit = '' }: EventsCommandOptions): number {
  const number = Number(limit);
  if (/^[0-9]+$/.test(limit) && number >= 1 && number <= LIMIT_MAX) return number;
  throw misuse(`--limit takes a number from 1 to ${LIMIT_MAX}, not "${limit}".`);
}

/** A mistyped type would select nothing, which looks as if nothing had happened. */
function typeOf({ type }: EventsCommandOptions): string | undefined {
  if (type === undefined || EVENT_TYPES.some((known) => known === type)) return type;
  throw misuse(`--type: there is no event type "${type}".${didYouMean(type, EVENT_TYPES)}`);
}

function selectionOf(options: EventsCommandOptions): EventSelection {
  const { project, feature, environment, by, query, from, to } = options;
  const start = from === undefined ? null : momentOf('--from', from);
  const end = to === undefined ? null : momentOf('--to', to);
  return {
    type: typeOf(options),
    project,
    feature,
    environment,
    createdBy: by,
    query,
    afterId: start?.kind === 'event' ? Math.max(start.id - 1, 0) : undefined,
    sinceMs: start?.kind === 'before' ? start.timeMs : undefined,
    upTo: end?.kind === 'event' ? end.id : undefined,
    untilMs: end?.kind === 'before' ? end.timeMs : undefined,
  };
}

const lostText = (lost: number): string =>
  `${count(lost, 'event')} of this time ${lost === 1 ? 'is' : 'are'} lost, as a repair has declared, and may have been among them: see --type event-lost.`;

/** `   1042  2025-06-01T12:00:00.000Z  feature-archived  default/checkout  by admin`. */
function eventText({
  id,
  createdAt,
  type,
  project,
  featureName,
  environment,
  createdBy,
}: LoggedEvent): string {
  const flag = [project, featureName].filter((part) => part !== null).join('/');
  const place = environment === null ? flag : `${flag} in ${environment}`;
  return `${String(id).padStart(7)}  ${createdAt}  ${type.padEnd(28)}  ${printable(place.trim())}  by ${printable(createdBy)}`;
}

// Reads the event log from the files, whether a server is running or not. Events of a running server appear as soon
// as they are certain to be on disk. The filters are those of the server's search.

interface EventSelection {
  readonly type?: string | undefined;
  readonly project?: string | undefined;
  readonly feature?: string | undefined;
  readonly environment?: string | undefined;
  readonly createdBy?: string | undefined;
  /** Text to look for, case-insensitive, in type, author and data. */
  readonly query?: string | undefined;
  readonly afterId?: number | undefined;
  readonly upTo?: number | undefined;
  /** Milliseconds since 1970: events at this time or later. */
  readonly sinceMs?: number | undefined;
  /** Events before this time. */
  readonly untilMs?: number | undefined;
}

interface ReadEventsOptions {
  readonly fs: FileSystem;
  readonly folder: string;
  readonly selection: EventSelection;
}

/** At most `limit` events, the newest that are selected, oldest first. */
export async function newestEvents(options: ReadEventsOptions, limit: number): Promise<NewestEvents> {
  const { fs, folder, selection } = options;
  const durableId = await durableEvent(options);
  const source = { fs, folder: dataFolder(folder).journal };
  const segments = await listSegments(source);
  let events: LoggedEvent[] = [];
  let lost = 0;
  const onLost = (): void => {
    lost += 1;
  };
  let end = Math.min(durableId, selection.upTo ?? durableId);
  // Begins with the newest segment, so that old segments are read only when the newer ones have too few events.
  for (const firstId of segments.toReversed()) {
    const afterId = Math.max(selection.afterId ?? 0, firstId - 1);
    if (events.length < limit && afterId < end) {
      const found: LoggedEvent[] = [];
      const reading = readFrom({ fs, folder, selection, end, onLost }, afterId, (event) => {
        found.push(event);
        // Shortened only now and then, because a shift for each event would cost more than reading it.
        if (found.length >= 2 * limit) found.splice(0, found.length - limit);
      });
      const lastSeen = await unlessDeleted(source, firstId, reading);
      // Retention of a running server has deleted it meanwhile, and what is older before it.
      if (lastSeen === null) break;
      if (lastSeen < end) throw endsEarly(folder, { lastId: lastSeen, knownId: end });
      events = [...found, ...events].slice(-limit);
    }
    end = Math.min(end, firstId - 1);
  }
  return { events, durableId, lost };
}

/** Null when the segment is gone. */
async function unlessDeleted<T>(
  source: JournalSource,
  firstId: number,
  reading: Promise<T>,
): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (isMissing(error) && !(await listSegments(source)).includes(firstId)) return null;
    throw error;
  }
}

interface NewestEvents {
  readonly events: readonly LoggedEvent[];
  /** The newest event that could have been among them. */
  readonly durableId: number;
  /** Events, of those that were read, that a repair has declared lost: nobody knows which filters they would match. */
  readonly lost: number;
}

interface Reading extends ReadEventsOptions {
  /** No event beyond this one is durable for certain. */
  readonly end: number;
  /** Told of each event in the time of the selection that is lost and not selected. */
  onLost?(): void;
}

/** Gives `onEvent` the selected events after `afterId`; returns the last event read. */
async function readFrom(
  { fs, folder, selection, end, onLost }: Reading,
  afterId: number,
  onEvent: (event: LoggedEvent) => void,
): Promise<number> {
  const source = { fs, folder: dataFolder(folder).journal };
  const segments = await listSegments(source);
  const [oldest] = segments;
  if (oldest === undefined) return afterId;
  // An id within a change cannot be where reading begins: its segment's beginning can, and what is older is left out.
  const start = segments[Math.max(segmentOf(segments, afterId + 1), 0)] ?? oldest;
  const newest = Math.min(end, selection.upTo ?? end);
  let lastSeen = Math.max(afterId, start - 1);
  await readJournal(source, {
    afterId: start - 1,
    visit: ({ frame }) => {
      const lastId = lastEventId(frame);
      if (lastId <= afterId) return true;
      assert(lastId > lastSeen, `event ${lastId} is newer than those read before`);
      if (frame.id > newest) return false;
      for (let id = Math.max(frame.id, afterId + 1); id <= Math.min(lastId, newest); id += 1) {
        if (isSelected(selection, frame, id)) onEvent(toLoggedEvent(frame, id));
        else if (declaresLost(frame) !== null && isInTime(selection, frame)) onLost?.();
      }
      lastSeen = Math.min(lastId, newest);
      return lastId < newest;
    },
  });
  return lastSeen;
}

function isInTime(selection: EventSelection, { at }: Frame): boolean {
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = selection;
  return at >= sinceMs && at < untilMs;
}

function isSelected(selection: EventSelection, frame: Frame, id: number): boolean {
  const event = frame.events[id - frame.id];
  if (event === undefined || !isInTime(selection, frame)) return false;
  const wants = (wanted: string | undefined, value: string | null): boolean =>
    wanted === undefined || wanted === value;
  return (
    wants(selection.type, event.type) &&
    wants(selection.project, event.project) &&
    wants(selection.feature, event.featureName) &&
    wants(selection.environment, event.environment) &&
    wants(selection.createdBy, frame.by) &&
    holdsText(selection.query, [event.type, frame.by], event.data)
  );
}

function holdsText(query: string | undefined, names: readonly string[], data: unknown): boolean {
  if (query === undefined || query === '') return true;
  const folded = query.toLowerCase();
  return [...names, dataText(data)].some((text) => text.toLowerCase().includes(folded));
}

interface FollowOptions extends ReadEventsOptions {
  /** The last event that was shown already. */
  readonly afterId: number;
  readonly stopped: AbortSignal;
  onEvent(event: LoggedEvent): void;
}

/**
 * Hands on every selected event that becomes durable, until stopped. The durable mark says how far that is: frames
 * behind it are in the file, but a crash could still take them back.
 */
async function followEvents(options: FollowOptions): Promise<void> {
  const { fs, stopped, onEvent } = options;
  const journal = dataFolder(options.folder).journal;
  let wake: () => void = () => undefined;
  let changed = true;
  const notice = (): void => {
    changed = true;
    wake();
  };
  // Changes that occur while earlier ones are still being read count as one.
  const watcher = watch(journal, { persistent: true }, notice);
  stopped.addEventListener('abort', notice);
  let lastSeen = options.afterId;
  try {
    while (!stopped.aborted) {
      if (!changed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      changed = false;
      const reading = await readDurableMark(fs, journal);
      if (reading.state !== 'good' || reading.mark.lastId <= lastSeen) continue;
      lastSeen = await readFrom({ ...options, end: reading.mark.lastId }, lastSeen, onEvent);
    }
  } finally {
    watcher.close();
    stopped.removeEventListener('abort', notice);
  }
}

/** The last event that may be shown. Where the selection ends earlier, damage behind it does not matter. */
async function durableEvent({ fs, folder, selection: { upTo } }: ReadEventsOptions): Promise<number> {
  const server = await askServer(folder, 'status');
  if (server !== null) return server.durableId;
  const source = { fs, folder: dataFolder(folder).journal };
  if (upTo !== undefined && (await boundaryAt(source, upTo)) !== null) return upTo;
  return newestOfStopped(fs, folder);
}
