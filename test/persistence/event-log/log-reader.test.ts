import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { realFileSystem } from '../../../src/persistence/disk/file-system.ts';
import type { EventLog } from '../../../src/persistence/event-log/event-log.ts';
import {
  type LogReader,
  logReaderSource,
  type NumberedTask,
  startLogReaderWorker,
  type TaskResult,
  WorkerLogReader,
} from '../../../src/persistence/event-log/log-reader.ts';

import type { TextScanRequest } from '../../../src/persistence/event-log/text-scan.ts';
import { EventJournal, eventsById, FOLDER, openEventLog, openLog } from '../../support/event-journal.ts';
import { eventsOf } from '../../support/event-page.ts';
import { inlineLogReader } from '../../support/inline-log-reader.ts';
import { MemoryFileSystem } from '../../support/memory-file-system.ts';
import { closedAfter, type Test } from '../../support/server.ts';
import { LOADER, runnable } from '../../support/source.ts';

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

const openOn = async (t: Test, logReader: LogReader): Promise<EventLog> =>
  closedAfter(t, await openEventLog({ fs: realFileSystem, folder, logReader }));

async function total(log: EventLog, query: string): Promise<number> {
  const page = await log.search({ query, limit: 5, offset: 0 }, log.lastId);
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

test('the thread finds what a search in place finds', async (t) => {
  const threaded = await openOn(t, new WorkerLogReader());
  const inline = await openOn(t, inlineLogReader(realFileSystem));
  for (const query of ['launch 777', 'USER3', '9"', 'nothing like it', 'feature-created']) {
    const ask = { query, limit: 50, offset: 15_000 };
    assert.deepEqual(await threaded.search(ask, 19_000), await inline.search(ask, 19_000));
  }
});

test('the event loop keeps turning while every event is looked at', async (t) => {
  const threaded = await openOn(t, new WorkerLogReader());
  await total(threaded, 'the thread has started');
  const turns = await turnsDuring(total(threaded, '9"'));
  await threaded.close();
  const inPlace = await turnsDuring(total(await openLog(disk), '9"'));
  assert(turns > 500, `${turns} turns during the search`);
  assert(inPlace < 50, `the measure tells the two apart: ${inPlace} turns when searched in place`);
});

test('a search is answered while the main thread stands still', async (t) => {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { parentPort, workerData: done } = require('node:worker_threads');
    const post = parentPort.postMessage.bind(parentPort);
    parentPort.postMessage = (result) => { post(result); Atomics.store(done, 0, 1); Atomics.notify(done, 0); };
    ${logReaderSource()}`;
  const log = await openOn(
    t,
    new WorkerLogReader(() => new Worker(source, { eval: true, execArgv: [], workerData: done })),
  );
  const search = total(log, '9"');
  assert.notEqual(Atomics.wait(done, 0, 0, 30_000), 'timed-out');
  assert((await search) > 0);
});

test('when the thread dies, the search it was busy with fails and the next one gets a new thread', async (t) => {
  const endings = ['process.exit(3)', 'throw new Error("unforeseen")'];
  let started = 0;
  const search = new WorkerLogReader(() => {
    const ending = endings[started++];
    if (ending === undefined) return startLogReaderWorker();
    return new Worker(`require('node:worker_threads').parentPort.once('message', () => { ${ending} });`, {
      eval: true,
      stderr: true,
    });
  });
  const log = await openOn(t, search);
  await assert.rejects(total(log, 'launch'), /ended before it had answered/);
  const both = await Promise.allSettled([total(log, 'launch'), total(log, 'launch 7')]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
    'whatever the thread was busy with',
  );
  assert.equal(await total(log, 'launch 7'), 1111);
  assert.equal(started, 3);
});

test('a search that meets bad bytes fails with the reason, and the thread lives on', async (t) => {
  let started = 0;
  const search = new WorkerLogReader(() => {
    started++;
    return startLogReaderWorker();
  });
  const log = await openOn(t, search);
  const [view] = [{ firstId: 1, count: 1, bytesEnd: 100, columns: columnsOfOneRow(70) }];
  const request = { ...REQUEST, folder, segments: [view] as TextScanRequest['segments'] };
  await assert.rejects(search.scan(request), /Event 1 cannot be read back: it is not where/);
  assert.equal(await total(log, 'launch'), EVENTS);
  assert.equal(started, 1);
});

test('the thread ends once the parts of the journal that it was to read are read, and what comes next gets another', async (t) => {
  const threads: Worker[] = [];
  const reader = new WorkerLogReader(() => {
    threads.push(startLogReaderWorker());
    return threads.at(-1)!;
  });
  const log = await openOn(t, reader);
  assert.equal(await total(log, 'launch 7'), 1111);
  const ended = once(threads[0]!, 'exit');
  for (const part of log.parts(log.lastId)) assert.equal(await log.check(part), null);
  await ended;
  assert.equal(await total(log, 'launch 7'), 1111);
  assert.equal(threads.length, 1 + log.parts(log.lastId).length);
});

function columnsOfOneRow(offset: number) {
  const column = (value: number): Uint32Array => Uint32Array.of(value);
  return {
    at: Float64Array.of(0),
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
    JSON.stringify(runnable(new URL(`../../../src/persistence/${path}`, import.meta.url).href));
  const script = `
    const [{ EventLog }, { WorkerLogReader }, { realFileSystem: fs }, { surveyJournal }] =
      await Promise.all([import(${url('event-log/event-log.ts')}), import(${url('event-log/log-reader.ts')}), import(${url('disk/file-system.ts')}), import(${url('recovery/journal-survey.ts')})]);
    const folder = ${JSON.stringify(folder)};
    const log = new EventLog({ fs, folder, logReader: new WorkerLogReader() });
    const visit = (...frame) => log.pass(...frame);
    await surveyJournal({ fs, folder, wantedIds: new Set(), visit });
    const page = await log.search({ query: 'LAUNCH 7', limit: 1, offset: 0 }, log.lastId);
    console.log(page.totalEvents);`;
  const parameters = [...LOADER, '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: tmpdir() });
  assert.equal(stdout.trim(), '1111');
});

/** A thread that answers when the test says so. */
class FakeWorker extends EventEmitter {
  readonly tasks: NumberedTask[] = [];
  terminated = false;

  postMessage(task: NumberedTask): void {
    this.tasks.push(task);
  }
  finish(result: TaskResult): void {
    this.emit('message', result);
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
  filter: { conditions: [], ids: null, oldestId: 0 },
  skip: 0,
  types: new Uint8Array(2),
  authors: new Uint8Array(2),
  newestId: 1,
  limit: 1,
  folder: '/',
  segments: [],
};

const found = (number: number, total: number): TaskResult => ({
  number,
  outcome: { kind: 'done', result: { ids: [], total } },
});

function fakeReader(): { worker: FakeWorker; reader: WorkerLogReader } {
  const worker = new FakeWorker();
  return { worker, reader: new WorkerLogReader(() => worker as unknown as Worker) };
}

test('tasks run side by side in one thread, and each gets its own answer', async () => {
  const { worker, reader } = fakeReader();
  const [first, second] = [reader.scan(REQUEST), reader.scan(REQUEST)];
  assert.deepEqual(
    worker.tasks.map(({ number }) => number),
    [1, 2],
  );
  worker.finish(found(2, 22));
  worker.finish({ number: 1, outcome: { kind: 'failed', problem: 'bad bytes' } });
  assert.deepEqual(await second, { ids: [], total: 22 });
  await assert.rejects(first, /bad bytes/);
});

test('an abandoned task is told to give up, and one that was abandoned before is not begun', async () => {
  const { worker, reader } = fakeReader();
  const running = new AbortController();
  const task = reader.scan(REQUEST, running.signal);
  assert.equal(worker.tasks[0]?.cancelled[0], 0);
  running.abort(new Error('gone'));
  assert.equal(worker.tasks[0]?.cancelled[0], 1);
  worker.finish({ number: 1, outcome: { kind: 'cancelled' } });
  await assert.rejects(task, /gone/);
  await assert.rejects(reader.scan(REQUEST, AbortSignal.abort(new Error('before'))), /before/);
  assert.equal(worker.tasks.length, 1);
});

test('closing ends the thread, fails what is under way and refuses what comes', async () => {
  const { worker, reader } = fakeReader();
  const settled = Promise.allSettled([reader.scan(REQUEST), reader.scan(REQUEST)]);
  await reader.close();
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(worker.terminated, true);
  await assert.rejects(reader.scan(REQUEST), /closed/);
});

test('a cancelled scan stops between two pieces', async (t) => {
  const log = await openOn(t, inlineLogReader(realFileSystem));
  await assert.rejects(
    log.search({ query: '9"', limit: 1, offset: 0 }, log.lastId, {
      signal: AbortSignal.abort(new Error('stop')),
    }),
    /stop/,
  );
});

test('a page of large frames is made by the thread, and is the same as one made in place', async () => {
  const journal = await EventJournal.create();
  const large = { text: 'x'.repeat(200_000) };
  await journal.write({ events: [{ data: large }, { data: 'small' }] }, { events: [{ data: large }] });
  const copies = await mkdtemp(join(tmpdir(), 'flagstaff-log-reader-'));
  for (const name of journal.disk.namesIn(FOLDER))
    await writeFile(join(copies, name), journal.disk.bytesOf(`${FOLDER}/${name}`));
  let pages = 0;
  const reader = new WorkerLogReader();
  const counted: LogReader = {
    scan: (...task) => reader.scan(...task),
    page: (...task) => {
      pages += 1;
      return reader.page(...task);
    },
    check: (request) => reader.check(request),
    close: () => reader.close(),
  };
  const threaded = await openEventLog({ fs: realFileSystem, folder: copies, logReader: counted });
  const page = await threaded.search({ limit: 100, offset: 0 }, 3);
  assert.deepEqual(eventsOf(page), await eventsById(threaded, [3, 2, 1]));
  assert.equal(pages, 1);
  await threaded.close();
  await rm(copies, { recursive: true });
});
