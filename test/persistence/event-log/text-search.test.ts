import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import { EventLog } from '../../../src/persistence/event-log/event-log.ts';
import type { TextMatches, TextScanRequest } from '../../../src/persistence/event-log/text-scan.ts';
import {
  inlineTextSearch,
  SEARCHES_WAITING_MAX,
  startTextSearchWorker,
  type TextSearch,
  type TextSearchReply,
  type TextSearchTask,
  textSearchSource,
  WorkerTextSearch,
} from '../../../src/persistence/event-log/text-search.ts';
import { EventJournal, FOLDER, openLog } from '../../support/event-journal.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';

/** Enough that looking at every event takes the thread many turns of the main thread's event loop. */
const EVENTS = 20_000;

let folder = '';
let disk = new MemoryFileSystem();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flagstaff-text-search-'));
  const journal = await EventJournal.create();
  for (let n = 0; n < EVENTS; n++) {
    journal.append({
      by: `user${n % 7}`,
      events: [{ data: { title: `Launch ${n}`, note: 'Lorem ipsum dolor sit amet' } }],
    });
    if (n % 1000 === 999) journal.journal.commit();
  }
  await journal.journal.flush();
  disk = journal.disk;
  for (const name of disk.namesIn(FOLDER))
    await writeFile(join(folder, name), disk.bytesOf(`${FOLDER}/${name}`));
});

after(() => rm(folder, { recursive: true }));

const openOn = (textSearch: TextSearch): Promise<EventLog> =>
  EventLog.open({ fs: realFileSystem, folder, textSearch });

async function total(log: EventLog, query: string): Promise<number> {
  const page = await log.search({ query, limit: 5, offset: 0 }, log.lastId);
  if ('refused' in page) throw new Error(page.message);
  return page.totalEvents;
}

/** Turns of the event loop that went by while the search was under way. */
async function turnsDuring(search: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await search;
  isOver = true;
  return turns;
}

test('the thread finds what a search in place finds', async () => {
  const threaded = await openOn(new WorkerTextSearch());
  const inline = await openOn(inlineTextSearch(realFileSystem));
  for (const query of ['launch 777', 'USER3', '9"', 'nothing like it', 'feature-created']) {
    const ask = { query, limit: 50, offset: 15_000 };
    assert.deepEqual(await threaded.search(ask, 19_000), await inline.search(ask, 19_000));
  }
  await threaded.close();
});

test('the event loop keeps turning while every event is looked at', async () => {
  const threaded = await openOn(new WorkerTextSearch());
  await total(threaded, 'the thread has started');
  const turns = await turnsDuring(total(threaded, '9"'));
  await threaded.close();
  const inPlace = await turnsDuring(total(await openLog(disk), '9"'));
  assert(turns > 500, `${turns} turns during the search`);
  assert(inPlace < 50, `the measure tells the two apart: ${inPlace} turns when searched in place`);
});

test('a search is answered while the main thread stands still', async () => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { parentPort, workerData: answered } = require('node:worker_threads');
    const post = parentPort.postMessage.bind(parentPort);
    parentPort.postMessage = (reply) => { post(reply); Atomics.store(answered, 0, 1); Atomics.notify(answered, 0); };
    ${textSearchSource()}`;
  const log = await openOn(
    new WorkerTextSearch(() => new Worker(source, { eval: true, execArgv: [], workerData: answered })),
  );
  const search = total(log, '9"');
  assert.notEqual(Atomics.wait(answered, 0, 0, 30_000), 'timed-out');
  assert((await search) > 0);
  await log.close();
});

test('when the thread dies, the search it was busy with fails and the next one gets a new thread', async () => {
  const endings = ['process.exit(3)', 'throw new Error("unforeseen")'];
  let started = 0;
  const search = new WorkerTextSearch(() => {
    const ending = endings[started++];
    if (ending === undefined) return startTextSearchWorker();
    return new Worker(`require('node:worker_threads').parentPort.once('message', () => { ${ending} });`, {
      eval: true,
      stderr: true,
    });
  });
  const log = await openOn(search);
  await assert.rejects(total(log, 'launch'), /ended before it had answered/);
  const [second, third] = await Promise.allSettled([total(log, 'launch'), total(log, 'launch 7')]);
  assert.equal(second.status, 'rejected');
  assert.deepEqual(third, { status: 'fulfilled', value: 1111 });
  assert.equal(started, 3);
  await log.close();
});

test('a search that meets bad bytes fails with the reason, and the thread lives on', async () => {
  let started = 0;
  const search = new WorkerTextSearch(() => {
    started++;
    return startTextSearchWorker();
  });
  const log = await openOn(search);
  const [view] = [{ firstId: 1, count: 1, bytesEnd: 100, columns: columnsOfOneRow(70) }];
  const request = { ...REQUEST, folder, segments: [view] as TextScanRequest['segments'] };
  await assert.rejects(search.search(request), /does not hold event 1 where/);
  assert.equal(await total(log, 'launch'), EVENTS);
  assert.equal(started, 1);
  await log.close();
});

function columnsOfOneRow(offset: number) {
  const column = (value: number): Uint32Array => Uint32Array.of(value);
  return {
    offset: column(offset),
    type: column(1),
    project: column(0),
    feature: column(0),
    environment: column(0),
    by: column(1),
  };
}

test('the thread starts in any working folder, and does not keep an idle process alive', async () => {
  const url = (path: string): string =>
    JSON.stringify(new URL(`../../../src/persistence/${path}`, import.meta.url).href);
  const script = `
    const [{ EventLog }, { WorkerTextSearch }, { realFileSystem }] =
      await Promise.all([import(${url('event-log/event-log.ts')}), import(${url('event-log/text-search.ts')}), import(${url('disk/file-system.ts')})]);
    const log = await EventLog.open({ fs: realFileSystem, folder: ${JSON.stringify(folder)}, textSearch: new WorkerTextSearch() });
    const page = await log.search({ query: 'LAUNCH 7', limit: 1, offset: 0 }, log.lastId);
    console.log(page.totalEvents);`;
  const parameters = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: tmpdir() });
  assert.equal(stdout.trim(), '1111');
});

/** A thread that answers when the test says so. */
class FakeWorker extends EventEmitter {
  readonly tasks: TextSearchTask[] = [];
  terminated = false;

  postMessage(task: TextSearchTask): void {
    this.tasks.push(task);
  }
  answer(reply: TextSearchReply): void {
    this.emit('message', reply);
  }
  async terminate(): Promise<number> {
    this.terminated = true;
    this.emit('exit', 1);
    return 1;
  }
  ref(): void {
    // A fake holds no process alive.
  }
  unref(): void {
    // See ref.
  }
}

const REQUEST: TextScanRequest = {
  folded: 'x',
  filter: { types: null, project: -1, feature: -1 },
  types: new Uint8Array(2),
  authors: new Uint8Array(2),
  newestId: 1,
  limit: 1,
  folder: '/',
  segments: [],
};

const found = (total: number): TextSearchReply => ({ kind: 'found', matches: { ids: [], total } });

function fakeSearch(): { worker: FakeWorker; search: WorkerTextSearch } {
  const worker = new FakeWorker();
  return { worker, search: new WorkerTextSearch(() => worker as unknown as Worker) };
}

test('searches run one at a time in their order, and one beyond the queue is refused at once', async () => {
  const { worker, search } = fakeSearch();
  const accepted = Array.from({ length: 1 + SEARCHES_WAITING_MAX }, () => search.search(REQUEST));
  const refused = await search.search(REQUEST);
  assert('refused' in refused && refused.name === 'ServiceUnavailableError');
  for (let n = 1; n <= accepted.length; n++) {
    assert.equal(worker.tasks.length, n);
    worker.answer(found(n));
  }
  const totals = (await Promise.all(accepted)).map((matches) => (matches as TextMatches).total);
  assert.deepEqual(
    totals,
    accepted.map((_, place) => place + 1),
  );
  const later = search.search(REQUEST);
  worker.answer(found(99));
  assert.deepEqual(await later, { ids: [], total: 99 });
});

test('an abandoned search leaves the queue, and a running one is told to give up', async () => {
  const { worker, search } = fakeSearch();
  const [running, waiting] = [new AbortController(), new AbortController()];
  const first = search.search(REQUEST, running.signal);
  const second = search.search(REQUEST, waiting.signal);
  const third = search.search(REQUEST);
  waiting.abort(new Error('left'));
  await assert.rejects(second, /left/);
  assert.equal(worker.tasks[0]?.cancelled[0], 0);
  running.abort(new Error('gone'));
  assert.equal(worker.tasks[0]?.cancelled[0], 1);
  worker.answer({ kind: 'cancelled' });
  await assert.rejects(first, /gone/);
  worker.answer(found(3));
  assert.deepEqual(await third, { ids: [], total: 3 });
  assert.equal(worker.tasks.length, 2);
  await assert.rejects(search.search(REQUEST, AbortSignal.abort(new Error('before'))), /before/);
});

test('closing ends the thread, fails what waits and refuses what comes', async () => {
  const { worker, search } = fakeSearch();
  const pending = [search.search(REQUEST), search.search(REQUEST)];
  const settled = Promise.allSettled(pending);
  await search.close();
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(worker.terminated, true);
  assert('refused' in (await search.search(REQUEST)));
});

test('a cancelled scan stops between two pieces', async () => {
  const log = await openOn(inlineTextSearch(realFileSystem));
  await assert.rejects(
    log.search({ query: '9"', limit: 1, offset: 0 }, log.lastId, AbortSignal.abort(new Error('stop'))),
    /stop/,
  );
});
