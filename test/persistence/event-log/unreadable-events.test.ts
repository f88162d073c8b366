/** Events in a sector that the disk can no longer read: whoever asks for them is told which event, file and offset. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { DataFolderError } from '../../../src/persistence/disk/data-folder.ts';
import type { FileSystem } from '../../../src/persistence/disk/file-system.ts';
import type { EventQuery } from '../../../src/persistence/event-log/event-filter.ts';
import type { EventLog } from '../../../src/persistence/event-log/event-log.ts';
import { segmentFileName } from '../../../src/persistence/journal/segment.ts';
import { EventJournal, eventsById, FOLDER, openEventLog } from '../../support/event-journal.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { type BadSector, withBadSectors } from '../recovery/bad-sectors.ts';

const EVENTS = 200;
const SEGMENT = `${FOLDER}/${segmentFileName(1)}`;

describe('events that the disk cannot read', () => {
  let journal: EventJournal;
  before(async () => {
    journal = await EventJournal.create();
    for (let id = 1; id <= EVENTS; id += 1) {
      await journal.write({ events: [{ data: { text: `needle ${id}`, filler: 'x'.repeat(400) } }] });
    }
  });

  /** A log that was opened while all was well; the sector of an event went bad since. */
  async function openedBefore(eventId: number): Promise<{ log: EventLog; sector: BadSector }> {
    const bad: BadSector[] = [];
    // Looked at with each call, so that the disk can go bad later.
    const fs: FileSystem = new Proxy(journal.disk, {
      get:
        (disk, name: keyof FileSystem) =>
        (...args: never[]) =>
          (withBadSectors(disk, bad)[name] as (...all: never[]) => unknown)(...args),
    });
    const log = await openEventLog({ fs, folder: FOLDER, logReader: inlineLogReader(fs) });
    const { position } = journal.added[eventId - 1]!;
    const sector = { path: SEGMENT, offset: position.offset + 100, bytes: 10 };
    bad.push(sector);
    return { log, sector };
  }

  /** The kernel reads pages, so the event that is named is one of those in the page. */
  function names(error: unknown, { offset }: BadSector): boolean {
    assert(error instanceof DataFolderError, String(error));
    const id = Number(/^Event (\d+) cannot be read back: the disk cannot read it/.exec(error.message)?.[1]);
    assert.equal(error.file, SEGMENT);
    const page = offset - (offset % 4096);
    assert(error.offset !== null && error.offset >= page - 4096 && error.offset <= offset, error.message);
    const named = journal.added[id - 1]?.position;
    assert(
      named !== undefined && named.offset <= offset && named.offset + named.length > page,
      error.message,
    );
    return true;
  }

  const asks: Readonly<Record<string, (log: EventLog, id: number) => Promise<unknown>>> = {
    'a search by filter': (log, id) => log.search(query({ type: 'feature-created', offset: id }), EVENTS),
    'a search by text': (log) => log.search(query({ query: 'needle 7' }), EVENTS),
    'one event': (log, id) => eventsById(log, [id]),
    'the frame of an event': (log, id) => log.readFrame(id),
    'a walk through the log': async (log) => {
      for await (const _ of log.iterate({ from: 1, to: EVENTS }));
    },
  };
  for (const [what, ask] of Object.entries(asks)) {
    it(`are named with file and offset to whoever asks for ${what}`, async () => {
      for (const id of [3, 77, 150]) {
        const { log, sector } = await openedBefore(id);
        await assert.rejects(ask(log, id), (error) => names(error, sector));
      }
    });
  }

  it('do not keep the others from being shown', async () => {
    const { log } = await openedBefore(3);
    const page = await log.search(query({ limit: 10 }), EVENTS);
    assert.equal(page.totalEvents, EVENTS);
    assert.deepEqual(
      (await eventsById(log, [190])).map(({ id }) => id),
      [190],
    );
  });
});

const query = (wanted: Partial<EventQuery>): EventQuery => ({ limit: 5, offset: 0, ...wanted });
