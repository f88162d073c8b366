/** The process as a supervisor sees it: exit codes, one clear line, secrets shown once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT_FOLDER, spawnServer, temporaryFolder } from './support/server.ts';

/** Starts a server that is expected to end by itself. */
async function runToEnd(env: Readonly<Record<string, string>>): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: ROOT_FOLDER,
    env: { PATH: process.env['PATH'], HTTP_HOST: '127.0.0.1', PORT: '0', ...env },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'exit');
  return { code, output };
}

describe('the process', () => {
  it('ends with 78 and one line for a setting that cannot be used', async () => {
    const { code, output } = await runToEnd({ PORT: 'http' });
    assert.equal(code, 78);
    assert.equal(output, 'flagstaff: PORT must be a port number from 0 to 65535, not "http".\n');
  });

  it('ends with 74 and one line when the data folder cannot be opened', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const { code, output } = await runToEnd({ DATA_DIR: file });
    assert.equal(code, 74);
    assert.match(
      output,
      /^flagstaff: EEXIST: .*a-file'\. Look at DATA_DIR, its permissions and its disk\.\n$/,
    );
    rmSync(folder, { recursive: true });
  });

  it('ends with 75, before touching a byte, when another process has the folder', async () => {
    const folder = temporaryFolder();
    const first = await spawnServer(folder);
    const { code, output } = await runToEnd({ DATA_DIR: folder });
    assert.equal(code, 75);
    assert.match(output, new RegExp(`^flagstaff: The process ${first.child.pid} has the data folder .*\\n$`));
    assert.equal((await first.call('GET', '/projects/default')).status, 200);
    await first.terminate();
    rmSync(folder, { recursive: true });
  });

  it('ends with 65 and names file, offset and last good event when the journal is damaged', async () => {
    const folder = temporaryFolder();
    const first = await spawnServer(folder);
    await first.call('POST', '/projects/default/features', { name: 'kept' });
    assert.equal(await first.terminate(), 0);
    const journal = join(
      folder,
      'journal',
      readdirSync(join(folder, 'journal')).find((one) => one.endsWith('.journal')) ?? '',
    );
    const bytes = readFileSync(journal);
    bytes.writeUInt8(bytes.readUInt8(80) ^ 1, 80);
    writeFileSync(journal, bytes);
    const { code, output } = await runToEnd({ DATA_DIR: folder });
    assert.equal(code, 65);
    assert.match(output, /\.journal/);
    assert.match(output, /offset/);
    assert.deepEqual(readFileSync(journal), bytes, 'a refusal changes nothing');
    rmSync(folder, { recursive: true });
  });

  for (const [what, names] of [
    ['the journal that it writes to', ['journal']],
    ['the lock file of its folder', ['flagstaff.lock']],
  ] as const) {
    it(`ends with 74 and one line in the log when somebody deletes ${what}`, async () => {
      const folder = temporaryFolder();
      const server = await spawnServer(folder);
      for (const name of names) rmSync(join(folder, name), { recursive: true });
      const ended = once(server.child, 'exit');
      // It is noticed within a second; nobody answers any more then.
      for (let index = 0; server.child.exitCode === null; index += 1) {
        await server.call('POST', '/projects/default/features', { name: `flag-${index}` }).catch(() => ended);
      }
      assert.deepEqual((await ended)[0], 74);
      assert.match(server.output(), /was deleted,? (?:moved )?or replaced/);
      rmSync(folder, { recursive: true });
    });
  }

  it('shows the admin token that it made once, on the terminal, and keeps only its digest', async () => {
    const folder = temporaryFolder();
    const first = await spawnServer(folder, { INIT_ADMIN_API_TOKENS: '' });
    const token = /\*:\*\.[0-9a-f]{64}/.exec(first.output())?.[0] ?? '';
    assert.notEqual(token, '');
    assert.equal((await first.call('GET', '/projects/default', undefined, { token })).status, 200);
    await first.terminate();
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      if (/\.(journal|snapshot|index|mark)$/.test(name))
        assert(!readFileSync(path).includes(token.slice(4)), name);
    }
    const second = await spawnServer(folder, { INIT_ADMIN_API_TOKENS: '' });
    assert.doesNotMatch(second.output(), /\*:\*\./);
    assert.equal((await second.call('GET', '/projects/default', undefined, { token })).status, 200);
    await second.terminate();
    rmSync(folder, { recursive: true });
  });

  it('warns once about the variables of a database and starts all the same', async () => {
    const folder = temporaryFolder();
    const server = await spawnServer(folder, { DATABASE_URL: 'postgres://user:hunter2@db/flags' });
    assert.match(server.output(), /DATABASE_URL/);
    assert.doesNotMatch(server.output(), /hunter2/);
    await server.terminate();
    rmSync(folder, { recursive: true });
  });
});
