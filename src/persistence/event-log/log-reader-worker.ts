/**
 * The thread of log-reader.ts: does the tasks of its parent, several at a time, and sends each its result. A failure of a task is
 * a result too; only an unforeseen error ends the thread.
 */
import assert from 'node:assert/strict';
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { contentionBackOff, OWN_SCHEDULE, scheduleTimes } from '../../process/schedule-times.ts';
import { DataFolderError } from '../disk/data-folder.ts';
import { realFileSystem } from '../disk/file-system.ts';
import { renderPage } from './event-page.ts';
import {
  checkPart,
  damageOf,
  type LogTask,
  type NumberedTask,
  type TaskOutput,
  type TaskResult,
} from './log-reader.ts';
import { scanText } from './text-scan.ts';

assert(parentPort !== null, 'this module runs in a worker thread');
const parent = parentPort;

preferOtherThreads();

const schedule = scheduleTimes(OWN_SCHEDULE);
const backOff = contentionBackOff(() => schedule?.().waitedMs ?? 0);

async function outcomeOf({ task, cancelled }: NumberedTask): Promise<TaskResult['outcome']> {
  try {
    const result = await run(task, async () => {
      await backOff();
      return Atomics.load(cancelled, 0) === 0;
    });
    return result === null ? { kind: 'cancelled' } : { kind: 'done', result };
  } catch (error) {
    if (error instanceof DataFolderError) return { kind: 'damaged', damage: damageOf(error) };
    return { kind: 'failed', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Null when it was cancelled. */
function run(task: LogTask, goesOn: () => Promise<boolean>): Promise<TaskOutput | null> {
  switch (task.kind) {
    case 'scan':
      return scanText(task.request, realFileSystem, goesOn);
    case 'page':
      return renderPage(realFileSystem, task.request);
    case 'check':
      return checkPart(realFileSystem, task.request, backOff);
  }
}

parent.on('message', async (task: NumberedTask) => {
  parent.postMessage({ number: task.number, outcome: await outcomeOf(task) } satisfies TaskResult);
});

/**
 * Lowers the priority of searches, which on few cores would make the thread that answers requests wait. On
 * Linux a priority is that of a thread; elsewhere this would be the priority of the whole process. Filters of system calls may
 * deny it; then only `backOff` helps.
 */
function preferOtherThreads(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A search without a priority is slower for others, and still a search.
  }
}
