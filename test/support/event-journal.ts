/** A journal on a disk in memory, with as little said as a test of its readers needs. */
import type { RecordedEvent } from '../../src/domain/state/events.ts';
import { EventLog, type EventLogOptions } from '../../src/persistence/event-log/event-log.ts';
import { type LoggedEvent, toLoggedEvent } from '../../src/persistence/event-log/logged-event.ts';
import { FileJournal } from '../../src/persistence/journal/file-journal.ts';
import type { Frame, FramePosition } from '../../src/persistence/journal/frame.ts';
import { EMPTY_TAIL } from '../../src/persistence/journal/journal.ts';
import { type JournalSurveyOptions, surveyJournal } from '../../src/persistence/recovery/journal-survey.ts';
import { inlineLogReader } from './inline-log-reader.ts';
import { MemoryFileSystem } from './memory-file-system.ts';

export const FOLDER = '/data/journal';

export interface CommandSketch {
  readonly by?: string;
  readonly at?: number;
  readonly answer?: unknown;
  readonly events: readonly Partial<RecordedEvent>[];
}

export const event = (sketch: Partial<RecordedEvent>): RecordedEvent => ({
  type: 'feature-created',
  project: null,
  featureName: null,
  environment: null,
  data: null,
  preData: null,
  ...sketch,
});

/** Appends commands and knows where they went. */
export class EventJournal {
  readonly disk: MemoryFileSystem;
  readonly added: { readonly frame: Frame; readonly position: FramePosition }[] = [];
  readonly journal: FileJournal;

  private constructor(disk: MemoryFileSystem, journal: FileJournal) {
    this.disk = disk;
    this.journal = journal;
  }

  static async create({ segmentBytes = 1024 * 1024 } = {}): Promise<EventJournal> {
    const disk = new MemoryFileSystem();
    await disk.makeFolder(FOLDER);
    const journal = await FileJournal.open({
      fs: disk,
      folder: FOLDER,
      tail: EMPTY_TAIL,
      segmentBytes,
      preallocatedBytes: 0,
      // Tests count the calls to the disk, and make them fail: none may come at a time of its own.
      timer: () => () => undefined,
      onDurable: () => undefined,
      onFailure: (failure) => {
        throw failure;
      },
    });
    return new EventJournal(disk, journal);
  }

  append({ by = 'alice', at, answer, events }: CommandSketch): FramePosition {
    const id = this.journal.appendedId + 1;
    const frame: Frame = {
      id,
      at: at ?? id * 1000,
      by,
      userId: 1,
      events: events.map(event),
      ...(answer === undefined ? {} : { answer }),
    };
    const position = this.journal.append(frame);
    this.added.push({ frame, position });
    return position;
  }

  async write(...commands: readonly CommandSketch[]): Promise<void> {
    for (const command of commands) {
      this.append(command);
      this.journal.commit();
      await this.journal.flush();
    }
  }

  /** Opens a log on what the disk holds by now. */
  openLog(): Promise<EventLog> {
    return openLog(this.disk);
  }
}

export function openLog(disk: MemoryFileSystem): Promise<EventLog> {
  return openEventLog({
    fs: disk,
    folder: FOLDER,
    logReader: inlineLogReader(disk),
  });
}

/** Indexes the whole journal, without recovering it. */
export async function openEventLog(options: EventLogOptions): Promise<EventLog> {
  const log = new EventLog(options);
  const visit: JournalSurveyOptions['visit'] = (segment, raw, payload) => log.pass(segment, raw, payload);
  const { damage } = await surveyJournal({ ...options, wantedIds: new Set(), visit });
  if (damage !== null) throw damage;
  return log;
}

/** The events with these ids as readers see them; ids that are not kept are left out. */
export async function eventsById(log: EventLog, ids: readonly number[]): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (const id of ids) {
    const frame = await log.readFrame(id);
    if (frame !== null) events.push(toLoggedEvent(frame, id));
  }
  return events;
}
