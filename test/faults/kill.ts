/**
 * Kills a server under load, again and again on the same folder.
 * In each round sixteen clients write until the process is killed at a moment that the seed chooses. One time in ten
 * it is asked to stop instead, so that snapshots come into it too; that does not count as a round. What the clients
 * know must then hold (kill-oracle.ts).
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { KillOracle } from '../support/kill-oracle.ts';
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';

const CLIENTS = 16;
/** Answers, at most, before the end of a round: enough for several batches, in which the kill can fall anywhere. */
const RESPONSES_MAX = 300;
/** The kill comes this long after a response, at most, so that it does not always fall at the same place in a batch. */
const DELAY_MS_MAX = 10;
const CLEAN_STOP_CHANCE = 0.1;

export interface KillResult {
  readonly seed: number;
  readonly kills: number;
  readonly cleanStops: number;
  readonly acknowledged: number;
}

export interface KillOptions {
  readonly rounds: number;
  readonly seed: number;
}

/** Throws, naming the seed and the round, when anything acknowledged is lost. */
export async function runKills({ rounds, seed }: KillOptions): Promise<KillResult> {
  const random = seededRandom(seed);
  const oracle = new KillOracle(CLIENTS);
  const folder = temporaryFolder();
  let kills = 0;
  let cleanStops = 0;
  let server = await spawnServer(folder);
  try {
    await oracle.prepare(server.call);
    while (kills < rounds) {
      if (await writeUntilStopped(server, oracle, random)) kills += 1;
      else cleanStops += 1;
      server = await spawnServer(folder);
      await oracle.check(server.call).catch((cause: unknown) => {
        throw new Error(`after ${kills} kills and ${cleanStops} clean stops of seed ${seed}, in ${folder}`, {
          cause,
        });
      });
    }
    assert.equal(await server.terminate(), 0);
  } finally {
    server.child.kill('SIGKILL');
  }
  // Kept when something was lost.
  rmSync(folder, { recursive: true, force: true });
  return { seed, kills, cleanStops, acknowledged: oracle.acknowledgedCount };
}

/** Whether the process was killed, and not asked to stop. */
async function writeUntilStopped(
  server: ServerProcess,
  oracle: KillOracle,
  random: SeededRandom,
): Promise<boolean> {
  const isKill = !random.chance(CLEAN_STOP_CHANCE);
  const delayMs = random.next() * DELAY_MS_MAX;
  let responsesLeft = 1 + random.below(RESPONSES_MAX);
  let ended: Promise<unknown> | null = null;
  const end = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (isKill) return server.kill();
    assert.equal(await server.terminate(), 0, 'a stop that is asked for succeeds');
  };
  const acknowledged = (): void => {
    responsesLeft -= 1;
    if (responsesLeft === 0) ended = end();
  };
  await Promise.all(
    oracle.clients.map(async (client) => {
      for (;;) {
        try {
          await client.write(server.call, acknowledged);
        } catch (error) {
          // The connection broke, and what was under way may be in or out; anything else is a wrong answer.
          if (error instanceof assert.AssertionError || ended === null) throw error;
          return;
        }
      }
    }),
  );
  await ended;
  return isKill;
}
