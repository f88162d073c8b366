/** A Redis of this machine that syncs its log before each response, filled and measured by Debian's own load generator. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../servers/server-process.ts';
import type { Database, DatabaseLoad, Engine } from './database.ts';
import { untilReady, versionOf } from './program.ts';

const run = promisify(execFile);

const SERVER = 'redis-server';
const LOAD = 'redis-benchmark';
const CLIENT = 'redis-cli';

const VALUE_BYTES = 300;
const CHANGE = `SET of ${VALUE_BYTES} bytes, appendfsync always`;
/** Requests of the run that finds out how many a second it takes: the load generator is given a number and no time. */
const REQUESTS_PER_CONNECTION = 100;

export const redis: Engine = {
  name: 'Redis',
  connectionsMax: 10_000,
  version: () => (versionOf(LOAD) === null ? null : versionOf(SERVER)),
  start: startRedis,
};

async function startRedis(parentFolder: string, keys: number): Promise<Database> {
  const folder = mkdtempSync(join(parentFolder, 'flagstaff-bench-redis-'));
  const port = await freePort();
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child: ChildProcess = spawn(SERVER, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const asked = async (...more: readonly string[]): Promise<string> =>
    (await run(LOAD, ['-h', '127.0.0.1', '-p', String(port), '-t', 'set', '--csv', ...more])).stdout;
  const set = async (connections: number, requests: number): Promise<number> =>
    perSecondOf(
      await asked(
        ...['-c', String(connections), '-n', String(requests)],
        ...['-d', String(VALUE_BYTES), '-r', String(keys)],
      ),
    );
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady('Redis', () => run(CLIENT, ['-p', String(port), 'ping']));
    return {
      change: CHANGE,
      stop,
      async measure({ connections, seconds }: DatabaseLoad) {
        const sample = await set(connections, connections * REQUESTS_PER_CONNECTION);
        return seconds === null ? sample : set(connections, Math.ceil(sample * seconds));
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `"test","rps",…` above `"SET","71650.12",…`. */
function perSecondOf(csv: string): number {
  const perSecond = Number(/^"SET","([\d.]+)"/m.exec(csv)?.[1]);
  if (!(perSecond > 0)) throw new Error(`${LOAD} gave no rate: ${csv}`);
  return perSecond;
}
