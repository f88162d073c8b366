/** `flagstaff flags`, `flagstaff events` and the completion of shells, against a server. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify, styleText } from 'node:util';
import { runCommands } from '../../src/cli/main.ts';
import type { Terminal } from '../../src/host/terminal.ts';
import { freePort } from '../support/free-port.ts';
import { addProject, addStrategy, addUser, environmentPath, makeFlag } from '../support/interface.ts';
import { flagstaff } from '../support/operator.ts';
import {
  ADMIN_TOKEN,
  ROOT_FOLDER,
  startTestServer,
  type TestServer,
  temporaryFolder,
} from '../support/server.ts';
import { nodeArguments } from '../support/source.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
  await addProject(server, 'shop');
});
after(() => server.stop());

const login = (FLAGSTAFF_TOKEN = ADMIN_TOKEN) => ({ FLAGSTAFF_URL: server.origin, FLAGSTAFF_TOKEN });
const run = (...args: string[]) => flagstaff(args, { env: login() });
const flags = (...args: string[]) => run('flags', ...args);

async function shown(...args: string[]): Promise<string> {
  const { code, out, err } = await flags(...args);
  assert.deepEqual([code, err], [0, ''], args.join(' '));
  return out;
}

async function refused(code: number, ...args: string[]): Promise<string> {
  const lastId = server.server.store.engine.lastId;
  const ended = await run(...args);
  assert.deepEqual([ended.code, ended.out], [code, ''], ended.err);
  assert.match(ended.err, /^flagstaff: .+[.)]$/s);
  assert.equal(server.server.store.engine.lastId, lastId);
  return ended.err;
}

describe('flagstaff flags', () => {
  it('creates, rolls out, switches, lists and archives a flag by its name, in whichever project it is', async () => {
    await makeFlag(server.call, 'checkout-2');
    const created = await shown(
      'create',
      'checkout',
      '-p',
      'shop',
      '--type',
      'experiment',
      '--description',
      'New.',
    );
    assert.equal(
      created,
      ['flag         checkout', 'project      shop', 'type         experiment', 'description  New.']
        .concat(['             development: off', '             production: off'])
        .join('\n'),
    );
    const rolledOut = await shown('rollout', 'checkout', '25', '-e', 'development');
    assert.match(rolledOut, /\n {13}development: off\n {13} {2}flexibleRollout 25%\n/);
    assert.match(await shown('rollout', 'checkout', '50', '-e', 'development'), /flexibleRollout 50%\n/);
    assert.match(await shown('on', 'checkout', '-e', 'development'), /development: on\n/);
    assert.equal(
      await shown('list'),
      'checkout    development: on  production: off\ncheckout-2  development: off  production: off',
    );
    assert.equal(
      await shown('list', '--project', 'default'),
      'checkout-2  development: off  production: off',
    );
    const { json } = await flags('show', 'checkout', '--json');
    assert.deepEqual(
      [json.name, json.environments[0].enabled, json.environments[0].strategies[0].parameters.rollout],
      ['checkout', true, '50'],
    );
    assert.match(await shown('off', 'checkout', '-e', 'development'), /development: off\n/);
    assert.equal(await shown('archive', 'checkout'), 'checkout is archived.');
    assert.equal((await flags('list', '--project', 'shop')).out, 'There are no flags.');
  });

  it('lists more flags than a page has', async () => {
    await addProject(server, 'large');
    for (let at = 0; at < 120; at += 1)
      await server.call('POST', '/projects/large/features', { name: `large-${at}` });
    const { json } = await flags('list', '--json', '-p', 'large');
    assert.equal(new Set(json.map(({ name }: { name: string }) => name)).size, 120);
    assert.match(await shown('show', 'large-99'), /^flag +large-99\n/);
  });

  it('ends with one sentence and changes nothing for wrong use, an unknown flag and a missing right', async () => {
    await makeFlag(server.call, 'kept');
    await addStrategy(server.call, 'kept', { name: 'default', parameters: {} });
    assert.match(await refused(64, 'flags', 'on', 'kept'), /required option '-e, --environment <name>'/);
    assert.match(
      await refused(64, 'flags', 'rollout', 'kept', '101', '-e', 'development'),
      /from 0 to 100, not "101"/,
    );
    assert.match(
      await refused(64, 'flags', 'rollout', 'kept', '10', '-e', 'development'),
      /kept has not one gradual rollout there but default;/,
    );
    assert.match(await refused(66, 'flags', 'show', 'kep'), /There is no flag "kep"/);
    assert.match(
      await refused(69, 'flags', 'on', 'kept', '-e', 'nowhere'),
      /404 .+ has no environment "nowhere"/,
    );
    assert.match(await refused(69, 'flags', 'create', 'kept'), /409 A flag named "kept" exists already/);
    const { token } = await addUser(server, 3);
    const asViewer = await flagstaff(['flags', 'archive', 'kept'], { env: login(token) });
    assert.equal(asViewer.code, 69);
    assert.match(asViewer.err, /^flagstaff: \S+: DELETE \S+: 403 The user .+$/);
    const env = { ...login(), FLAGSTAFF_URL: `http://127.0.0.1:${await freePort()}` };
    const { code, err } = await flagstaff(['flags', 'list'], { env });
    assert.equal(code, 69);
    assert.match(err, /^flagstaff: .+ got no response: .+$/);
    assert.equal(
      (await flagstaff(['flags', 'list'], { env: { XDG_CONFIG_HOME: temporaryFolder() } })).code,
      64,
    );
  });

  it('colours switches that are on, where the terminal has colours', async () => {
    await makeFlag(server.call, 'bright');
    await addStrategy(server.call, 'bright');
    await server.call('POST', `${environmentPath('bright')}/on`);
    const out: string[] = [];
    const terminal = { env: login(), out: (text: string) => out.push(text), hasColours: true };
    assert.equal(await runCommands(['flags', 'show', 'bright'], terminal as unknown as Terminal), 0);
    const green = styleText('green', 'development: on', { validateStream: false });
    assert(out.join('').includes(`\n${' '.repeat(13)}${green}\n`));
    assert(!(await shown('show', 'bright')).includes('\u001b'));
  });
});

describe('flagstaff events', () => {
  it('shows the newest events, or all after one, by conditions', async () => {
    await makeFlag(server.call, 'told');
    await addStrategy(server.call, 'told');
    const all = await run('events', '--feature', 'told');
    assert.match(
      all.out,
      /^\d+ {2}\S+Z {2}feature-created {2}\S+ {2}default \/ told\n\d+ .+ feature-strategy-add .+ \/ development$/,
    );
    const first = Number.parseInt(all.out, 10);
    const later = await run('events', '--after', `${first}`, '--feature', 'told', '--json');
    assert.equal(later.json.type, 'feature-strategy-add');
    const newest = await run('events');
    assert.equal(newest.out.split('\n').length, 20);
    assert.equal(newest.out.split('\n').at(-1), all.out.split('\n').at(-1));
    assert.match(await refused(64, 'events', '--after', 'x'), /takes the id of an event, not "x"/);
    assert.match(await refused(69, 'events', '--after', '999999'), /400 /);
  });

  it('follows events until the server ends, and says how to go on', async () => {
    const own = await startTestServer();
    const seen = new EventEmitter();
    const lines: string[] = [];
    const errors: string[] = [];
    const terminal = {
      env: { FLAGSTAFF_URL: own.origin, FLAGSTAFF_TOKEN: ADMIN_TOKEN },
      err: (text: string) => errors.push(text),
      async write(piece: string) {
        lines.push(piece);
        if (lines.length === 2) await own.stop();
        else seen.emit('first');
      },
    };
    try {
      await makeFlag(own.call, 'before');
      const args = ['events', '--follow', '--type', 'feature-created'];
      const ended = runCommands(args, terminal as unknown as Terminal);
      await once(seen, 'first');
      await makeFlag(own.call, 'during');
      assert.equal(await ended, 69);
    } finally {
      await own.stop();
    }
    assert.match(lines.join(''), /^\d+ .+ \/ before\n\d+ .+ \/ during\n$/);
    assert.match(
      errors.join(''),
      /^flagstaff: .+(?:ended the stream; go on with --follow --after \d+\.|was cut off: .+)$/,
    );
  });
});

describe('the completion of shells', () => {
  const completed = async (...words: string[]) => (await run('complete', '--', ...words)).out.split('\n');

  it('knows commands, options and the flags of the server', async () => {
    await makeFlag(server.call, 'complete-me');
    const all = await completed('');
    for (const one of ['flags', 'events', 'start']) assert(all.includes(one), one);
    assert.deepEqual(await completed('fl'), ['flags']);
    assert.deepEqual((await completed('flags', '')).slice(0, 3), ['list', 'show', 'create']);
    assert.deepEqual(await completed('flags', 'on', '--e'), ['--environment']);
    assert.deepEqual(await completed('flags', 'on', 'complete-'), ['complete-me']);
    assert.deepEqual(await completed('flags', 'on', 'complete-me', ''), ['']);
    assert.deepEqual(await completed('flags', 'create', 'complete-'), ['']);
    const { code, out, err } = await flagstaff(['complete', '--', 'flags', 'on', ''], {
      env: { XDG_CONFIG_HOME: temporaryFolder() },
    });
    assert.deepEqual([code, out, err], [0, '', '']);
    assert.match(await refused(64, 'completion', 'csh'), /takes bash, zsh, fish, not "csh"/);
  });

  const SHELLS = {
    bash: `source "$1"; COMP_WORDS=(flagstaff flags on complete-); COMP_CWORD=3; _flagstaff; echo "\${COMPREPLY[@]}"`,
    zsh: 'compdef() { :; }; compadd() { shift; print -- $@; }; source "$1"; words=(flagstaff flags on complete-); CURRENT=4; _flagstaff',
    fish: 'source $argv[1]; complete --do-complete "flagstaff flags on complete-"',
  };
  for (const [shell, line] of Object.entries(SHELLS)) {
    const isMissing = spawnSync(shell, ['-c', 'true']).error !== undefined;
    it(`completes in ${shell}`, { skip: isMissing && `there is no ${shell}` }, async () => {
      const folder = temporaryFolder();
      const script = join(folder, 'completion');
      writeFileSync(script, `${(await run('completion', shell)).out}\n`);
      const program = [process.execPath, ...nodeArguments(join(ROOT_FOLDER, 'src/cli/bin.ts'))];
      writeFileSync(
        join(folder, 'flagstaff'),
        `#!/bin/sh\nexec ${program.map((one) => `'${one}'`).join(' ')} "$@"\n`,
      );
      chmodSync(join(folder, 'flagstaff'), 0o755);
      const args = shell === 'fish' ? ['-c', line, script] : ['-c', line, shell, script];
      const env = { ...process.env, ...login(), PATH: `${folder}:${process.env.PATH}` };
      const { stdout } = await promisify(execFile)(shell, args, { env, cwd: ROOT_FOLDER });
      assert.equal(stdout.trim(), 'complete-me');
    });
  }
});
