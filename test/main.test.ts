/** The process as a supervisor sees it: exit codes, one clear line, secrets shown once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { VERSION } from '../src/process/installation.ts';
import { ENGINES } from './support/installed-engines.ts';
import { processFor, ROOT_FOLDER, serverFor, temporaryFolder } from './support/server.ts';
import { nodeArguments } from './support/source.ts';

/** Starts a server that is expected to end by itself. */
async function runToEnd(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<{ code: number; output: string; result: string }> {
  const child = spawn(process.execPath, nodeArguments('src/main.ts', ...args), {
    cwd: ROOT_FOLDER,
    env: { PATH: process.env['PATH'], HTTP_HOST: '127.0.0.1', PORT: '0', ...env },
  });
  let output = '';
  let result = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    result += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, output, result };
}

describe('the process', () => {
  it('ends with 78 and one line for a setting that cannot be used', async () => {
    const { code, output } = await runToEnd({ PORT: 'http' });
    assert.equal(code, 78);
    assert.equal(output, 'flagstaff: PORT must be a whole number from 0 to 65535, not "http".\n');
  });

  it('ends with 74 and one line when the data folder cannot be opened', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const { code, output } = await runToEnd({ DATA_DIR: file });
    assert.equal(code, 74);
    assert.equal(
      output,
      `flagstaff: ${file} cannot be used: it is a file, not a folder (EEXIST, mkdir). Look at DATA_DIR, its permissions and its disk.\n`,
    );
  });

  it('ends with 75, before touching a byte, when another process has the folder', async (t) => {
    const folder = temporaryFolder();
    const first = await processFor(t, folder);
    const { code, output } = await runToEnd({ DATA_DIR: folder });
    assert.equal(code, 75);
    assert.match(output, new RegExp(`^flagstaff: The process ${first.child.pid} has the data folder .*\\n$`));
    assert.equal((await first.call('GET', '/projects/default')).status, 200);
  });

  it('ends with 65 and names file, offset and last good event when the journal is damaged', async (t) => {
    const folder = temporaryFolder();
    const first = await processFor(t, folder);
    await first.call('POST', '/projects/default/features', { name: 'kept' });
    // A stop takes a snapshot, which holds what is damaged here: the server would serve on.
    await first.kill();
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
  });

  it('serves on with damage in old history that the snapshot holds, and says so on /health and to who needs it', async (t) => {
    const first = await serverFor(t, { folder: temporaryFolder() });
    const { folder } = first;
    // More than a start reads at once.
    const parameters = { filler: 'x'.repeat(60_000) };
    const add = async (name: string): Promise<void> => {
      await first.call('POST', '/projects/default/features', { name });
      const path = `/projects/default/features/${name}/environments/development/strategies`;
      const { status } = await first.call('POST', path, { name: 'flexibleRollout', parameters });
      assert.equal(status, 200);
    };
    // Few at a time: no change may wait for ten seconds, which hundreds at once do on a busy machine.
    for (let number = 0; number < 300; number += 10)
      await Promise.all(Array.from({ length: 10 }, (_, more) => add(`flag-${number + more}`)));
    await first.stop();
    const [journal = ''] = readdirSync(join(folder, 'journal')).filter((one) => one.endsWith('.journal'));
    const file = join(folder, 'journal', journal);
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(file, bytes);
    const second = await serverFor(t, { folder });
    await second.server.store.historyCheck.run();
    const search = await second.call('GET', '/search/events?query=nowhere');
    assert.deepEqual([search.status, search.body.events], [200, []]);
    assert.match(search.headers.get('flagstaff-warnings') ?? '', /events/);
    const health = async () => (await second.callBelow('')('GET', '/health')).body;
    assert.match(
      (await health()).warning,
      new RegExp(`^Old history is damaged \\(${journal}, offset [0-9]+\\)`),
    );
    assert((await health()).historyCheckedAt !== undefined);
    assert.equal((await second.call('GET', '/projects/default/features/flag-1')).status, 200);
    assert.equal((await second.call('POST', '/projects/default/features', { name: 'later' })).status, 201);
  });

  it('ends with 75 when a server runs on the folder whose lock file somebody deleted', async (t) => {
    const folder = temporaryFolder();
    const first = await processFor(t, folder);
    rmSync(join(folder, 'flagstaff.lock'));
    const { code, output } = await runToEnd({ DATA_DIR: folder });
    assert.equal(code, 75);
    assert.match(output, new RegExp(`^flagstaff: The process ${first.child.pid} has the data folder .*\\n$`));
    assert.equal((await first.call('GET', '/projects/default')).status, 200);
  });

  for (const [what, names] of [
    ['the journal that it writes to', ['journal']],
    ['the lock file of its folder', ['flagstaff.lock']],
  ] as const) {
    it(`ends with 74 and one line in the log when somebody deletes ${what}`, async (t) => {
      const folder = temporaryFolder();
      const server = await processFor(t, folder);
      for (const name of names) rmSync(join(folder, name), { recursive: true });
      const ended = once(server.child, 'exit');
      // It is noticed within a second; nobody answers any more then.
      for (let index = 0; server.child.exitCode === null; index += 1) {
        await server.call('POST', '/projects/default/features', { name: `flag-${index}` }).catch(() => ended);
      }
      assert.deepEqual((await ended)[0], 74);
      assert.match(server.output(), /was deleted,? (?:moved )?or replaced/);
    });
  }

  it('ends with 74 and one line for a data folder in a place that takes none', async () => {
    const { code, output } = await runToEnd({ DATA_DIR: '/proc/flagstaff' });
    assert.equal(code, 74);
    assert.match(output, /^flagstaff: \/proc\/flagstaff cannot be used: .*\. Look at DATA_DIR.*\n$/);
  });

  for (const engine of ENGINES) {
    it(`ends with 69 and one line when another process has the port, on ${engine}`, async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      const folder = temporaryFolder();
      const { code, output } = await runToEnd({
        DATA_DIR: folder,
        PORT: String(port),
        HTTP_ENGINE: engine,
      });
      assert.equal(code, 69);
      assert.equal(
        output,
        `flagstaff: Cannot listen on http://127.0.0.1:${port}: another process listens there; stop it, or choose another port.\n`,
      );
      other.close();
    });

    it(`ends with 78 and one line for a host that this machine does not have, on ${engine}`, async () => {
      const folder = temporaryFolder();
      const env = { DATA_DIR: folder, HTTP_ENGINE: engine, HTTP_HOST: '2001:db8::1' };
      const { code, output } = await runToEnd(env);
      assert.equal(code, 78);
      assert.match(output, /^flagstaff: Cannot listen on http:\/\/\[2001:db8::1\]:0: .*\n$/);
    });
  }

  it('says its version, and takes no other argument', async () => {
    assert.deepEqual(await runToEnd({}, ['--version']), { code: 0, output: '', result: `${VERSION}\n` });
    const { code, output } = await runToEnd({}, ['--port=1']);
    assert.equal(code, 64);
    assert.equal(
      output,
      'flagstaff: The server takes no argument but --version; "--port=1" means nothing to it.\n',
    );
  });

  it('writes the admin token that it made to a file for its user alone, and only its digest elsewhere', async (t) => {
    const folder = temporaryFolder();
    const first = await processFor(t, folder, { INIT_ADMIN_API_TOKENS: '' });
    const file = join(folder, 'first-admin-token');
    const token = readFileSync(file, 'utf8').trimEnd();
    assert.match(token, /^\*:\*\.[0-9a-f]{64}$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert(!first.output().includes(token.slice(4)), 'logs are kept and read by many');
    assert(first.output().includes(file));
    assert.equal((await first.call('GET', '/projects/default', undefined, { token })).status, 200);
    await first.terminate();
    rmSync(file);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      if (/\.(journal|snapshot|index|mark)$/.test(name))
        assert(!readFileSync(path).includes(token.slice(4)), name);
    }
    const second = await processFor(t, folder, { INIT_ADMIN_API_TOKENS: '' });
    assert(!existsSync(file), 'a token is made only once');
    assert.equal((await second.call('GET', '/projects/default', undefined, { token })).status, 200);
  });

  it('says that the tokens of the settings are ignored in a folder with events, unless they are its own', async (t) => {
    const folder = temporaryFolder();
    const first = await processFor(t, folder);
    await first.terminate();
    const same = await processFor(t, folder);
    await same.terminate();
    assert.doesNotMatch(same.output(), /ignored/);
    const kinds = ['ADMIN', 'CLIENT', 'BACKEND', 'FRONTEND'];
    const given = kinds.map((kind) => [
      `INIT_${kind}_API_TOKENS`,
      `*:${kind === 'ADMIN' ? '*' : 'development'}.another-secret-${kind}`,
    ]);
    const other = await processFor(t, folder, Object.fromEntries(given));
    await other.terminate();
    for (const [variable] of given)
      assert.match(other.output(), new RegExp(`${variable} has tokens that do not exist\\. It is ignored`));
    assert.doesNotMatch(other.output(), /another-secret/);
  });

  it('warns of variables without effect, of a database or misspelt, and starts all the same', async (t) => {
    const folder = temporaryFolder();
    const server = await processFor(t, folder, {
      DATABASE_URL: 'postgres://user:hunter2@db/flags',
      HTTP_WORKERS: '2',
      HTTP_PROT: '1',
    });
    assert.match(server.output(), /DATABASE_URL/);
    assert.match(server.output(), /HTTP_WORKERS is ignored/);
    assert.match(
      server.output(),
      /There is no setting HTTP_PROT, which is ignored\. Did you mean HTTP_PORT\?/,
    );
    assert.doesNotMatch(server.output(), /hunter2/);
  });
});
