import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordedEvent } from '../../../src/domain/state/events.ts';
import type { EventQuery } from '../../../src/persistence/event-log/event-filter.ts';
import {
  type EventLines,
  type EventLog,
  LINES_BYTES_MAX,
  LINES_EVENTS_MAX,
} from '../../../src/persistence/event-log/event-log.ts';
import { type EventPage, PAGE_BYTES_MAX } from '../../../src/persistence/event-log/event-page.ts';
import type { LoggedEvent } from '../../../src/persistence/event-log/logged-event.ts';
import {
  type CommandSketch,
  EventJournal,
  eventsById,
  FOLDER,
  openEventLog,
  openLog,
} from '../../support/event-journal.ts';
import { eventsOf } from '../../support/event-page.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';

const on = (project: string, featureName: string, type = 'feature-created'): CommandSketch => ({
  events: [{ type, project, featureName }],
});

const SIX: readonly CommandSketch[] = [
  on('shop', 'dark', 'feature-created'),
  on('shop', 'dark', 'feature-archived'),
  on('shop', 'pay', 'feature-created'),
  on('blog', 'dark', 'feature-created'),
  { events: [{ type: 'project-created', project: 'wiki' }] },
  on('blog', 'feed', 'feature-archived'),
];

interface Page extends Pick<EventPage, 'totalEvents' | 'nextOffset'> {
  readonly events: readonly LoggedEvent[];
}

async function search(log: EventLog, query: Partial<EventQuery>, durableId = log.lastId): Promise<Page> {
  const page = await log.search({ limit: 100, offset: 0, ...query }, durableId);
  const { totalEvents, nextOffset } = page;
  return { events: eventsOf(page), totalEvents, nextOffset };
}

const textsOf = ({ bytes }: EventLines): readonly string[] =>
  Buffer.from(bytes).toString().split('\n').slice(0, -1);

const ids = (page: Page): number[] => page.events.map(({ id }) => id);

async function journalOf(commands: readonly CommandSketch[], segmentBytes?: number): Promise<EventJournal> {
  const journal = await EventJournal.create(segmentBytes === undefined ? {} : { segmentBytes });
  await journal.write(...commands);
  return journal;
}

async function logOf(commands: readonly CommandSketch[], segmentBytes?: number): Promise<EventLog> {
  return (await journalOf(commands, segmentBytes)).openLog();
}

test('events are listed newest first, with what readers are told and nothing else', async () => {
  const log = await logOf([
    {
      by: 'ann',
      at: 1_700_000_000_000,
      answer: { secret: 1 },
      events: [{ hidden: { hash: 'x' }, data: { a: 1 } }, {}],
    },
  ]);
  const { events, totalEvents } = await search(log, {});
  assert.equal(totalEvents, 2);
  const shared = {
    createdAt: '2023-11-14T22:13:20.000Z',
    createdBy: 'ann',
    createdByUserId: 1,
    type: 'feature-created',
  };
  const nothing = { environment: null, project: null, featureName: null, preData: null, tags: [] };
  assert.deepEqual(events, [
    { id: 2, ...shared, ...nothing, data: null },
    { id: 1, ...shared, ...nothing, data: { a: 1 } },
  ]);
});

test('hidden parts and remembered answers are neither shown nor found', async () => {
  const log = await logOf([
    { answer: { body: 'gazelle' }, events: [{ hidden: 'gazelle', preData: 'gazelle' }] },
  ]);
  assert.deepEqual(await search(log, { query: 'gazelle' }), { events: [], totalEvents: 0, nextOffset: null });
  assert(!JSON.stringify((await search(log, {})).events).includes('hidden'));
});

test('filters narrow by type, project and flag, and by all of them together', async () => {
  const log = await logOf(SIX);
  assert.deepEqual(ids(await search(log, { type: 'feature-created' })), [4, 3, 1]);
  assert.deepEqual(ids(await search(log, { project: 'blog' })), [6, 4]);
  assert.deepEqual(ids(await search(log, { feature: 'dark' })), [4, 2, 1]);
  assert.deepEqual(ids(await search(log, { feature: 'dark', project: 'shop' })), [2, 1]);
  assert.deepEqual(
    ids(await search(log, { feature: 'dark', project: 'shop', type: 'feature-archived' })),
    [2],
  );
  assert.deepEqual(ids(await search(log, { feature: 'feed', project: 'shop' })), []);
});

test('filters are case-sensitive and an unknown name finds nothing', async () => {
  const log = await logOf(SIX);
  for (const query of [
    { project: 'Shop' },
    { feature: 'DARK' },
    { type: 'Feature-Created' },
    { project: '' },
  ]) {
    assert.deepEqual(await search(log, query), { events: [], totalEvents: 0, nextOffset: null });
  }
});

test('a page begins at the event that offset names, and the total counts beyond both ends of it', async () => {
  const log = await logOf(SIX);
  const page = await search(log, { limit: 2, offset: 5 });
  assert.deepEqual([ids(page), page.totalEvents], [[5, 4], 6]);
  const filtered = await search(log, { type: 'feature-created', limit: 1, offset: 3 });
  assert.deepEqual([ids(filtered), filtered.totalEvents], [[3], 3]);
  const between = await search(log, { project: 'blog', offset: 5 });
  assert.deepEqual([ids(between), between.totalEvents], [[4], 2]);
  assert.deepEqual(ids(await search(log, { offset: 99, limit: 1 })), [6]);
  const text = await search(log, { query: 'CREATED', limit: 2, offset: 4 });
  assert.deepEqual([ids(text), text.totalEvents], [[4, 3], 4]);
});

test('pages put end to end give every event once, across segments', async () => {
  const log = await logOf(SIX, 200);
  const seen: number[] = [];
  for (let offset = log.lastId; offset > 0; ) {
    const page = await search(log, { limit: 4, offset });
    seen.push(...ids(page));
    offset = (page.events.at(-1)?.id ?? 0) - 1;
  }
  assert.deepEqual(seen, [6, 5, 4, 3, 2, 1]);
});

test('a page says where the next one starts, and the last page that there is none', async () => {
  const log = await logOf(SIX, 200);
  const nextOf = async (query: Partial<EventQuery>) => (await search(log, query)).nextOffset;
  assert.equal(await nextOf({ limit: 2 }), 4);
  assert.equal(await nextOf({ limit: 2, offset: 4 }), 2);
  assert.equal(await nextOf({ limit: 2, offset: 2 }), null);
  assert.equal(await nextOf({ limit: 1, project: 'shop' }), 2);
  assert.equal(await nextOf({ limit: 1, query: 'archived' }), 2);
  assert.equal(await nextOf({ limit: 6 }), null);
});

test('a page ends when it reaches its bytes, and pages put end to end still give every event once', async () => {
  const large = { text: 'x'.repeat(PAGE_BYTES_MAX / 2) };
  const escaped = { text: '\u0001'.repeat(PAGE_BYTES_MAX / 4) };
  const log = await logOf([
    { events: [{ data: large }, { data: large }, { data: large }, { data: 'small' }] },
    { events: [{ data: large }] },
    { events: [{ data: escaped }] },
    { events: [{ data: large }] },
    { events: [{ data: 'small' }] },
  ]);
  const pages: number[][] = [];
  for (let offset: number | null = log.lastId; offset !== null; ) {
    const page: Page = await search(log, { offset });
    assert.equal(page.totalEvents, 8);
    pages.push(ids(page));
    offset = page.nextOffset;
  }
  // The escapes of event 6 are what makes its JSON six times its bytes on disk.
  assert.deepEqual(pages, [
    [8, 7, 6],
    [5, 4, 3],
    [2, 1],
  ]);
});

test('text is found in type, author and data, whatever the case', async () => {
  const log = await logOf([
    { by: 'Zoe@Example.com', events: [{ data: { title: 'Grüße' } }] },
    { events: [{ type: 'segment-created', data: ['Lorem "ipsum"\n'] }] },
  ]);
  const found = async (query: string) => ids(await search(log, { query }));
  assert.deepEqual(await found('zoe@'), [1]);
  assert.deepEqual(await found('SEGMENT'), [2]);
  assert.deepEqual(await found('GRÜSSE'), []);
  assert.deepEqual(await found('GRÜßE'), [1]);
  assert.deepEqual(await found('\\"ipsum\\"\\n'), [2]);
  assert.deepEqual(await found('"title":'), [1]);
  assert.deepEqual(await found(''), [2, 1]);
});

test('an event that is not durable yet is neither listed nor counted nor found', async () => {
  const journal = await journalOf([on('shop', 'dark')]);
  const log = await journal.openLog();
  const position = journal.append({ by: 'mallory', events: [{ project: 'shop', featureName: 'dark' }] });
  const added = journal.added.at(-1);
  assert(added !== undefined);
  log.add(added.frame, position);
  for (const query of [{}, { project: 'shop' }, { feature: 'dark' }, { offset: 2 }]) {
    const page = await search(log, query, journal.journal.durableId);
    assert.deepEqual([ids(page), page.totalEvents], [[1], 1]);
  }
  assert.equal((await search(log, { query: 'mallory' }, 1)).totalEvents, 0);
  journal.journal.commit();
  await journal.journal.flush();
  assert.equal((await search(log, { query: 'mallory' }, journal.journal.durableId)).totalEvents, 1);
});

test('a log that was added to answers like one that was opened on the same journal', async () => {
  const journal = await EventJournal.create({ segmentBytes: 300 });
  const added = await journal.openLog();
  for (const command of SIX) {
    await journal.write(command);
    const last = journal.added.at(-1);
    if (last !== undefined) added.add(last.frame, last.position);
  }
  const opened = await journal.openLog();
  for (const query of [
    {},
    { project: 'shop' },
    { feature: 'dark' },
    { query: 'arch' },
    { limit: 2, offset: 3 },
  ]) {
    assert.deepEqual(await search(added, query), await search(opened, query));
  }
});

test('a frame is read whole, with its hidden parts, by any of its events', async () => {
  const log = await logOf([{ events: [{}] }, { answer: 7, events: [{ hidden: 'h' }, { type: 'second' }] }]);
  const frame = await log.readFrame(3);
  assert.deepEqual([frame?.id, frame?.answer, frame?.events[0]?.hidden], [2, 7, 'h']);
  assert.equal(await log.readFrame(4), null);
});

test('a frame of megabytes is read in many turns of the event loop, with the same events', async () => {
  const journal = await EventJournal.create();
  await journal.write({ events: Array.from({ length: 300 }, (_, at) => ({ data: `${at} `.repeat(3_000) })) });
  let turns = 0;
  const log = await openEventLog({
    fs: journal.disk,
    folder: FOLDER,
    logReader: inlineLogReader(journal.disk),
    yieldToEventLoop: async () => {
      turns += 1;
    },
  });
  const before = turns;
  const frame = await log.readFrame(7);
  assert(turns - before > 20, `${turns - before} turns`);
  assert.deepEqual(frame?.events, journal.added[0]?.frame.events);
});

test('a walk goes either way between two ids, over what any of its filters wants', async () => {
  const log = await logOf(SIX, 200);
  const walk = async (options: object) => {
    const seen: number[] = [];
    for await (const { id } of log.iterate({ from: 1, to: log.lastId, ...options })) seen.push(id);
    return seen;
  };
  assert.deepEqual(await walk({}), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(await walk({ from: 2, to: 4, newestFirst: true }), [4, 3, 2]);
  const history = [{ feature: 'pay' }, { project: 'blog', type: ['feature-archived', 'project-deleted'] }];
  assert.deepEqual(await walk({ anyOf: history }), [3, 6]);
  assert.deepEqual(await walk({ anyOf: [{ feature: 'nowhere' }] }), []);
  assert.deepEqual(await walk({ from: 5, to: 4 }), []);
});

test('a walk for replay carries the hidden parts', async () => {
  const log = await logOf([{ by: 'ann', events: [{ hidden: 1 }, { hidden: 2 }] }]);
  const seen: unknown[] = [];
  for await (const { id, frame, event } of log.iterate({ from: 1, to: 2 }))
    seen.push([id, frame.by, event.hidden]);
  assert.deepEqual(seen, [
    [1, 'ann', 1],
    [2, 'ann', 2],
  ]);
});

test('a time is turned into the last event that had been made by then', async () => {
  const log = await logOf([
    { at: 10, events: [{}, {}] },
    { at: 20, events: [{}] },
    { at: 20, events: [{}] },
    { at: 30, events: [{}] },
  ]);
  const at = (time: number, durableId = 5) => log.idAtOrBefore(time, durableId);
  assert.deepEqual(
    [9, 10, 19, 20, 29, 30, 99].map((time) => at(time)),
    [null, 2, 2, 4, 4, 5, 5],
  );
  assert.equal(at(99, 3), 3);
});

test('a walk decodes a frame once, however many of its events are wanted', async () => {
  const many = Array.from({ length: 1_000 }, () => ({ project: 'shop' }));
  const log = await logOf([{ events: many }, ...SIX, { events: many }]);
  for (const wanted of [{}, { anyOf: [{ project: 'shop' }] }]) {
    const frames = new Set<object>();
    const seen: number[] = [];
    for await (const { id, frame } of log.iterate({ from: 1, to: log.lastId, ...wanted })) {
      seen.push(id);
      frames.add(frame);
    }
    assert(seen.length >= 2_000 && seen.every((id, at) => at === 0 || id > seen[at - 1]!));
    assert(frames.size <= 2 + SIX.length, `${frames.size} frames were decoded of ${2 + SIX.length}`);
  }
});

test('dropped segments are forgotten, and what remains is still found', async () => {
  const journal = await journalOf(SIX, 220);
  const log = await journal.openLog();
  const segments = [...new Set(journal.added.map(({ position }) => position.segment))];
  const kept = segments.at(-2) ?? 0;
  const dropped = log.dropSegmentsBefore(kept);
  assert.deepEqual(
    dropped,
    segments.filter((segment) => segment < kept),
  );
  for (const segment of dropped) journal.disk.take(`${FOLDER}/${String(segment).padStart(20, '0')}.journal`);
  assert.deepEqual([log.firstId, log.count], [kept, 6 - kept + 1]);
  assert.equal((await search(log, {})).totalEvents, 6 - kept + 1);
  assert.equal((await search(log, { query: 'feature' })).events.at(-1)?.id, kept);
  const reopened = await journal.openLog();
  assert.deepEqual(await search(reopened, {}), await search(log, {}));
});

test('a segment that vanishes during a text search counts as no longer kept', async () => {
  const journal = await journalOf(
    SIX.map((command) => ({ ...command, events: command.events.map((e) => ({ ...e, data: 'needle' })) })),
    200,
  );
  const log = await journal.openLog();
  journal.disk.take(`${FOLDER}/00000000000000000001.journal`);
  const left = journal.added.filter(({ position }) => position.segment > 1).length;
  assert.equal((await search(log, { query: 'needle' })).totalEvents, left);
});

test('events whose segment is deleted just before they are read are left out, once it is not kept any more', async () => {
  const journal = await journalOf(SIX, 220);
  const log = await journal.openLog();
  const second = journal.added.find(({ position }) => position.segment > 1)?.position.segment ?? 0;
  journal.disk.beforeCall = ({ kind, path }) => {
    if (kind !== 'open' || !path.endsWith('/00000000000000000001.journal')) return;
    log.dropSegmentsBefore(second);
    journal.disk.take(path);
  };
  assert.deepEqual(
    (await eventsById(log, [1, 6])).map(({ id }) => id),
    [6],
  );
  journal.disk.beforeCall = null;
  journal.disk.take(`${FOLDER}/${String(second).padStart(20, '0')}.journal`);
  await assert.rejects(log.readFrame(second), { code: 'ENOENT' });
});

test('lines hold each wanted event once, a segment at a time, and are refused where retention took some, even while they are read', async () => {
  const journal = await journalOf(SIX, 220);
  const log = await journal.openLog();
  const wanted = {
    durableId: log.lastId,
    isWanted: ({ type }: RecordedEvent) => type !== 'feature-archived',
  };
  const ids: number[] = [];
  let pages = 0;
  for (let id = 0; id < log.lastId; pages += 1) {
    const lines = (await log.linesAfter(id, wanted)) ?? assert.fail('all are kept');
    ids.push(...textsOf(lines).map((text) => JSON.parse(text).id as number));
    assert(lines.lastId > id);
    id = lines.lastId;
  }
  assert(pages > 1, 'there are several segments');
  const all = await eventsById(
    log,
    Array.from({ length: log.lastId }, (_, at) => at + 1),
  );
  assert.deepEqual(
    ids,
    all.filter(({ type }) => type !== 'feature-archived').map(({ id }) => id),
  );
  const second = journal.added.find(({ position }) => position.segment > 1)?.position.segment ?? 0;
  journal.disk.beforeCall = ({ kind, path }) => {
    if (kind !== 'open' || !path.endsWith('/00000000000000000001.journal')) return;
    log.dropSegmentsBefore(second);
    journal.disk.take(path);
  };
  assert.equal(await log.linesAfter(0, wanted), null);
  assert.equal(await log.linesAfter(second - 2, wanted), null);
  assert.equal(
    textsOf((await log.linesAfter(second - 1, wanted)) ?? assert.fail())[0]?.includes(`"id":${second},`),
    true,
  );
});

test('lines leave the event loop to others after each 64 KiB, and end with the event that exceeds 256 KiB', async () => {
  const events = Array.from({ length: 3_000 }, (_, at) => ({ data: `${at} ${'x'.repeat(400)}` }));
  const journal = await journalOf([{ events }], 10_000_000);
  const { disk } = journal;
  let turns = 0;
  const yieldToEventLoop = async (): Promise<void> => {
    turns += 1;
  };
  const log = await openEventLog({
    fs: disk,
    folder: FOLDER,
    logReader: inlineLogReader(disk),
    yieldToEventLoop,
  });
  const { bytes, lastId } =
    (await log.linesAfter(0, { durableId: 3_000, isWanted: () => true })) ?? assert.fail('all are kept');
  const [last = ''] = textsOf({ bytes, lastId }).slice(-1);
  assert.equal(JSON.parse(last).id, lastId);
  assert(bytes.length > LINES_BYTES_MAX && bytes.length - last.length <= LINES_BYTES_MAX);
  assert(turns > LINES_BYTES_MAX / (64 * 1024), `${turns} turns`);
});

test('others have their turn after 5,000 events of which none is wanted', async () => {
  const log = await logOf([{ events: Array.from({ length: LINES_EVENTS_MAX + 1 }, () => ({})) }]);
  const nothing = { durableId: log.lastId, isWanted: () => false };
  assert.deepEqual(await log.linesAfter(0, nothing), { bytes: Buffer.alloc(0), lastId: LINES_EVENTS_MAX });
});

test('bytes that went bad after the start are reported, not shown', async () => {
  const journal = await journalOf(SIX);
  const log = await journal.openLog();
  const path = `${FOLDER}/00000000000000000001.journal`;
  const bytes = journal.disk.bytesOf(path);
  const place = journal.added[2]?.position.offset ?? 0;
  bytes[place + 40] = (bytes[place + 40] ?? 0) ^ 1;
  journal.disk.put(path, bytes);
  await assert.rejects(log.readFrame(3), { name: 'DataFolderError', offset: place });
});

test('a frame half written at the very end counts as not there, damage before the end stops the opening', async () => {
  const journal = await journalOf(SIX);
  const path = `${FOLDER}/00000000000000000001.journal`;
  const whole = journal.disk.bytesOf(path);
  const cut = journal.disk.copy();
  cut.put(path, whole.subarray(0, whole.length - 3));
  assert.equal((await openLog(cut)).lastId, 5);
  const [one, two] = [journal.added[1]?.position, journal.added[2]?.position];
  assert(one !== undefined && two !== undefined);
  const missing = journal.disk.copy();
  missing.put(path, Buffer.concat([whole.subarray(0, one.offset), whole.subarray(two.offset)]));
  await assert.rejects(openLog(missing), { name: 'DataFolderError', offset: one.offset, lastGoodEventId: 1 });
});
