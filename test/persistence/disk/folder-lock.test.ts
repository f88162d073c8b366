/** Two processes, one folder: the second stops before it touches a byte, and no crash leaves a lock behind. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FolderLockedError, LOCK_FILE_NAME, lockFolder } from '../../../src/persistence/disk/folder-lock.ts';
import { temporaryFolder } from '../../support/server.ts';
import { LOADER, runnable } from '../../support/source.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

const HOLDER = `
  import { lockFolder } from ${JSON.stringify(runnable(new URL('../../../src/persistence/disk/folder-lock.ts', import.meta.url).href))};
  try {
    lockFolder(process.argv[1]);
    console.log('held');
    setInterval(() => undefined, 1_000_000);
  } catch (error) {
    console.log(error.name);
  }
`;

/** A process that takes the lock and keeps it until it is killed; resolves to what it said. */
async function startHolder(folder: string): Promise<{ child: ChildProcess; said: string }> {
  const parameters = [...LOADER, '--input-type=module', '-e', HOLDER, folder];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: said.toString().trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

test('the lock file holds the process id on one line, and nothing once released', () => {
  const folder = newFolder();
  const lock = lockFolder(folder);
  const path = join(folder, LOCK_FILE_NAME);
  assert.equal(readFileSync(path, 'utf8'), `${process.pid}\n`);
  lock.release();
  assert.equal(readFileSync(path, 'utf8'), '');
  lockFolder(folder).release();
});

test('a folder that does not exist yet is made', () => {
  const folder = join(newFolder(), 'new', 'data');
  lockFolder(folder).release();
  assert.deepEqual(readdirSync(folder), [LOCK_FILE_NAME]);
});

test('a second lock in the same process is refused too', () => {
  const folder = newFolder();
  const lock = lockFolder(folder);
  assert.throws(() => lockFolder(folder), FolderLockedError);
  lock.release();
});

test('a process id left in the file by a crash is overwritten and locks nothing', () => {
  const folder = newFolder();
  const path = join(folder, LOCK_FILE_NAME);
  writeFileSync(path, '99999999\n');
  const lock = lockFolder(folder);
  assert.equal(readFileSync(path, 'utf8'), `${process.pid}\n`);
  lock.release();
});

test('while another process holds the lock it is refused by name, and the file is not touched', async () => {
  const folder = newFolder();
  const { child, said } = await startHolder(folder);
  try {
    assert.equal(said, 'held');
    const path = join(folder, LOCK_FILE_NAME);
    const before = statSync(path);
    assert.throws(
      () => lockFolder(folder),
      (error) => {
        assert(error instanceof FolderLockedError);
        assert.equal(error.pid, child.pid);
        assert.match(error.message, new RegExp(`The process ${child.pid} has the data folder`));
        return true;
      },
    );
    assert.equal(readFileSync(path, 'utf8'), `${child.pid}\n`);
    assert.equal(statSync(path).mtimeMs, before.mtimeMs);
  } finally {
    await kill(child);
  }
});

test('a killed process leaves no lock behind, again and again, and of two racing ones a single one wins', async () => {
  const folder = newFolder();
  for (let round = 0; round < 3; round += 1) {
    const racers = await Promise.all([startHolder(folder), startHolder(folder)]);
    const said = racers.map((racer) => racer.said).sort();
    await Promise.all(racers.map(({ child }) => kill(child)));
    assert.deepEqual(said, ['FolderLockedError', 'held'], `round ${round}`);
    lockFolder(folder).release();
  }
});
