import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventLog } from '../../../src/persistence/event-log/event-log.ts';
import { type CommandSketch, EventJournal, FOLDER, openLog } from '../../support/event-journal.ts';
import { type CallKind, ioError } from '../../support/memory-file-system.ts';

const FIRST = `${FOLDER}/00000000000000000001`;
const SEGMENT = `${FIRST}.journal`;
const INDEX_FILE = `${FIRST}.index`;

const command = (n: number): CommandSketch => ({
  by: `user${n % 3}`,
  events: [
    {
      type: 'feature-created',
      project: `p${n % 2}`,
      featureName: `f${n}`,
      environment: n % 4 === 0 ? 'prod' : null,
    },
    { type: 'feature-archived', project: null, featureName: `f${n % 5}`, data: { n } },
  ],
});

const commands = (from: number, to: number): CommandSketch[] =>
  Array.from({ length: to - from }, (_, place) => command(from + place));

/** Everything that a log can be asked, as one comparable value. */
async function searches(log: EventLog): Promise<unknown> {
  const queries = [
    {},
    { project: 'p1' },
    { feature: 'f3' },
    { type: 'feature-archived' },
    { query: 'USER2' },
    { query: '"n":' },
  ];
  const pages = queries.map((query) => log.search({ limit: 100, offset: 0, ...query }, log.lastId));
  return [log.firstId, log.lastId, log.count, ...(await Promise.all(pages))];
}

async function saved(): Promise<{ journal: EventJournal; expected: unknown }> {
  const journal = await EventJournal.create();
  await journal.write(...commands(0, 20));
  const log = await journal.openLog();
  await log.saveIndex(log.lastId);
  return { journal, expected: await searches(log) };
}

/** A segment of which only the header and the header of the last frame are left: good for nothing but an index file. */
function blankSegment(journal: EventJournal): void {
  const bytes = journal.disk.bytesOf(SEGMENT);
  const last = journal.added.at(-1)?.position.offset ?? 0;
  journal.disk.put(
    SEGMENT,
    Buffer.concat([bytes.subarray(0, 64), Buffer.alloc(last - 64), bytes.subarray(last)]),
  );
}

test('what an index file covers is not read again', async () => {
  const { journal } = await saved();
  blankSegment(journal);
  const notes: string[] = [];
  const log = await journal.openLog(notes);
  assert.deepEqual([log.firstId, log.lastId, log.count, notes], [1, 40, 40, []]);
  journal.disk.take(INDEX_FILE);
  await assert.rejects(journal.openLog(), { name: 'DataFolderError' });
});

test('a log restored from an index file answers as before', async () => {
  const { journal, expected } = await saved();
  assert.deepEqual(await searches(await journal.openLog()), expected);
});

test('an index file saved before the last events covers what it knows, the rest is decoded', async () => {
  const { journal } = await saved();
  await journal.write(...commands(20, 30));
  const restored = await searches(await journal.openLog());
  journal.disk.take(INDEX_FILE);
  assert.deepEqual(restored, await searches(await journal.openLog()));
});

test('a missing index file is rebuilt without a word', async () => {
  const { journal, expected } = await saved();
  journal.disk.take(INDEX_FILE);
  const notes: string[] = [];
  assert.deepEqual(await searches(await journal.openLog(notes)), expected);
  assert.deepEqual(notes, []);
});

test('an index file with any byte changed, or cut at any length, is noticed and rebuilt', async () => {
  const { journal, expected } = await saved();
  const whole = journal.disk.bytesOf(INDEX_FILE);
  const flipped = Array.from(whole, (byte, place) => Buffer.from(whole).fill(byte ^ 0x10, place, place + 1));
  const cut = Array.from(whole, (_, length) => whole.subarray(0, length));
  for (const [which, bytes] of [...flipped, ...cut].entries()) {
    journal.disk.put(INDEX_FILE, bytes);
    const notes: string[] = [];
    const log = await journal.openLog(notes);
    assert.equal(notes.length, 1, `variant ${which} was trusted`);
    assert.deepEqual([log.count, log.lastId], [40, 40]);
    if (which % 50 === 0) assert.deepEqual(await searches(log), expected);
  }
});

test('an index file of another journal is not trusted, though it is whole and of the right length', async () => {
  const { journal, expected } = await saved();
  const other = await EventJournal.create();
  await other.write(...commands(0, 20).map((sketch) => ({ ...sketch, at: 5 })));
  const log = await other.openLog();
  await log.saveIndex(40);
  journal.disk.put(INDEX_FILE, other.disk.bytesOf(INDEX_FILE));
  const notes: string[] = [];
  assert.deepEqual(await searches(await journal.openLog(notes)), expected);
  assert.match(notes.join(), /does not match its segment/);
});

test('an index file that covers more than its segment holds is not trusted', async () => {
  const { journal } = await saved();
  const keep = journal.added[10]?.position.offset ?? 0;
  journal.disk.put(SEGMENT, journal.disk.bytesOf(SEGMENT).subarray(0, keep));
  const notes: string[] = [];
  const log = await journal.openLog(notes);
  assert.deepEqual([log.count, notes.length], [20, 1]);
});

test('only durable events are saved', async () => {
  const journal = await EventJournal.create();
  await journal.write(...commands(0, 3));
  const log = await journal.openLog();
  const position = journal.append(command(3));
  const frame = journal.added.at(-1)?.frame;
  assert(frame !== undefined);
  log.add(frame, position);
  await log.saveIndex(journal.journal.durableId);
  assert.equal((await journal.openLog()).lastId, 6);
});

test('every segment gets its index file, and one that is saved already is left alone', async () => {
  const journal = await EventJournal.create({ segmentBytes: 600 });
  await journal.write(...commands(0, 10));
  const log = await journal.openLog();
  await log.saveIndex(log.lastId);
  const names = journal.disk.namesIn(FOLDER);
  const stems = (suffix: string) =>
    names.filter((name) => name.endsWith(suffix)).map((name) => name.split('.')[0]);
  assert(stems('.journal').length > 2);
  assert.deepEqual(stems('.index'), stems('.journal'));
  const calls = journal.disk.calls;
  await log.saveIndex(log.lastId);
  const reopened = await journal.openLog();
  const callsToOpen = journal.disk.calls;
  await reopened.saveIndex(reopened.lastId);
  assert(calls < callsToOpen);
  assert.equal(journal.disk.calls, callsToOpen);
});

test('a failure at any step of saving is noted, harms nothing, and the next save succeeds', async () => {
  for (let failing = 1; ; failing++) {
    const journal = await EventJournal.create();
    await journal.write(...commands(0, 5));
    const log = await journal.openLog();
    const notes: string[] = [];
    const again = await openLog(journal.disk, notes);
    const before = journal.disk.calls;
    let failedKind: CallKind | null = null;
    journal.disk.beforeCall = ({ number, kind }) => {
      if (number !== before + failing) return;
      failedKind = kind;
      throw ioError('EIO', 'as the test asks');
    };
    await again.saveIndex(10);
    const calls = journal.disk.calls - before;
    journal.disk.beforeCall = null;
    if (calls < failing) break;
    // A read that fails once is tried again, page by page, and then nothing is amiss.
    if (failedKind !== 'read')
      assert.match(notes.join(), /could not be saved.*(EIO|the disk cannot read it)/);
    assert.deepEqual(await searches(await journal.openLog()), await searches(log));
    await again.saveIndex(10);
    blankSegment(journal);
    assert.equal((await journal.openLog()).count, 10);
  }
});

test('a full disk shows as a short write, and leaves no index file that would be trusted', async () => {
  const journal = await EventJournal.create();
  await journal.write(...commands(0, 5));
  const notes: string[] = [];
  const log = await openLog(journal.disk, notes);
  await journal.journal.close();
  const sizes = journal.disk.namesIn(FOLDER).map((name) => journal.disk.bytesOf(`${FOLDER}/${name}`).length);
  journal.disk.capacityBytes = sizes.reduce((sum, size) => sum + size, 100);
  await log.saveIndex(10);
  assert.match(notes.join(), /bytes were written/);
  assert(!journal.disk.namesIn(FOLDER).includes('00000000000000000001.index'));
});

test('saves that overlap queue up', async () => {
  const journal = await EventJournal.create();
  await journal.write(...commands(0, 5));
  const notes: string[] = [];
  const log = await openLog(journal.disk, notes);
  await Promise.all([log.saveIndex(4), log.saveIndex(10), log.saveIndex(10)]);
  assert.deepEqual(notes, []);
  blankSegment(journal);
  assert.equal((await journal.openLog()).count, 10);
});

test('the documented sample is what is written', async () => {
  const journal = await EventJournal.create();
  await journal.write({ by: 'b', at: 1, events: [{ type: 'a' }] });
  const log = await journal.openLog();
  await log.saveIndex(1);
  const bytes = journal.disk.bytesOf(INDEX_FILE);
  bytes.fill(0, 12, 16).fill(0, 32, 36);
  const head = '464c4147494e4458 02000000 00000000';
  const counts = '0100000000000000 01000000 b0000000 00000000 0d000000 03000000';
  const names = '9591a16191c091c091c091a162';
  assert.equal(
    bytes.toString('hex'),
    `${head}${counts}40000000${'00'.repeat(20)}${names}`.replaceAll(' ', ''),
  );
});

test('an index file that the disk cannot read is rebuilt, and that is noted', async () => {
  const { journal, expected } = await saved();
  journal.disk.beforeCall = ({ kind, path }) => {
    if (kind === 'read' && path === INDEX_FILE) throw ioError('EIO', `read ${path}`);
  };
  const notes: string[] = [];
  assert.deepEqual(await searches(await journal.openLog(notes)), expected);
  assert.match(notes.join(), /The disk cannot read the index file/);
});
