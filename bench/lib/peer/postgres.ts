/** A PostgreSQL of this machine with a data folder of its own and its default settings, for a peer to run on. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../servers/server-process.ts';

const run = promisify(execFile);

/** The folder in which Debian's packages have the programs, a folder for each version. */
const PLACE = '/usr/lib/postgresql';

/** PostgreSQL refuses to run as root; Debian's package makes this user. */
const USER = 'postgres';

const START_MS_MAX = 30_000;
const LOOK_MS = 50;

export interface Postgres {
  readonly version: string;
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPostgres(parentFolder: string): Promise<Postgres> {
  const bin = programFolder();
  const folder = mkdtempSync(join(parentFolder, 'flagstaff-bench-postgres-'));
  const command = await commandMaker(folder);
  const data = join(folder, 'data');
  const [initFile, ...initArgs] = command(
    ...[join(bin, 'initdb'), '-D', data, '-U', USER, '--auth=trust', '--encoding=UTF8'],
  );
  await run(initFile, initArgs);
  const port = await freePort();
  const [file, ...args] = command(
    ...[join(bin, 'postgres'), '-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1'],
  );
  const child = spawn(file, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await untilReady(bin, port);
  const { stdout } = await run(join(bin, 'postgres'), ['--version']);
  return {
    version: /\d+(?:\.\d+)*/.exec(stdout)?.[0] ?? 'of an unknown version',
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    async stop() {
      const [stopFile, ...stopArgs] = command(join(bin, 'pg_ctl'), '-D', data, '-m', 'fast', 'stop');
      await run(stopFile, stopArgs);
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function programFolder(): string {
  const versions = existsSync(PLACE) ? readdirSync(PLACE).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(PLACE, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined)
    throw new Error(
      `there is no PostgreSQL below ${PLACE}; install Debian's package postgresql, or name a --peer <url>`,
    );
  return found;
}

/** Makes the command that runs a program as a user that PostgreSQL accepts, and gives that user the folder. */
async function commandMaker(folder: string): Promise<(...command: string[]) => [string, ...string[]]> {
  if (process.getuid?.() !== 0) return (file = '', ...args) => [file, ...args];
  const ids = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, USER])).stdout)),
  );
  chownSync(folder, ids[0] ?? 0, ids[1] ?? 0);
  return (...command) => ['runuser', '-u', USER, '--', ...command];
}

async function untilReady(bin: string, port: number): Promise<void> {
  const deadline = performance.now() + START_MS_MAX;
  while (performance.now() < deadline) {
    const isReady = await run(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`PostgreSQL was not ready after ${START_MS_MAX} ms`);
}
