/**
 * Makes durable writes fail in a real process, by strace: `node --import tsx test/faults/run.ts failed-sync`. In each
 * round clients write, one of the writes to disk reports an I/O error, and the process has to end with 74 having answered
 * nothing that is not there after the next start.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { EXIT } from '../../src/process/exit-codes.ts';
import { FEATURES } from '../support/interface.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';

const CLIENTS = 8;

/** Each of libuv's threads has this many more writes succeed than in the round before. */
const SYNCS_PER_ROUND = 3;

/** Whether strace is here and allowed to look into a process. */
export function isTraceable(): boolean {
  const traced = spawnSync('strace', ['-f', '-qq', '-e', 'trace=none', 'true']);
  return traced.status === 0;
}

export interface FailedSyncResult {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly withoutResponse: number;
}

export interface FailedSyncOptions {
  readonly rounds: number;
  /** Number of the first round: the later, the more writes succeed before. */
  readonly first?: number;
}

export async function failSyncs({ rounds, first = 1 }: FailedSyncOptions): Promise<FailedSyncResult> {
  let acknowledged = 0;
  let withoutResponse = 0;
  for (let round = first; round < first + rounds; round += 1) {
    const names = await failOneSync(round);
    acknowledged += names.acknowledged;
    withoutResponse += names.withoutResponse;
  }
  return { rounds, acknowledged, withoutResponse };
}

async function failOneSync(round: number): Promise<{ acknowledged: number; withoutResponse: number }> {
  const folder = temporaryFolder();
  const server = await spawnServer(folder);
  const exited = once(server.child, 'exit');
  const strace = await attach(server, 1 + SYNCS_PER_ROUND * round);
  const acknowledged: string[] = [];
  let withoutResponse = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let number = 0; ; number += 1) {
        const name = `flag-${client}-${number}`;
        const status = await statusOf(server, name);
        if (status === 201) acknowledged.push(name);
        // The connection broke, or the process said that it takes no writes any more.
        else withoutResponse += 1;
        if (status === null) return;
      }
    }),
  );
  const [code] = (await exited) as [number | null];
  assert.equal(code, EXIT.journalFailed, server.output());
  assert.match(server.output(), /could not be written at offset/);
  strace.kill();
  await checkAcknowledged(folder, acknowledged);
  rmSync(folder, { recursive: true });
  return { acknowledged: acknowledged.length, withoutResponse };
}

/** Fails the `when`-th write of each thread from then on; resolves when strace has hold of the process. */
async function attach({ child }: ServerProcess, when: number): Promise<ChildProcess> {
  const inject = `inject=pwrite64:error=EIO:when=${when}+`;
  const strace = spawn('strace', ['-f', '-p', String(child.pid), '-e', 'trace=pwrite64', '-e', inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    let said = '';
    strace.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('attached')) resolve();
    });
    strace.on('exit', () => reject(new Error(`strace ended: ${said}`)));
  });
  return strace;
}

/** Null when the process has gone. */
async function statusOf(server: ServerProcess, name: string): Promise<number | null> {
  try {
    return (await server.call('POST', FEATURES, { name })).status;
  } catch {
    return null;
  }
}

async function checkAcknowledged(folder: string, names: readonly string[]): Promise<void> {
  const server = await spawnServer(folder);
  for (const name of names) {
    assert.equal((await server.call('GET', `${FEATURES}/${name}`)).status, 200, `${name} was acknowledged`);
  }
  assert.equal(await server.terminate(), 0);
}
