/** `flagstaff edge` as a process: it serves, is killed and serves again from its copy, shares its port, and is asked how it is. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { NO_UWS } from '../../support/installed-engines.ts';
import { flagstaff } from '../../support/operator.ts';
import { caller, closedAfter, ROOT_FOLDER, temporaryFolder } from '../../support/server.ts';
import { nodeArguments } from '../../support/source.ts';
import { CLIENT, documentStub, flag, until } from './edges.ts';

/** Why no port can be shared; false where it can: by uWebSockets.js, and by node:http from Node 23 on. */
const NO_SHARED_PORT =
  process.platform !== 'linux'
    ? 'Only Linux shares ports'
    : Number.parseInt(process.versions.node, 10) < 23 && NO_UWS;

interface EdgeProcess {
  readonly child: ChildProcess;
  readonly origin: string;
  kill(): Promise<void>;
}

/** Killed at the end: one that a failed test left would keep the run from ending. */
const running = new Set<ChildProcess>();

async function spawnEdge(...options: readonly string[]): Promise<EdgeProcess> {
  const child = spawn(
    process.execPath,
    nodeArguments('src/cli/bin.ts', 'edge', ...options, '--interface', '127.0.0.1'),
    {
      cwd: ROOT_FOLDER,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.add(child);
  const exited = once(child, 'exit').then(() => running.delete(child));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const listening = /"port":([0-9]+)/.exec(output);
      if (listening !== null) resolve(Number(listening[1]));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('exit', (code) => reject(new Error(`the edge ended with ${code}: ${output}`)));
  });
  return {
    child,
    origin: `http://127.0.0.1:${port}`,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const read = (origin: string) =>
  caller(origin, '/api/client')('GET', '/features', undefined, { token: CLIENT });
const isReady = async (origin: string): Promise<boolean> =>
  (await flagstaff(['edge', 'ready', '--edge-url', origin])).code === 0;

describe('the command flagstaff edge', () => {
  let folder: string;
  before(() => {
    folder = temporaryFolder();
  });
  after(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  it('a process that is killed while its upstream is away serves again from its copy', async (t) => {
    const upstream = await documentStub(t, () => ({ features: [flag('a')] }));
    const options = [
      '--upstream-url',
      upstream.origin,
      '--tokens',
      CLIENT,
      '--backup-folder',
      folder,
      '--port',
      '0',
    ];
    const first = closedAfter(t, await spawnEdge(...options));
    await until(() => isReady(first.origin));
    const document = (await read(first.origin)).body;
    await until(() => {
      try {
        return execFileSync('grep', ['-c', '"a', join(folder, 'copy.edge')]).length > 0;
      } catch {
        return false;
      }
    });
    await upstream.close();
    await first.kill();
    const second = closedAfter(t, await spawnEdge(...options));
    await until(() => isReady(second.origin));
    const { status, body, headers } = await read(second.origin);
    assert.deepEqual([status, body], [200, document]);
    assert.ok(Number(headers.get('flagstaff-age-ms')) > 0);
  });

  it('two of them share a port', {
    skip: NO_SHARED_PORT,
  }, async (t) => {
    const upstream = await documentStub(t, () => ({ features: [flag('a')] }));
    const port = String(await freePort());
    const options = ['--upstream-url', upstream.origin, '--tokens', CLIENT, '--port', port];
    const both = [
      closedAfter(t, await spawnEdge(...options, '--instance-id', 'one')),
      closedAfter(t, await spawnEdge(...options, '--instance-id', 'two')),
    ];
    const seen = new Set<string>();
    await until(async () => {
      // A connection of its own each time: the kernel shares them out.
      const response = await fetch(`${both[0]!.origin}/internal-backstage/instancedata`, {
        headers: { connection: 'close' },
      });
      seen.add(((await response.json()) as { identifier: string }).identifier);
      return seen.size === 2;
    });
    for (const one of both) await one.kill();
  });

  it('says in one line what is wrong with its options, and that nothing runs where it is asked', async () => {
    const unknown = await flagstaff([
      'edge',
      '--upstream-url',
      'http://x.example',
      '--redis-url',
      'redis://x',
    ]);
    assert.equal(unknown.code, 78);
    assert.match(unknown.err, /^flagstaff: --redis-url does not exist here\. Give --backup-folder.*$/);
    const nobody = await flagstaff(['edge', 'health', '--edge-url', `http://127.0.0.1:${await freePort()}`]);
    assert.equal(nobody.code, 69);
  });
});
