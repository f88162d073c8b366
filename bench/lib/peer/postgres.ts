/** A PostgreSQL of this machine with a data folder of its own and its default settings, for a peer to run on. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../servers/server-process.ts';
import type { Database, DatabaseLoad, Engine } from './database.ts';
import { untilReady, versionOf } from './program.ts';

const run = promisify(execFile);

/** The folder in which Debian's packages have the programs, a folder for each version. */
const PLACE = '/usr/lib/postgresql';

/** PostgreSQL refuses to run as root; Debian's package makes this user. */
const USER = 'postgres';

/** The bytes of a row, as long as the frame of a small change with its event. */
const ROW_BYTES = 300;

export interface Postgres {
  readonly version: string;
  readonly url: string;
  /** The folder of its programs. */
  readonly bin: string;
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
  await untilReady('PostgreSQL', () => run(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)]));
  return {
    version: versionOf(join(bin, 'postgres')) ?? 'of an unknown version',
    url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
    bin,
    async stop() {
      const [stopFile, ...stopArgs] = command(join(bin, 'pg_ctl'), '-D', data, '-m', 'fast', 'stop');
      await run(stopFile, stopArgs);
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function newestPrograms(): string | undefined {
  const versions = existsSync(PLACE) ? readdirSync(PLACE).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(PLACE, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

function programFolder(): string {
  const found = newestPrograms();
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

export const postgres: Engine = {
  name: 'PostgreSQL',
  connectionsMax: 97,
  version: () => versionOf(join(newestPrograms() ?? '', 'pgbench')),
  start: startRowUpdates,
};

/** Rows of 300 bytes, of which each transaction updates one by its key, with prepared statements. */
async function startRowUpdates(parentFolder: string, rows: number): Promise<Database> {
  // Beside the run's own folder, which no other user may enter.
  const server = await startPostgres(dirname(parentFolder));
  const folder = mkdtempSync(join(parentFolder, 'flagstaff-bench-pgbench-'));
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const table = 'CREATE TABLE flag (id int PRIMARY KEY, enabled boolean NOT NULL, body text NOT NULL)';
    const fill = `INSERT INTO flag SELECT id, false, repeat('x', ${ROW_BYTES}) FROM generate_series(1, ${rows}) id`;
    await run(join(server.bin, 'psql'), [server.url, '-q', '-c', table, '-c', fill]);
    const script = join(folder, 'update.sql');
    writeFileSync(
      script,
      `\\set id random(1, ${rows})\nUPDATE flag SET enabled = NOT enabled WHERE id = :id;\n`,
    );
    return {
      change: 'UPDATE of a row by its key, prepared',
      stop,
      async measure({ connections, seconds }: DatabaseLoad) {
        const length = seconds === null ? ['-t', '10'] : ['-T', String(seconds)];
        const load = ['-n', '-M', 'prepared', '-c', String(connections), '-j', '2', ...length, '-f', script];
        const { stdout } = await run(join(server.bin, 'pgbench'), [...load, server.url]);
        const perSecond = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
        if (!(perSecond > 0)) throw new Error(`pgbench gave no rate: ${stdout}`);
        return perSecond;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
