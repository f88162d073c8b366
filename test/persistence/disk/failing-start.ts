/**
 * Makes single calls to the disk fail while a server starts, by strace: `node --import tsx test/faults/run.ts 'failing start'`. Whatever
 * fails, the process ends with 74, or with 65 where it takes the file for damaged, its one line names the file, and the next start serves.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../../src/process/exit-codes.ts';
import { ROOT_FOLDER, spawnServer, startTestServer, temporaryFolder } from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';

/** Calls of a start that reach the disk. */
export const START_CALLS = [
  'mkdir',
  'openat',
  'write',
  'pwrite64',
  'pread64',
  'fsync',
  'ftruncate',
  'rename',
  'unlink',
  'fdatasync',
  'access',
  'statx',
  'newfstatat',
  'getdents64',
  'fcntl',
  'statfs',
  'close',
];
export const ERRORS = ['EIO', 'ENOSPC', 'EROFS', 'EMFILE'];

/** strace looks at calls on these files alone, so that those of Node itself are not counted. */
const FILES = [
  ...['', 'journal', 'snapshots', 'usage', 'flagstaff.lock', 'log.beginning', 'log.beginning.tmp'],
  ...['history.key', 'history.key.tmp', 'history.heads', 'first-admin-token.tmp'],
  ...['journal/00000000000000000001.journal', 'journal/durable.mark', 'journal/durable.mark.tmp'],
  ...['first-admin-token', 'snapshots/00000000000000000006.snapshot'],
];

export interface FailingStart {
  readonly call: string;
  readonly error: string;
  /** The number of the call, of these of a thread, that fails. */
  readonly when: number;
  /** A folder to start on a copy of; an empty one unless given. */
  readonly filled?: string;
}

/** False where the start makes fewer such calls. */
export async function failStart({ call, error, when, filled }: FailingStart): Promise<boolean> {
  const folder = temporaryFolder();
  if (filled === undefined) rmSync(folder, { recursive: true });
  else cpSync(filled, folder, { recursive: true });
  const trace = `${folder}.trace`;
  const strace = ['-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-o', trace];
  const files = FILES.flatMap((name) => ['-P', join(folder, name)]);
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`];
  const run = [process.execPath, ...nodeArguments('src/main.ts')];
  const child = spawn('strace', [...strace, ...files, ...inject, ...run], {
    cwd: ROOT_FOLDER,
    // With one thread for files, the number of a call is the same in each run.
    env: { ...environment(folder), UV_THREADPOOL_SIZE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    if (output.includes('"port"')) child.kill('SIGKILL');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const [code] = (await once(child, 'close')) as [number | null];
  const injected = /^.*INJECTED.*$/m.exec(readFileSync(trace, 'utf8'))?.[0];
  if (code !== null) await (await startTestServer({ folder })).stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(trace);
  if (injected === undefined) return false;
  const what = `${call} ${when} with ${error}: ${injected}\n${output}`;
  // What a start does without, such as a new snapshot, is no reason to end.
  if (code === null) return true;
  assert(code === EXIT.journalFailed || code === EXIT.damagedData, `exit code ${code}: ${what}`);
  assert(output.includes(folder), `names the file: ${what}`);
  return true;
}

function environment(folder: string): NodeJS.ProcessEnv {
  const { PATH } = process.env;
  return { PATH, HTTP_HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder };
}

/** A folder that a server has started and stopped on. */
export async function filledFolder(): Promise<string> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder);
  await server.terminate();
  return folder;
}

/** Every call of its kind in a start on an empty folder, and in one on a filled folder; how many were made to fail. */
export async function failAllStarts(call: string): Promise<number> {
  let failed = 0;
  const folder = await filledFolder();
  for (const filled of [undefined, folder]) {
    for (const error of ERRORS) {
      let when = 1;
      while (await failStart({ call, error, when, ...(filled !== undefined && { filled }) })) when += 1;
      failed += when - 1;
    }
  }
  rmSync(folder, { recursive: true });
  return failed;
}
