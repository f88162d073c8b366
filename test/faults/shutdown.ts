/**
 * Stops a server under load, by one SIGTERM or two: it ends with 0, and whatever was answered before is there after
 * the next start. A second signal ends it at once, which loses nothing either.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { FEATURES } from '../support/interface.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';

const CLIENTS = 16;
/** Answers before the signal comes. */
const RESPONSES = 100;

export interface ShutdownResult {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly slowestMs: number;
}

export interface ShutdownOptions {
  readonly rounds: number;
}

export async function shutDown({ rounds }: ShutdownOptions): Promise<ShutdownResult> {
  const folder = temporaryFolder();
  const acknowledged: string[] = [];
  let slowestMs = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const server = await spawnServer(folder);
    const signals = 1 + (round % 2);
    slowestMs = Math.max(slowestMs, await stopUnderLoad(server, { round, signals, acknowledged }));
  }
  const server = await spawnServer(folder);
  for (const name of acknowledged) {
    assert.equal((await server.call('GET', `${FEATURES}/${name}`)).status, 200, `${name} was answered`);
  }
  assert.equal(await server.terminate(), 0);
  rmSync(folder, { recursive: true });
  return { rounds, acknowledged: acknowledged.length, slowestMs: Math.round(slowestMs) };
}

interface Round {
  readonly round: number;
  readonly signals: number;
  readonly acknowledged: string[];
}

/** Milliseconds from the first signal to the end. */
async function stopUnderLoad(
  server: ServerProcess,
  { round, signals, acknowledged }: Round,
): Promise<number> {
  const exited = once(server.child, 'exit');
  let responses = 0;
  let signalledAt = 0;
  const responded = (name: string): void => {
    acknowledged.push(name);
    responses += 1;
    if (responses !== RESPONSES) return;
    signalledAt = performance.now();
    for (let count = 0; count < signals; count += 1) server.child.kill('SIGTERM');
  };
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let number = 0; ; number += 1) {
        const name = `flag-${round}-${client}-${number}`;
        const status = await server.call('POST', FEATURES, { name }).then(
          (response) => response.status,
          () => null,
        );
        if (status === 201) responded(name);
        else if (status === null) return;
      }
    }),
  );
  const [code] = (await exited) as [number | null];
  assert.equal(code, 0, server.output());
  return performance.now() - signalledAt;
}
