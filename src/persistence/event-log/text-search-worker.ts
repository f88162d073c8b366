/**
 * The thread of the free-text search: takes one task at a time from its parent (text-search.ts) and answers it.
 * A search that fails is an answer too; only what nobody foresaw ends the thread.
 */
import assert from 'node:assert/strict';
import { parentPort } from 'node:worker_threads';
import { realFileSystem } from '../disk/file-system.ts';
import { scanText } from './text-scan.ts';
import type { TextSearchReply, TextSearchTask } from './text-search.ts';

assert(parentPort !== null, 'runs as a worker thread only');
const parent = parentPort;

async function answer({ request, cancelled }: TextSearchTask): Promise<TextSearchReply> {
  try {
    const matches = await scanText(request, realFileSystem, () => Atomics.load(cancelled, 0) === 1);
    return matches === null ? { kind: 'cancelled' } : { kind: 'found', matches };
  } catch (error) {
    return { kind: 'failed', problem: error instanceof Error ? error.message : String(error) };
  }
}

parent.on('message', async (task: TextSearchTask) => {
  parent.postMessage(await answer(task));
});
