/**
 * Kills a server and starts two at once on its folder, again and again: exactly one gets the folder, the other ends
 * with 75 before it has touched a byte, and no lock is left behind by the dead one.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { FEATURES } from '../support/interface.ts';
import { type ServerProcess, spawnServer, temporaryFolder } from '../support/server.ts';

export interface RaceResult {
  readonly rounds: number;
  readonly refused: number;
}

export async function raceRestarts({ rounds }: { readonly rounds: number }): Promise<RaceResult> {
  const folder = temporaryFolder();
  let server = await spawnServer(folder);
  let refused = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const { status } = await server.call('POST', FEATURES, { name: `flag-${round}` });
    assert.equal(status, 201, `round ${round}`);
    await server.kill();
    const racers = await Promise.allSettled([spawnServer(folder), spawnServer(folder)]);
    const winners = racers.filter((racer) => racer.status === 'fulfilled').map(({ value }) => value);
    const losers = racers.filter((racer) => racer.status === 'rejected').map(({ reason }) => String(reason));
    assert.equal(winners.length, 1, `round ${round}: one of two gets the folder; ${losers.join('\n')}`);
    for (const reason of losers) assert.match(reason, /ended with 75/);
    refused += losers.length;
    server = winners[0] as ServerProcess;
    for (let one = 1; one <= round; one += 1) {
      assert.equal((await server.call('GET', `${FEATURES}/flag-${one}`)).status, 200, `flag-${one}`);
    }
  }
  assert.equal(await server.terminate(), 0);
  rmSync(folder, { recursive: true });
  return { rounds, refused };
}
