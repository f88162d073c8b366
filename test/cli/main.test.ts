/** The program as a whole: help, exit codes, status, export, and the entry that operators start. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { ADDONS } from '../../src/start/addons.ts';
import { exportState } from '../support/documents/state-document.ts';
import {
  flagstaff,
  outputOf,
  type PastFolder,
  pastFolder,
  segmentsIn,
  snapshotsIn,
} from '../support/operator.ts';
import { processFor, ROOT_FOLDER, serverFor, temporaryFolder } from '../support/server.ts';
import { nodeArguments } from '../support/source.ts';

const COMMANDS = [
  'start',
  'status',
  'snapshot',
  'backup',
  'verify',
  'restore',
  'export',
  ...ADDONS.flatMap(({ verbs = {} }) => Object.keys(verbs)),
];

describe('flagstaff', () => {
  let past: PastFolder;
  before(async () => {
    past = await pastFolder();
  });

  it('can be worked with from its help: every command has examples, or commands of its own', async () => {
    const { code, out } = await flagstaff(['--help']);
    assert.equal(code, 0);
    for (const command of COMMANDS) {
      assert(out.includes(`\n  ${command} `), `${command} is listed`);
      const help = await flagstaff([command, '--help']);
      assert.equal(help.code, 0);
      assert.match(
        help.out,
        new RegExp(`Examples:\\n( {2}.*\\n)* {2}.*flagstaff ${command}|\\nCommands:\\n`),
      );
    }
  });

  it('ends with 64 when misused, and says how it is used', async () => {
    for (const args of [['nonsense'], ['status', '--nonsense'], ['restore'], ['backup'], []]) {
      const { code, err } = await flagstaff(args);
      assert.deepEqual([code, err === ''], [64, false], args.join(' '));
    }
  });

  it('finds the folder by DATA_DIR, and says in one line that there is none', async () => {
    const { out } = await flagstaff(['status', '--json'], { env: { DATA_DIR: past.folder } });
    assert.equal(JSON.parse(out).folder, past.folder);
    const none = await flagstaff(['status', '-d', join(past.folder, 'nowhere')]);
    assert.deepEqual([none.code, none.err.split('\n').length], [66, 1]);
  });

  it('status says what a stopped folder holds', async () => {
    const status = await outputOf(['status', '-d', past.folder]);
    const newest = past.moments.at(-1)?.id;
    assert.deepEqual([status.formats, status.server], [{ journal: 2, snapshot: 3 }, null]);
    assert.deepEqual([status.journal.firstEvent.id, status.journal.lastEvent.id], [1, newest]);
    assert.equal(status.journal.segments, segmentsIn(past.folder).length);
    assert.equal(status.journal.bytes, bytesOf(segmentsIn(past.folder)));
    const bytes = status.snapshots.reduce((sum: number, one: { bytes: number }) => sum + one.bytes, 0);
    assert.equal(bytes, bytesOf(snapshotsIn(past.folder)));
    assert.equal(status.lastStop.kind, 'clean');
    assert(!Number.isNaN(Date.parse(status.lastStop.time)));
  });

  it('status knows a folder that no server has had, and one that a crash has left', async () => {
    const folder = temporaryFolder();
    assert.deepEqual((await outputOf(['status', '-d', folder])).lastStop, { kind: 'never' });
    writeFileSync(join(folder, 'flagstaff.lock'), '4711\n');
    assert.deepEqual((await outputOf(['status', '-d', folder])).lastStop, { kind: 'crash', pid: 4711 });
    assert.match((await flagstaff(['status', '-d', folder])).out, /last stop +not clean: process 4711/);
  });

  it('export writes the state of now, or of then, and overwrites nothing', async (t) => {
    const server = await serverFor(t, { folder: past.folder });
    const document = JSON.parse(JSON.stringify(exportState(server.server.store.engine.world)));
    await server.stop();
    const to = join(temporaryFolder(), 'state.json');
    assert.equal((await flagstaff(['export', '-d', past.folder, '--to', to])).code, 0);
    assert.deepEqual(JSON.parse(readFileSync(to, 'utf8')), document);
    assert.equal((await flagstaff(['export', '-d', past.folder, '--to', to])).code, 73);
    const then = await flagstaff(['export', '-d', past.folder, '--at', String(past.moments[1]?.id)]);
    assert.deepEqual(
      then.json.projects[0].flags.map(({ name }: { name: string }) => name),
      ['one'],
    );
    assert.equal((await flagstaff(['export', '-d', temporaryFolder()])).code, 66);
  });
});

describe('src/cli/bin.ts', () => {
  /** Starts what operators start, as a process of its own. */
  async function started(...args: string[]) {
    const child = spawn(process.execPath, nodeArguments('src/cli/bin.ts', ...args), { cwd: ROOT_FOLDER });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    const [code] = await once(child, 'close');
    return { code, out, err };
  }

  it('works beside a server process, and tells a crash from a clean stop', async (t) => {
    const folder = temporaryFolder();
    const server = await processFor(t, folder);
    const to = join(temporaryFolder(), 'backup');
    const backup = await started('backup', '-d', folder, '--to', to, '--json');
    assert.deepEqual([backup.code, backup.err, JSON.parse(backup.out).fromRunningServer], [0, '', true]);
    await server.kill();
    assert(existsSync(join(folder, 'flagstaff.sock')), 'a killed server leaves its socket');
    const status = await started('status', '-d', folder, '--json');
    assert.equal(JSON.parse(status.out).lastStop.kind, 'crash');
    const snapshot = await started('snapshot', '-d', folder);
    assert.deepEqual([snapshot.code, snapshot.out], [69, '']);
    assert.match(snapshot.err, /^flagstaff: No running server .* could be reached.\n$/);
  });
});

const bytesOf = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + readFileSync(path).length, 0);
